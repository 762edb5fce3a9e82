"""docs/how-to/two-machines-and-a-witness.md, typed on three machines, and what an owner types when one is dead.

`./run soak patroni` does so with Debian's etcd, Patroni and PostgreSQL, and cuts the power of machines.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.rehearsal.owner import Owner
from tests.rehearsal.page import Piece, Seen, Typed, section, steps
from tests.rehearsal.typist import END, Answer, Typist
from tests.support.soak import SOAKING
from tests.support.waiting import eventually
from tests.systemd.host import Host, booted_together, refused

PAGE = ROOT / "docs/how-to/two-machines-and-a-witness.md"
ADDRESSES = {"db-a.example": "10.77.0.11", "db-b.example": "10.77.0.12", "witness.example": "10.77.0.13"}
SPARE = {"spare.example": "10.77.0.14"}
"""What the owner buys when a machine is lost; it takes that one's name and address then."""

DEAD = ROOT / "docs/how-to/when-a-database-machine-is-dead.md"
STEP_7 = "7. The shop, on its own machine"
NEEDED = ("/usr/bin/etcd", "/usr/bin/etcdctl", "/usr/bin/patroni", "/usr/lib/postgresql/15/bin/postgres")
PACKAGES = "etcd-server etcd-client patroni postgresql-15 python3-idna"
PASSWORD = "the database's, in the rehearsal"  # noqa: S105  of the tests
LEFT_OUT = ("apt-get ", "scp ", "/opt/orrery/.venv/bin/pip ", "systemctl stop orrery", "systemctl start orrery")
"""How lines begin that want Debian's packages, another machine's shell, a package index, or the service."""

SHOP = """
set -e
cat > /usr/local/bin/orrery <<'END'
#!/bin/sh
export PYTHONPATH=/srv/offered/src:$(echo /srv/offered/.venv/lib/python3*/site-packages) PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 -m orrery "$@"
END
chmod 0755 /usr/local/bin/orrery
useradd --system --home-dir /var/lib/orrery --shell /usr/sbin/nologin orrery
orrery init /etc/orrery
chown root:orrery /etc/orrery/secrets
chmod 0750 /etc/orrery/secrets
install -d -m 0700 -o orrery -g orrery /var/lib/orrery
cp /etc/database-tls/authority.crt /etc/orrery
"""
"""What the machine of the shop has by docs/how-to/go-live.md."""

SOLD = (
    "cd /",
    'secret() { install -m 0640 -o root -g orrery /dev/stdin "/etc/orrery/secrets/$1"; }',
    'as_orrery() { sudo -u orrery orrery "$@"; }',
    "as_orrery store create",
    "as_orrery access grant ann@example.org --vendor northwind --cert cloud-navigator --retired --reason sold",
)
"""What its owner has typed by then."""

SELLING = """
export PYTHONPATH=/srv/offered/src:/srv/offered:$(echo /srv/offered/.venv/lib/python3*/site-packages)
exec /usr/bin/python3 -B -m tests.rehearsal.selling /etc/orrery/orrery.toml
"""


@dataclass
class Cluster:
    """Three machines with an owner at each."""

    hosts: dict[str, Host]
    owners: dict[str, Owner]

    def follow(self, pieces: Sequence[Piece], *names: str) -> None:
        """Type what pieces ask for on each of the machines in turn, or on all."""
        for name in names or ("db-a", "db-b", "witness"):
            self.owners[name].follow(pieces)

    def copy_certificates(self) -> None:
        """Do what `scp` does on the page."""
        for name in ("db-b", "witness"):
            for file in ("authority.crt", f"{name}.crt", f"{name}.key"):
                self.hosts[name].write(
                    f"/etc/database-tls/{file}", self.hosts["db-a"].run(f"cat /etc/database-authority/{file}")
                )

    def set_up(self) -> None:
        """Do steps 1 to 6."""
        names, *numbered = steps(PAGE).values()
        etcd, postgresql, certificates, agreement, patroni, database = numbered[:6]
        self.follow([*names, *etcd])
        self.follow(postgresql, "db-a", "db-b")
        self.follow(certificates, "db-a")
        self.copy_certificates()
        first = next(number for number, piece in enumerate(agreement) if "export" in str(piece))
        self.follow(agreement[:first])
        self.until(agreement[first:], "witness")
        making, looking, seen, *_ = patroni
        for name in ("db-a", "db-b"):
            self.follow([making], name)
            self.until([looking, seen] if name == "db-b" else [looking, Seen(("db-a", "Leader", "running"))], name)
        owner = self.owners["db-a"]
        owner.answers = {"sudo -u postgres createuser": (Answer(PASSWORD, "new role"), Answer(PASSWORD, "again"))}
        owner.follow(database)

    def move_the_shop(self) -> None:
        """Do steps 7 and 8 on the witness, with a shop that sells already."""
        self.hosts["witness"].run(SHOP)
        owner = self.owners["witness"]
        owner.answers = {"secret store_password": (Answer(PASSWORD), Answer(END))}
        owner.ends = {"as_orrery doctor": 1}  # there is no snapshot yet
        library, settings, proving, seen, _making, saving, restoring = steps(PAGE)[STEP_7]
        owner.follow([Typed(SOLD), library, saving, settings, proving, seen, restoring])
        owner.follow(steps(PAGE)["8. Try it before you need it"])
        owner.follow([Typed(("as_orrery access list",)), Seen(("ann@example.org",))])

    def go_on(self, name: str) -> None:
        """Do what the page has for an owner who does not want to wait."""
        first, changed, looking, seen, *last = section(DEAD, "Go on with one machine")
        self.follow([first, changed], name)
        self.until([looking, seen], name)
        self.follow(last, name)

    def replace_b(self) -> None:
        """Do what the page has for a machine that does not come back."""
        first, seen, starting, *_ = section(DEAD, "A machine is lost permanently")
        self.follow([first, seen], "db-a")
        spare, address = self.hosts["spare"], ADDRESSES["db-b.example"]
        # The other way round, the new address would go with the first one of its network.
        spare.run(f"ip address del 10.77.0.14/24 dev eth0; ip address add {address}/24 dev eth0")
        spare.run("hostname db-b.example")
        names, etcd, postgresql, _certificates, agreement, patroni, *_ = steps(PAGE).values()
        self.follow([*names, *etcd, *postgresql], "spare")
        for file in ("authority.crt", "db-b.crt", "db-b.key"):
            spare.write(f"/etc/database-tls/{file}", self.hosts["db-a"].run(f"cat /etc/database-authority/{file}"))
        self.follow([agreement[0], starting], "spare")
        self.follow(patroni[:1], "spare")
        self.until(section(DEAD, "When the machine is back")[:2], "db-a")

    def until(self, pieces: Sequence[Piece], name: str) -> None:
        """Type it again until the machine shows what the page shows."""
        eventually(lambda: self.owners[name].follow(pieces), pause=2)


@pytest.fixture
def cluster() -> Generator[Cluster]:
    if not SOAKING:
        pytest.skip("takes minutes: ./run soak patroni")
    if why := refused():
        pytest.skip(why)
    if missing := [program for program in NEEDED if not Path(program).exists()]:
        pytest.skip(f"no {missing[0]} here; to have it, type: sudo apt-get install -y {PACKAGES}")
    with ExitStack() as stack:
        running = stack.enter_context(booted_together(Path("/"), ROOT, ADDRESSES | SPARE))
        hosts = {name.partition(".")[0]: host for name, host in running.items()}
        owners = {
            name: Owner(
                host,
                Typist(stack.enter_context(host.terminal("root")), patience=20),
                {"ME=db-a ": f"ME={'db-b' if name == 'spare' else name} "},
                {},
                LEFT_OUT,
            )
            for name, host in hosts.items()
        }
        yield Cluster(hosts, owners)


def test_two_machines_and_a_witness(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    """Both pages: a primary hangs and wakes, the next one's power is cut, and nothing acknowledged is lost."""
    cluster.set_up()
    cluster.move_the_shop()
    hosts = cluster.hosts
    with selling(hosts["witness"]) as sold:
        hosts["db-a"].hang()
        eventually(lambda: require_primary(hosts["db-b"]))
        cluster.go_on("db-b")
        decided = sold()
        hosts["db-a"].hang(still=False)
        back = section(DEAD, "When the machine is back")
        cluster.until(back[:2], "db-b")
    with selling(hosts["witness"]) as sold:
        hosts["db-b"].cut()
        alone = sold()
    shop = cluster.owners["witness"]
    shop.ends = {"as_orrery doctor": 1}
    shop.follow([*section(DEAD, "Look")[:1], Seen(("database standby broken",))])
    cluster.replace_b()
    shop.follow([*section(DEAD, "Look")[:1], Seen(("database ok",))])
    with capsys.disabled():
        print(f"\nThe primary hung, the owner typed at once: {decided}; a power cut, not strict: {alone}.")  # noqa: T201  what is measured


@contextmanager
def selling(shop: Host) -> Generator[Callable[[], str]]:
    """Sell until the end of the block; what is yielded waits for the next acknowledgement after a long silence."""
    with shop.start(SELLING) as process:
        assert process.stdin
        assert process.stdout
        said = process.stdout
        assert said.readline() == "selling\n"
        yield lambda: said.readline().strip()
        process.stdin.close()
        *_, last = said
    assert last.startswith("0 lost of "), last
    assert process.returncode == 0


def require_primary(host: Host) -> None:
    assert host.run("sudo -u postgres psql -Atc 'SELECT pg_is_in_recovery()'") == "f\n"

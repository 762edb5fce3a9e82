"""The units of the service and of its daily backup where the store is a database, within all their limits."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.rehearsal.page import Typed, section
from tests.support.postgres import PROGRAMS, running_postgres, skip_without_postgres
from tests.support.waiting import eventually
from tests.systemd.gateway import ORRERY, Machine
from tests.systemd.host import ROOT
from tests.systemd.test_cloud_report import show_the_checkout

PAGE = ROOT / "docs/how-to/back-up-and-restore.md"
DROP_IN = Path("/etc/systemd/system/orrery.service.d/impatient.conf")
PASSWORD = "of-the-tests-and-nobody-elses"  # noqa: S105  of the tests
SETTINGS = """\
mode = "test"
[store]
path = "/var/lib/orrery/orrery.db"
address = "postgresql://shop@127.0.0.1:{port}/postgres"
[server]
closing_seconds = 3
[secrets]
directory = "secrets"
[backup]
directory = "/var/lib/orrery-backups"
"""


def test_the_units_of_a_shop_over_a_database(machine: Machine) -> None:
    """The backup reads the one secret and leaves a snapshot, with the lines that the how-to adds, else it fails.

    The service answers, and is given the time that it asks for when it is stopped, whatever the unit has.
    """
    skip_without_postgres()
    with database_beside(machine) as port:
        machine.run("useradd --system orrery && mkdir -p /etc/orrery/secrets")
        machine.write("/etc/orrery/orrery.toml", SETTINGS.format(port=port))
        machine.write("/etc/orrery/secrets/store_password", PASSWORD)
        machine.run("install -d -o orrery -g orrery /var/lib/orrery /var/lib/orrery-backups")
        for command in ("store create", "access grant a@b.example --vendor v --cert c --retired --reason r"):
            machine.run(f"{ORRERY} {command} --config /etc/orrery/orrery.toml")
        machine.run(f"ln -sfn {ROOT} /opt/orrery; cp {ROOT}/deploy/systemd/orrery-backup.* /etc/systemd/system/")
        machine.run("mkdir /etc/systemd/system/orrery-backup.service.d")
        show_the_checkout(machine, "orrery-backup")
        assert started(machine) == "failed"
        machine.write("/etc/systemd/system/orrery-backup.service.d/override.conf", "\n".join(override()))
        assert started(machine) == "inactive", machine.run("journalctl --no-pager -u orrery-backup")
        assert machine.run("ls /var/lib/orrery-backups").endswith(".db\n")
        machine.run(f"cp {ROOT}/deploy/systemd/orrery.service /etc/systemd/system/; mkdir {DROP_IN.parent}")
        show_the_checkout(machine, "orrery")
        machine.write(str(DROP_IN), "[Service]\nTimeoutStopSec=1\n")
        machine.run("systemctl daemon-reload; systemctl start orrery; curl -sf http://127.0.0.1:8080/healthz")
        machine.run("systemctl stop orrery")
        ended = machine.run("systemctl show --property=Result --value orrery; journalctl --no-pager -u orrery")
        assert ended.startswith("success\n"), ended
        assert '"stopped"' in ended


def override() -> tuple[str, ...]:
    """Return what the how-to says to type into the editor."""
    (lines,) = (one.lines for one in section(PAGE, "A store in a database") if isinstance(one, Typed))
    return lines


def started(machine: Machine) -> str:
    """Start the unit, and return in which state it ended."""
    return machine.run(
        "systemctl daemon-reload; systemctl start orrery-backup || true; systemctl is-active orrery-backup || true"
    ).strip()


@contextmanager
def database_beside(machine: Machine) -> Generator[int]:
    """Have a server on the machine's loopback, which asks for a password; yield its port."""
    with running_postgres() as server:
        with server.connected() as connection:
            connection.execute(f"CREATE ROLE shop LOGIN SUPERUSER PASSWORD '{PASSWORD}'".encode())
        server.stop()
        (server.folder / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
        user = f"--reuid={server.folder.stat().st_uid}"
        program = str(PROGRAMS[-1] / "postgres")
        with machine.beside("setpriv", user, "--clear-groups", program, "-D", str(server.folder)):
            eventually(lambda: machine.run(f"bash -c '</dev/tcp/127.0.0.1/{server.port}'"))
            yield server.port

"""The owner who goes live, by `orrery setup` or by hand, on a machine of its own the vendors outside."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

import pytest

from tests.docs.documents import ROOT
from tests.rehearsal import vendors
from tests.rehearsal.owner import SETTINGS, Owner
from tests.rehearsal.page import Piece, Seen, Typed, section, steps
from tests.rehearsal.typist import END, Answer, Typist
from tests.support.certificates import make_authority
from tests.support.waiting import eventually
from tests.systemd.host import MACHINE, OUTSIDE, Host, booted

PAGE = ROOT / "docs/how-to/go-live.md"
BY_HAND = ROOT / "docs/how-to/set-up-by-hand.md"
UPGRADING = ROOT / "docs/how-to/upgrade-and-roll-back.md"
SIGNING = ROOT / "docs/how-to/approve-a-change.md"
SHOP = "shop.example"
PASSWORD = "the owner's, in the rehearsal"  # noqa: S105  of the tests

PREPARED = f"""
set -e
printf '[global]\\nno-index = true\\nfind-links = /srv/offered/wheels\\n' > /etc/pip.conf
cp /srv/offered/authority.pem /usr/local/share/ca-certificates/rehearsal.crt
update-ca-certificates
install -d /etc/letsencrypt/live/{SHOP} /var/www/html/.well-known/acme-challenge
cp /srv/offered/shop.pem /etc/letsencrypt/live/{SHOP}/fullchain.pem
cp /srv/offered/shop.pem /etc/letsencrypt/live/{SHOP}/privkey.pem
echo proof > /var/www/html/.well-known/acme-challenge/one
useradd --create-home --shell /bin/bash me
install -d /etc/sudoers.d
echo 'me ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/me
"""
"""What a server has before its owner types: where packages come from, a user. certbot's work is done, too."""

NEXT_RELEASE = """
set -e
mv /orrery_*.deb /orrery_OLD.deb
dpkg-deb --raw-extract /orrery_OLD.deb /tmp/next
sed -i 's/^Version: .*/Version: 9.0.0/' /tmp/next/DEBIAN/control
dpkg-deb -Znone --build /tmp/next /orrery_NEW.deb
"""
"""Makes the package of a later release, with the same program."""

CERTBOT = "certbot certonly"
"""How the one line begins that is never typed: it wants a public authority."""

INSTALLING = "apt-get "
"""How lines begin that want Debian's packages."""

TRUSTED = '[tls]\nca_file = "/srv/offered/authority.pem"\n[server]\nclosing_seconds = 0\n'
"""What is not on the page: the rehearsal's authority signs the vendors' certificates; no buyer is waited for."""


def pasted(text: str) -> tuple[Answer, ...]:
    """Return what is typed where a secret is asked for: the secret, Enter, Ctrl-D."""
    return (Answer(text), Answer(END))


def endpoint_secret(shown: str) -> str:
    """Return the signing secret of the endpoint that was made last."""
    return re.findall(r'"secret": "([^"]+)"', shown)[-1]


@contextmanager
def rehearsal(root: Path, offered: Path, *, installed: bool) -> Generator["GoingLive"]:
    """Boot the machine that lies below `root`, with the vendors outside, and log the owner in.

    `installed` says that the machine has Debian's packages already: the lines that install them are not typed.
    """
    offered.mkdir()
    authority = make_authority(offered)
    authority.certify(SHOP).rename(offered / "shop.pem")
    vendors.prepare(offered, authority)
    hosts = f"{MACHINE} {SHOP}\n{OUTSIDE} {' '.join(vendors.NAMES)}\n"
    with ExitStack() as stack:
        host = stack.enter_context(booted(root, offered, hosts))
        program = [sys.executable, "-m", "tests.rehearsal.vendors", str(offered)]
        playing = stack.enter_context(host.started_outside(*program))
        host.run(PREPARED)
        if installed:
            host.run("systemctl enable --now nginx")  # as Debian's package does
        root_shell, own_shell = (Typist(stack.enter_context(host.terminal(user))) for user in ("root", "me"))
        going_live = GoingLive(host, offered, root_shell, own_shell, installed=installed)
        eventually(lambda: going_live.vendors_answer(playing))
        try:
            yield going_live
        except AssertionError:
            print(host.run("journalctl --no-pager --unit 'orrery*' --unit nginx --lines 60"))  # noqa: T201  of a failure
            raise


def offer_package(offered: Path) -> None:
    """Put the Debian package of this checkout where the machine finds it."""
    quickly = ["/usr/bin/env", "LEVEL=1", str(ROOT / "run"), "deb", str(offered)]
    subprocess.run(quickly, check=True, capture_output=True)  # noqa: S603  our own


def offer_the_project(offered: Path) -> None:
    """Put this checkout, with its changes, and the locked packages where the machine finds them."""
    there = offered / "orrery"
    there.mkdir()
    changes = _git(ROOT, "stash", "create").strip()
    _git(ROOT, "archive", f"--output={offered}/orrery.tar", changes or "HEAD")
    subprocess.run(["/bin/tar", "--extract", f"--file={offered}/orrery.tar"], cwd=there, check=True)  # noqa: S603  our own
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message=The rehearsal's")):
        _git(there, *words)
    shutil.copytree(ROOT / ".venv/wheels", offered / "wheels")


def _git(folder: Path, *words: str) -> str:
    somebody = (
        "-c",
        "user.name=Rehearsal",
        "-c",
        "user.email=rehearsal@example.org",
        "-c",
        f"safe.directory={folder}",
    )
    command = ["/usr/bin/git", "-C", str(folder), *somebody, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  our own


@dataclass
class GoingLive:
    """The owner at two terminals, with the page."""

    host: Host
    offered: Path
    root: Typist
    me: Typist
    installed: bool
    sold: int = 0
    seen_as: str = "/srv/offered"
    """The folder in which the service finds the service account's key."""

    def set_up(self) -> str:
        """Do every step with `orrery setup`, and buy in both modes; return what it took to the first sale."""
        offer_package(self.offered)
        page = steps(PAGE)
        owner = self.owner(self.root)
        names, *numbered = page
        install, signing, setting_up, live, _ = (page[title] for title in numbered)
        if self.installed:
            self.host.run("dpkg --install /srv/offered/orrery_*.deb")
        else:
            self.host.run("cp /srv/offered/orrery_*.deb /")
        began = self._uptime()  # printed, and nothing is asserted of it
        owner.follow([Typed(("cd /",)), *page[names], *install])
        self.host.run("orrery init /etc/orrery")
        owner.edit(TRUSTED)
        self.owner(self.me).follow(signing)
        owner.answers = {"orrery setup": self.dialogue("test")}
        owner.follow(setting_up[:2])
        self.buy("test")
        took = f"{self._uptime() - began} s and {self._typed()} lines to the first sale in test mode"
        owner.answers = {"orrery setup": self.dialogue("live")}
        owner.follow(live)
        self.buy("live")
        return took

    def change_releases(self) -> None:
        """Upgrade, roll back and purge the package of a shop that sells, and see what stays."""
        self.host.run(NEXT_RELEASE)
        owner, settings = self.owner(self.root), self.host.run(f"cat {SETTINGS}")
        owner.values = {"orrery_0.2.0_amd64.deb": "orrery_NEW.deb", "orrery_0.1.0_amd64.deb": "orrery_OLD.deb"}
        for piece in (one for one in section(UPGRADING, "With the Debian package") if isinstance(one, Typed)):
            process = self.host.run("systemctl show --property=MainPID orrery")
            owner.follow([piece])
            assert self.host.run("systemctl show --property=MainPID orrery") != process
            self.buy("live")
        owner.follow([Typed(("apt-get purge -y orrery",))])
        kept = f"cat {SETTINGS}; test -s /etc/orrery/secrets/processor_api_key -a -s /var/lib/orrery/orrery.db"
        assert self.host.run(kept) == settings
        assert self.host.run("ls /var/lib/orrery-backups; ! systemctl is-active --quiet orrery").endswith(".db\n")

    def _uptime(self) -> int:
        return int(self.host.run("cut -d . -f 1 /proc/uptime"))

    def _typed(self) -> int:
        return sum(line.startswith("$ ") for one in (self.root, self.me) for line in one.log)

    def dialogue(self, mode: str) -> tuple[Answer, ...]:
        """Return what is answered to `orrery setup`, in its order."""
        key = Answer(vendors.restricted(mode), "processor_api_key")
        price, webhook = (
            Answer(vendors.price(mode), "price_id"),
            Answer(lambda _: self.endpoint(mode), "webhook_signing_secret"),
        )
        if mode == "live":
            return key, price, webhook, Answer(self.signed, "Press Enter once you have signed")
        yes = ("y", "[y/N]")
        site = (f"https://{SHOP}", "origin"), ("Northwind", "name"), ("", "practice_url"), ("Northwind", "seller")
        product = ("Cloud Navigator", "title"), ("northwind", "vendor_slug"), ("cloud-navigator", "cert_code")
        count = yes, (vendors.PROPERTY, "property_id"), (f"{self.seen_as}/{vendors.ANALYTICS_KEY}", "account_key")
        push = yes, ("https://ntfy.example", "url"), ("owner-alerts", "topic"), (vendors.PUSH_TOKEN, "token")
        server = yes, ("smtp.example", "host"), ("587", "port"), ("starttls", "security")
        mail = ("shop@example.org", "sender"), (vendors.MAIL_USER, "username"), (vendors.MAIL_PASSWORD, "password")
        password = ("owner@example.org", "mail_to"), (PASSWORD, "Password"), (PASSWORD, "Once more")
        beat = yes, ("https://watcher.example/ping/orrery", "heartbeat.url")
        answers = [*site, ("", "postal_address"), key, *product, price, webhook, *count]
        answers += [(self.host.run("cat ~me/.ssh/orrery_owner.pub").strip(), "owner_keys"), *push, *server, *mail]
        answers += [*password, *beat]
        return tuple(one if isinstance(one, Answer) else Answer(*one) for one in answers)

    def endpoint(self, mode: str) -> str:
        """Make the endpoint at the processor, and return its signing secret."""
        asked = [f"url=https://{SHOP}/guided/api/webhook", "enabled_events[]=checkout.session.completed"]
        data = [word for one in (*asked, "api_version=2026-08-26.dahlia") for word in ("--data", one)]
        key = f"{vendors.unrestricted(mode)}:"
        return json.loads(self.fetch("https://api.stripe.com/v1/webhook_endpoints", "--user", key, *data))[
            "secret"
        ]

    def signed(self, shown: str) -> str:
        """Sign what setup shows, at the owner's own terminal, and press Enter."""
        lines = re.search(r"in a second terminal:\r?\n((?: {2}.+\r?\n)+)", shown)
        assert lines, shown
        own = self.owner(self.me)
        own.follow([Typed(tuple(line.strip() for line in lines[1].splitlines()))])
        return ""

    def to_the_end(self) -> None:
        """Do every step by hand, and buy in both modes."""
        offer_the_project(self.offered)
        page = steps(BY_HAND)
        owner = self.owner(self.root)
        names, *numbered = page
        assert [title.partition(".")[0] for title in numbered] == [str(number) for number in range(1, 10)]
        install, settings, key, endpoint, web, service, signing, live, green = (page[title] for title in numbered)
        owner.follow([*page[names], *install, *settings])
        owner.edit(TRUSTED)
        owner.ends = {"as_orrery secrets check": 1}  # others are still missing
        owner.follow(key)
        owner.ends = {}
        owner.follow([*endpoint, *web])
        assert self.fetch(f"http://{SHOP}/.well-known/acme-challenge/one") == "proof\n"
        owner.follow(service)
        self.buy("test")
        self.make_a_key(owner, signing)
        self.switch_to_live(owner, endpoint, live)
        owner.follow(green)
        self.buy("live")

    def after_all(self) -> None:
        """See that the machine goes on by itself, that no file is root's, and that no log has a secret."""
        assert not self.host.run("find /var/lib/orrery ! -user orrery")
        assert json.loads(self.fetch("https://api.stripe.com/ping"))[0]["name"] == "orrery"  # the heartbeat
        assert self.host.run("systemctl is-enabled orrery orrery-backup.timer nginx").split() == ["enabled"] * 3
        journal = self.host.run("journalctl --no-pager")
        assert not [secret for secret in self.secrets() if secret in journal]

    def make_a_key(self, owner: Owner, step: list[Piece]) -> None:
        """Make a key to sign with as an own user, and let the service know its public half."""
        making, setting, *rest = step
        self.owner(self.me).follow([making])
        public = re.search(r"ssh-ed25519 \S+ \S+", self.me.shown)
        assert public, self.me.shown
        owner.values = {**owner.values, "ssh-ed25519 AAAA… you@machine": public[0]}
        owner.follow([setting, *rest])

    def switch_to_live(self, owner: Owner, endpoint: list[Piece], step: list[Piece]) -> None:
        """Do what is done anew in live mode, and sign what was not tried before."""
        first = step.index(next(piece for piece in step if isinstance(piece, Seen)))
        stopping, *rest = step[:first]
        owner.follow([stopping])
        settings = self.host.run(f"cat {SETTINGS}")
        settings = settings.replace('mode = "test"', 'mode = "live"').replace(
            vendors.price("test"), vendors.price("live")
        )
        self.host.write(SETTINGS, settings)
        owner.answers = self.answers("live")
        owner.ends = dict.fromkeys(("as_orrery config check", "as_orrery checkout preflight"), 1)
        owner.follow([*endpoint, *rest, step[first]])
        owner.ends = {}
        intent = re.search(r"orrery approvals sign (in-\w+)", self.root.shown)
        assert intent
        self.sign(intent[1])
        owner.follow(step[first + 1 :])

    def sign(self, intent: str) -> None:
        """Sign an intent at the owner's own terminal, by the page."""
        signing = self.owner(self.me)
        signing.values = {"in-5d0c3e9a1f22": intent}
        signing.follow(section(SIGNING, "As yourself, beside the service"))

    def buy(self, mode: str, name: str = "buyer") -> None:
        """Buy once as a visitor, and see that buyer and owner hear of it and that the buyer has access."""
        buyer = f"{mode}.{name}.{self.sold}@example.org"
        wanted = json.dumps({"productType": "cert", "vendorSlug": "northwind", "certCode": "cloud-navigator"})
        json_type = ("--header", "Content-Type: application/json")
        started = json.loads(self.fetch(f"https://{SHOP}/guided/api/checkout", *json_type, "--data", wanted))
        assert started["id"].startswith(f"cs_{mode}_"), started
        assert started["url"].startswith("https://checkout.stripe.com/"), started
        paid = ("--data", f"email={buyer}&method=card&verdict=approved", "--write-out", "%{http_code}")
        form = re.search(r'<form [^>]*action="([^"]+)"', self.fetch(started["url"]))
        assert form
        answer = self.fetch(urljoin(started["url"], form[1]), *paid)
        assert answer.endswith("303"), answer
        self.sold += 1
        eventually(lambda: self._are_told(buyer))
        answer = self.fetch(f"https://{SHOP}/guided/api/access/{started['id']}")
        assert json.loads(answer)["state"] == "granted", answer

    def _are_told(self, buyer: str) -> None:
        told = ("--header", "Accept: application/json")
        mails = json.loads(self.fetch("https://api.stripe.com/mail", *told))
        subjects = [one["subject"].partition(" (receipt ")[0] for one in mails if buyer in one["to"]]
        assert subjects == ["Your access to Cloud Navigator"]
        pushes = json.loads(self.fetch("https://api.stripe.com/push", *told))
        assert [one["title"] for one in pushes].count("Sold: Cloud Navigator") == self.sold

    def owner(self, typist: Typist) -> Owner:
        """Return the owner at one of the terminals."""
        values = {
            "https://git.example/orrery.git": "/srv/offered/orrery",
            "price_…": vendors.price("test"),
            'topic = "…"': 'topic = "owner-alerts"',
            "/ping/…": "/ping/orrery",
        }
        return Owner(
            self.host,
            typist,
            values,
            self.answers("test"),
            (CERTBOT, INSTALLING) if self.installed else (CERTBOT,),
        )

    def secrets(self) -> list[str]:
        """Return what was pasted and must stand in no log."""
        kinds = vendors.restricted, vendors.unrestricted, vendors.next_restricted
        pasted = [word(mode) for mode in ("test", "live") for word in kinds]
        return [*pasted, PASSWORD, vendors.MAIL_PASSWORD, vendors.PUSH_TOKEN]

    def answers(self, mode: str) -> dict[str, tuple[Answer, ...]]:
        """Return what is pasted and typed when something is asked for, with the keys of a mode."""
        analytics = (self.offered / vendors.ANALYTICS_KEY).read_text(encoding="utf-8")
        return {
            "secret processor_api_key": pasted(vendors.restricted(mode)),
            "secret webhook_signing_secret": (Answer(endpoint_secret), Answer(END)),
            "secret push_token": pasted(vendors.PUSH_TOKEN),
            "secret mail_password": pasted(vendors.MAIL_PASSWORD),
            "secret analytics_service_account_key": pasted(analytics),
            "secret tracker_token": pasted("rehearsal"),
            "orrery admin hash": (Answer(PASSWORD, "password"), Answer(PASSWORD, "Once more")),
            "as_orrery secrets check": (Answer(PASSWORD, "Admin password"),),
            "as_orrery live refresh": (Answer(PASSWORD, "assword"),),
            "as_orrery doctor && as_orrery secrets check": (Answer(PASSWORD, "Admin password"),),
            "ssh-keygen -t": (Answer(PASSWORD, "passphrase"), Answer(PASSWORD, "again")),
            "ssh-keygen -Y sign": (Answer(PASSWORD, "passphrase"),),
            "read -rs KEY": (Answer(vendors.unrestricted(mode)),),
        }

    def vendors_answer(self, playing: "subprocess.Popen[bytes]") -> None:
        """See that the vendors are there."""
        if playing.poll() is not None:
            pytest.fail("The vendors' program ended.")
        assert "error" in self.fetch("https://api.stripe.com/v1/prices")

    def fetch(self, url: str, *options: str) -> str:
        """Ask an address from the world outside."""
        authority = str(self.offered / "authority.pem")
        return self.host.outside("curl", "--silent", "--show-error", "--cacert", authority, *options, url)

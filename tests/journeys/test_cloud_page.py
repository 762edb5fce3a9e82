"""docs/how-to/start-the-machine-from-the-cloud.md, typed from top to bottom beside a cloud and a site."""

import json
import os
import re
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
import pytest

from orrery.adapters.movable_clock import MovableClock
from orrery.sandbox.app import Service
from tests.docs.documents import ROOT
from tests.rehearsal.owner import edited
from tests.rehearsal.page import Edited, Piece, Seen, Typed, pieces
from tests.rehearsal.typist import Answer, Typist
from tests.support.deployment import Deployment, running
from tests.support.forks import typed_orrery
from tests.support.marked import SECRETS
from tests.support.program import run_orrery
from tests.support.provisioning import Layer, layer_in
from tests.support.waiting import PATIENCE, eventually

PAGE = ROOT / "docs/how-to/start-the-machine-from-the-cloud.md"
TOKEN = "gateway_ping_token"  # noqa: S105  the name of a secret

NOT_TYPED = {
    "./run setup": "done before the tests run",
    ".venv/bin/pip install": "the same",
    "az login": "the vendor's own command line; the sandbox's managed identity signs in",
    "az account show": "the same; the sandbox's subscription stands in the settings",
    "az vm list": "the same",
    "az vm deallocate": "the same; a lever of the sandbox shuts the machine down",
    "az ad sp create-for-rbac": "the same",
    "editor ": "nothing to edit: the managed identity needs no variables of a service principal",
    "cp /opt/orrery/deploy": "systemd: tests/systemd/test_cloud_report.py types it on a machine of its own",
    "systemctl daemon-reload": "the same",
    "systemctl enable": "the same",
}
"""What cannot be typed here, by its beginning, and why."""

ENDS = {"orrery gateway cloud plan": [1, 0]}
"""The exit statuses that are not 0, each time that a line is typed."""

ANSWERS = {"orrery gateway cloud destroy": [Answer("y", asked="[y/N]: ")]}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Deployment]:
    """A site that expects the pings of a guest, which is another sandbox's."""
    with running(Deployment(tmp_path / "site", more="[gateway]\npings = true", plain=1)) as site:
        yield site


def guest_of(site: Deployment) -> Service:
    return Service(site.public, {TOKEN: SECRETS[TOKEN]})


@contextmanager
def terminal(folder: Path) -> Generator["pexpect.spawn[str]"]:
    """Have a shell in a folder that looks like the clone, with a home of its own."""
    home, clone = folder / "home", folder / "clone"
    for one in (home, clone):
        one.mkdir()
    programs = clone / ".venv/bin"
    programs.mkdir(parents=True)
    identity = {name: os.environ[name] for name in ("IDENTITY_ENDPOINT", "IDENTITY_HEADER")}  # noqa: TID251  the vendor's library reads it
    environment = {"HOME": str(home), "PATH": os.defpath, "TERM": "dumb", "LANG": "C.UTF-8"} | identity
    shown: pexpect.spawn[str] = pexpect.spawn(
        "/bin/bash",
        ["--norc", "--noprofile", "--noediting", "-i"],
        cwd=str(clone),
        env=environment,  # pyright: ignore[reportArgumentType]  a plain dict will do
        encoding="utf-8",
        timeout=PATIENCE,
        dimensions=(50, 400),
    )
    try:
        with typed_orrery(programs / "orrery"):
            yield shown
    finally:
        shown.close(force=True)


@dataclass
class Owner:
    """Types the page. `own` has what stands on it for theirs; `besides` what they do before a line, elsewhere."""

    typist: Typist
    own: dict[str, str]
    besides: dict[str, Callable[[], object]]
    files: list[Path]
    """The settings files, in the order in which the page has them edited."""

    skipped: set[str] = field(default_factory=set[str])
    typed: list[str] = field(default_factory=list[str])

    def follow(self, page: list[Piece]) -> None:
        for piece in page:
            match piece:
                case Typed(lines):
                    self.typist.clear()
                    for line in filter(None, map(str.strip, lines)):
                        self._type(line)
                case Edited(text):
                    file = self.files.pop(0)
                    file.write_text(edited(file.read_text(), self._own(text)))
                case Seen():
                    missing = piece.missing_from(self.typist.shown)
                    assert not missing, f"{missing} is not in:\n{self.typist.shown}"

    def _type(self, line: str) -> None:
        for begins, action in self.besides.items():
            if line.startswith(begins):
                action()
        if left_out := [one for one in NOT_TYPED if line.startswith(one)]:
            self.skipped.update(left_out)
            return
        self.typed.append(line)
        ends = ENDS.get(line, [])
        status = self.typist.type(self._own(line), ANSWERS.get(line, ()))
        expected = ends[self.typed.count(line) - 1] if ends else 0
        assert status == expected, "\n".join([f"{line}: {status}", self.typist.shown])

    def _own(self, text: str) -> str:
        for theirs, own in self.own.items():
            text = text.replace(theirs, own)
        return text


def test_the_page_does_what_it_says(tmp_path: Path, site: Deployment) -> None:
    """Every command works as it stands there, and shows what the page says; at its end nothing is left."""
    reports = tmp_path / "reports"
    with layer_in(tmp_path / "cloud", factor=100, site=guest_of(site)) as layer, terminal(tmp_path) as shown:
        settings = tmp_path / "home/gateway-cloud/orrery.toml"
        owner = Owner(
            Typist(shown),
            own_of(layer, site, reports),
            {
                "az account show": lambda: point_at_the_sandbox(settings, layer),
                "az vm deallocate": lambda: shut_down(layer),
                "chmod 0644": lambda: put_token(reports / "secrets"),
            },
            [settings, reports / "orrery.toml"],
        )
        owner.follow(list(pieces(PAGE)))
        assert owner.skipped == set(NOT_TYPED)
        assert "ended by layer 1" in "\n".join(owner.typist.log)
        assert [one for one in layer.box.events("mail") if one["details"]["to"] == "owner@example.org"]
        found = layer.provisioning.survey()
        assert (found.identity, found.account, found.webhooks, found.action_group) == (None, None, (), None)
    parts = {one["part"]: one["why"] for one in json.loads(site.orrery("doctor", "--json").stdout)}
    assert parts["gateway cloud"].startswith("Both alerts are on; the machine was running")
    assert parts["gateway webhook"].startswith("The webhook expires on")
    secrets = [*reports.glob("secrets/*"), reports / "azure.env"]
    assert [file.name for file in secrets if file.stat().st_mode & 0o077] == []


def own_of(layer: Layer, site: Deployment, reports: Path) -> dict[str, str]:
    """Return what the owner has in place of the page's names; other machines are folders of this one."""
    config = layer.box.config
    return {
        "00000000-0000-0000-0000-000000000000": config.subscription,
        '"cosmos"': f'"{config.resource_group}"',
        "scp ": "cp ",
        "root@reports.example.org:": "",
        "/etc/orrery-cloud": str(reports),
        "https://shop.example.org": site.public,
        "ssh root@shop.example.org sudo -u orrery orrery gateway pings": f"orrery gateway pings -c {site.config}",
        "systemctl start orrery-cloud-report": f"orrery gateway cloud report -c {reports}/orrery.toml",
    }


def point_at_the_sandbox(settings: Path, layer: Layer) -> None:
    """Do what only a sandbox needs."""
    more = (
        f'[tls]\nca_file = "{layer.box.ca_file}"\n[sandbox]\nclock_file = "{layer.folder}/cloud/clock"\n'
        f'[cloud]\nmanagement_url = "{layer.box.config.url}"\n'
    )
    text = settings.read_text().replace('mode = "test"', 'mode = "sandbox"')
    settings.write_text(edited(text, more))


def shut_down(layer: Layer) -> None:
    layer.box.pull("deallocate")
    layer.box.advance(60)
    assert layer.box.known()["machine"]["power"] == "running"


def put_token(secrets: Path) -> None:
    (secrets / TOKEN).write_text(SECRETS[TOKEN])


# The story of the page


def test_the_story_is_that_of_a_run(tmp_path: Path, site: Deployment) -> None:
    """The outage that the page tells is what the command prints of such a one, but for its date."""
    with layer_in(tmp_path / "cloud", site=guest_of(site)) as layer:
        assert layer.provisioning.make().succeeded
        day = Days(layer, site)
        for _ in range(8):  # pings far closer than the silence that the site takes for a gap, and long before
            day.pass_by(30)
            day.await_ping()
        layer.box.pull("deallocate", stop=14, alert=[186, 109], job=[7, 6], start=84)
        day.pass_by(230)
        day.await_ping()
        day.pass_by(20)
        pings = tmp_path / "pings.json"
        pings.write_text(site.orrery("gateway", "pings", "--json").stdout)
        told = [timeline(layer, pings), timeline(layer, pings, "--outage", "last")]
    (block,) = re.findall(r"(?ms)^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"))
    assert by_source(shape(block)) == by_source(shape("\n".join(told))), "\n".join(told)


@dataclass
class Days:
    """The one clock of the cloud and the other of the site, kept together."""

    layer: Layer
    site: Deployment

    def pass_by(self, seconds: float) -> None:
        self.layer.pass_by(seconds)
        behind = self.layer.box.clock.offset() - MovableClock(self.site.folder / "sandbox/clock").offset()
        self.site.sandbox.advance(behind)
        self.layer.box.known()

    def await_ping(self) -> None:
        """Wait for a ping of this moment."""
        since = self.layer.box.clock.now().timestamp() - 1

        def look() -> None:
            known = self.layer.box.web.get("/gateway", headers={"Accept": "application/json"}).json()
            assert known["sent"][0]["at"] >= since
            assert known["sent"][0]["answer"] == "204"

        eventually(look)


def timeline(layer: Layer, pings: Path, *more: str) -> str:
    done = run_orrery(
        "gateway", "timeline", "--since", "2h", "--pings", str(pings), *more, "--config", str(layer.config)
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_source(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of the cloud and those of the pings: the two go on by clocks of their own, in any order."""
    return [one for one in lines if "ping" not in one], [one for one in lines if "ping" in one]


def shape(text: str) -> list[str]:
    """Return the lines without times, widths and blocks."""
    known = re.sub(r"[+-]?\b\d+(:\d\d)+|\d{8}T\d{6}Z|\d{4}-\d\d-\d\d", "…", text)
    return [" ".join(re.sub(r"[█·]+", "", line).split()) for line in known.splitlines() if line.strip()]

"""The cockpit as a process: how it starts and ends, what it leaves, and whom it refuses (decision 37)."""

import os
import re
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pexpect
import pytest

from tests.journeys.terminal import INTERRUPT, terminal
from tests.support.cockpit import PORT_VARIABLE, Client, Cockpit, running_cockpit
from tests.support.package_copy import ROOT, run_python
from tests.support.ports import free_ports
from tests.support.program import run_orrery
from tests.support.waiting import PATIENCE, eventually

pytestmark = pytest.mark.usefixtures("temporary")


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder in which processes make their private folders."""
    folder = tmp_path_factory.mktemp("tmp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def cockpit(tmp_path_factory: pytest.TempPathFactory, temporary: Path) -> Iterator[Cockpit]:
    """Return a cockpit on its sample, for tests that leave it as it was."""
    del temporary
    with running_cockpit(tmp_path_factory.mktemp("cockpit"), "--sample") as found:
        yield found


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Return a settings file with a store and a mailbox whose drafts stay."""
    file = tmp_path / "orrery.toml"
    file.write_text(
        f'[cockpit]\nport = {free_ports(1)[0]}\nstore = "cockpit.db"\n'
        '[[cockpit.mailboxes]]\nkind = "sample"\naccount = "ann@lab.example"\ntrack = "B"\nfolder = "drafts"\n'
    )
    assert run_orrery("cockpit", "store", "create", "--config", str(file)).returncode == 0
    return file


def mode(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_the_sample_shows_every_source_and_track(cockpit: Cockpit) -> None:
    """Rows from mail, teams, meeting and action-hub, of both tracks: the next meeting, what is due, the newest."""
    rows = cockpit.rows()
    assert {one["source"] for one in rows} == {"mail", "teams", "meeting", "action-hub"}
    assert {one["track"] for one in rows} == {"A", "B"}
    assert rows[0]["received_at"] == min(one["received_at"] for one in rows if one["source"] == "meeting")
    times = [one["received_at"] for one in rows if not one["until"] and one["source"] != "meeting"]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_the_sample_leaves_nothing(tmp_path: Path, temporary: Path, how: signal.Signals) -> None:
    """While it runs only its user can read its folder; when it has ended, in whatever way, the folder is gone."""
    before = set(temporary.iterdir())
    cockpit = Cockpit(tmp_path, "--sample").begin()
    try:
        row = cockpit.row(source="mail", replyable=True)
        assert cockpit.ask("POST", "/api/comms/draft-reply", {"rowId": row["id"]}).status == 200
        (folder,) = set(temporary.iterdir()) - before
        assert mode(folder) == 0o700
        files = [one for one in folder.rglob("*") if one.is_file()]
        assert len(files) > 1
        assert {mode(one) for one in files} == {0o600}
        assert cockpit.program.end(how) == 0
        assert set(temporary.iterdir()) == before
    finally:
        cockpit.program.clear_away()


def test_nothing_that_is_left_opens_the_next_one(tmp_path: Path) -> None:
    """Its token is in no argument and no output; its code, which is printed, is used: both open nothing later."""
    with running_cockpit(tmp_path, "--sample") as first:
        code, token = first.code, first.token
        arguments = Path(f"/proc/{first.program.process.pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{first.program.process.pid}/environ").read_bytes()
        assert token.encode() not in arguments + environment
        assert first.ask("POST", "/api/session", {"code": code}).json()["error"] == "code-invalid"
        _ = first.ask("GET", "/api/comms/rows", Authorization="Bearer wrong", Host="evil.example")
        assert token not in first.program.printed()
    with running_cockpit(tmp_path, "--sample", port=first.port) as second:
        assert second.ask("POST", "/api/session", {"code": code}).status == 401
        refused = second.ask("GET", "/api/comms/rows", Authorization=f"Bearer {token}")
        assert (refused.status, refused.json()["error"]) == (401, "token-wrong")


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "0.0.0.0", "::"])  # noqa: S104  a squatter would
def test_both_addresses_or_none(tmp_path: Path, address: str) -> None:
    """Where another program has either address, the cockpit does not start, and takes neither (decision 37)."""
    (port,) = free_ports(1)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with closing(socket.create_server((address, port), family=family)):
        cockpit = Cockpit(tmp_path, "--sample", port=port)
        assert cockpit.program.process.wait(PATIENCE) == 1
        assert "cannot be listened on: Address already in use" in cockpit.program.printed()
    for free, kind in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):
        socket.create_server((free, port), family=kind).close()


def test_nobody_takes_its_addresses(cockpit: Cockpit) -> None:
    """While it runs no other program can listen there, on one address or on all."""
    for address in ("127.0.0.1", "::1", "0.0.0.0", "::"):  # noqa: S104  a squatter would
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with closing(socket.socket(family)) as squatter:
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            with pytest.raises(OSError, match="in use"):
                squatter.bind((address, cockpit.port))


def test_without_settings_it_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names every place, and how to try it without."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    came = run_orrery("cockpit")
    assert came.returncode == 2
    for named in (
        str(tmp_path / "orrery.toml"),
        str(tmp_path / "config/orrery/orrery.toml"),
        "/etc/orrery",
        "--sample",
        "init --role cockpit",
    ):
        assert named in came.stderr.replace("\n", "")


def test_the_settings_of_the_users_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`orrery init --role cockpit` writes them and the store there, and the cockpit finds both from anywhere."""
    config = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config))
    made = run_orrery("init", str(config / "orrery"), "--role", "cockpit")
    assert made.returncode == 0, made.stderr
    assert mode(config / "orrery/.orrery/cockpit.db") == 0o600
    monkeypatch.chdir(tmp_path)
    added = run_orrery("cockpit", "ledger", "add", "Call Bo", "--track", "B")
    assert added.returncode == 0, added.stderr
    with running_cockpit(tmp_path) as cockpit:
        assert [one["subject"] for one in cockpit.rows()] == ["Call Bo"]


def test_a_missing_store_is_not_made(settings: Path) -> None:
    """It says which command makes one (decision 50)."""
    (settings.parent / "cockpit.db").unlink()
    came = run_orrery("cockpit", "--config", str(settings))
    assert came.returncode == 2
    assert "orrery cockpit store create" in came.stderr


def test_an_item_that_is_added_meanwhile_is_listed(settings: Path) -> None:
    """A command and the page share the store; a dismissal of the one is seen by the other."""
    with running_cockpit(settings.parent, "--config", str(settings)) as cockpit:
        typed = ("--track", "B", "--from", "cy@lab.example", "--until", "2026-01-01", "--config", str(settings))
        item_id = run_orrery("cockpit", "ledger", "add", "Answer Cy", *typed).stdout.strip()
        row = cockpit.row(source="action-hub")
        assert (row["subject"], row["sender"], row["until"]) == ("Answer Cy", "cy@lab.example", "2026-01-01")
        assert (row["priority"], row["score"], row["replyable"]) == ("high", 80, False)
        acted = cockpit.ask("POST", "/api/action-hub/action", {"rowId": row["id"], "action": "dismiss"})
        assert acted.json() == {"rowId": row["id"], "action": "dismiss", "track": "B", "changed": True}
        listed = run_orrery("cockpit", "ledger", "list", "--config", str(settings))
        assert listed.stderr.splitlines() == ["1 not listed: 1 done", "Nothing waits."]
        undone = run_orrery("cockpit", "ledger", "undo", item_id, "--config", str(settings))
        assert undone.stderr.strip() == "It is back in the list."
        assert cockpit.row(source="action-hub")["subject"] == "Answer Cy"


BAD_BODIES = [
    (b"", 400, "not-json"),
    (b"[]", 400, "not-json"),
    (b"{", 400, "not-json"),
    (b"[" * 50_000, 400, "not-json"),
    (b"\xff", 400, "not-json"),
    (b"{}", 422, "invalid-field"),
    (b'{"rowId": 1}', 422, "invalid-field"),
    (b'{"rowId": ""}', 422, "invalid-field"),
    (b'{"rowId": "x"}', 422, "invalid-field"),
    (b'{"rowId": "%s"}' % (b"A" * 5000), 422, "invalid-field"),
    (b'{"rowId": "x", "to": "somebody"}', 422, "invalid-field"),
    (b'{"rowId": "' + b"A" * 70_000 + b'"}', 413, "too-large"),
]
WRITES = ("/api/comms/draft-reply", "/api/comms/add-to-tasks", "/api/action-hub/action")


@pytest.mark.parametrize("path", WRITES)
def test_bad_bodies_are_refused(cockpit: Cockpit, path: str) -> None:
    """Each in one sentence, with the right status."""
    for body, status, tag in BAD_BODIES:
        refused = cockpit.ask("POST", path, body)
        assert (refused.status, refused.json()["error"]) == (status, tag), body[:40]
        assert refused.json()["message"].endswith(".")
    assert cockpit.ask("POST", path, b"{}", **{"Content-Type": "text/plain"}).status == 415


def test_the_store_is_backed_up_and_restored(settings: Path) -> None:
    """A snapshot while it runs; what is erased later is erased again when the snapshot comes back."""
    folder, typed = settings.parent, ("--config", str(settings))
    for person in ("bo@lab.example", "cy@lab.example"):
        assert (
            run_orrery("cockpit", "ledger", "add", "Call", "--from", person, "--track", "A", *typed).returncode
            == 0
        )
    with running_cockpit(folder, *typed):
        assert run_orrery("cockpit", "backup", str(folder / "snapshot.db"), *typed).returncode == 0
        refused = run_orrery("cockpit", "restore", str(folder / "snapshot.db"), *typed)
        assert refused.returncode != 0
    exported = run_orrery("cockpit", "privacy", "export", "bo@lab.example", *typed)
    assert '"person": "bo@lab.example"' in exported.stdout
    erased = run_orrery("cockpit", "privacy", "erase", "bo@lab.example", "--reason", "asked", *typed)
    assert "Erased: 1 ledger, 0 journal." in erased.stderr
    restored = run_orrery("cockpit", "restore", str(folder / "snapshot.db"), *typed)
    assert restored.returncode == 0, restored.stderr
    assert "Erased again, as in the store before: 1." in restored.stderr
    listed = run_orrery("cockpit", "ledger", "list", "--json", *typed).stdout
    assert "cy@lab.example" in listed
    assert "bo@lab.example" not in listed


def test_the_doctor_asks_the_mailboxes(settings: Path) -> None:
    """Exit 0 and a line for each part; exit 1 when a mailbox's folder cannot be used."""
    found = run_orrery("cockpit", "doctor", "--config", str(settings))
    assert found.returncode == 0, found.stderr
    for part in ("store", "action ledger", "mailbox ann@lab.example [track:B]"):
        assert part in found.stdout
    if (settings.parent / "drafts").exists():
        (settings.parent / "drafts").rmdir()
    (settings.parent / "drafts").write_text("in the way")
    found = run_orrery("cockpit", "doctor", "--json", "--config", str(settings))
    assert found.returncode == 1
    assert '"broken"' in found.stdout


def test_it_loads_no_other_domain(tmp_path: Path, temporary: Path) -> None:
    """A cockpit that serves has no vendor's library, nothing that sends, and no other domain in its memory."""
    (port,) = free_ports(1)
    script = f"""
import atexit, http.client, os, signal, sys, threading
def end():
    try:
        served = http.client.HTTPConnection("127.0.0.1", {port})
        served.request("GET", "/")
        os.kill(os.getpid(), served.getresponse() and signal.SIGINT)
    except OSError:
        threading.Timer(0.05, end).start()
threading.Timer(0.05, end).start()
from orrery.app.main import main
sys.argv = ["orrery", "cockpit", "--sample", "--no-browser"]
atexit.register(lambda: print("\\nloaded:", *sys.modules)); main()
"""
    came = run_python(
        ROOT / "src", "-c", script, folder=tmp_path, ORRERY_COCKPIT__PORT=str(port), TMPDIR=str(temporary)
    )
    loaded = set(came.stdout.partition("loaded:")[2].split())
    assert "orrery.cockpit.routes" in loaded, came.stderr
    foreign = ("stripe", "google", "azure", "aiosmtplib", "smtplib", "jinja2")
    rooms = ("checkout", "live", "gateway", "fraud", "account", "sandbox")
    named = {one for one in loaded if one.split(".")[0] in foreign}
    named |= {one for one in loaded for room in rooms if one.startswith(f"orrery.{room}.")}
    assert named == {f"orrery.{room}.module" for room in rooms[:-1]}


LINK = r"#code=(\S+)\s"


def test_enter_makes_a_new_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a terminal; the link before opens nothing from then on."""
    (port,) = free_ports(1)
    monkeypatch.setenv(PORT_VARIABLE, str(port))
    with terminal("cockpit", "--sample", "--no-browser") as at:
        first = at.wait_for(LINK)
        at.wait_for("Press Enter for a new link")
        at.type("")
        second, client = at.wait_for(LINK), Client(port)
        assert client.ask("POST", "/api/session", {"code": first}).status == 401
        client.enter(second)
        assert client.rows()
        at.type(INTERRUPT)
        assert at.end() == 0


def test_what_is_typed_for_another_program_is_not_its_own(tmp_path: Path) -> None:
    """In the background of a shell it goes on, whatever is typed into the program in front."""
    (port,) = free_ports(1)
    given = {**os.environ, PORT_VARIABLE: str(port), "TMPDIR": str(tmp_path)}  # noqa: TID251  passed on
    shell: pexpect.spawn[str] = pexpect.spawn(
        "/bin/bash",
        ["--norc", "-i"],
        env=given,  # pyright: ignore[reportArgumentType]  a plain dict will do
        timeout=PATIENCE,
        encoding="utf-8",
    )
    try:
        shell.sendline(f"{sys.executable} -m orrery cockpit --sample --no-browser &")
        client = Client(port)
        shell.expect(LINK)
        found = shell.match
        assert isinstance(found, re.Match)
        client.enter(found[1])
        shell.expect("Press Enter for a new link")
        # A program that reads nothing: what is typed stays there for the taking.
        shell.sendline("tail -f /dev/null")
        for _ in range(3):
            shell.sendline("typed")
            shell.expect("typed")
            assert client.rows()
        shell.sendintr()
        shell.sendline("kill %1; wait %1; echo ended $?")
        shell.expect(r"ended \d")
    finally:
        shell.close(force=True)


def test_a_browser_is_asked_to_open_the_link(tmp_path: Path) -> None:
    """It gets the address with the code, which works once."""
    asked = tmp_path / "asked"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{asked}.new" && mv "{asked}.new" "{asked}"\n')
    browser.chmod(0o755)
    cockpit = Cockpit(tmp_path, "--sample", browser=f"{browser} %s")
    try:
        _ = cockpit.begin()
        eventually(asked.read_text)
        assert asked.read_text().strip() == cockpit.link
    finally:
        _ = cockpit.program.end()
        cockpit.program.clear_away()

"""The cockpit's process over mailboxes of every kind: what is loaded, and that nothing of a message is printed."""

import re
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from orrery.sandbox.graph.levers import MALFORMED
from tests.support.all_kinds import AllKinds
from tests.support.cockpit import Client, code_in
from tests.support.dovecot import PASSWORD, running_dovecot, skip_without_dovecot
from tests.support.graph import graph
from tests.support.ports import free_ports
from tests.support.soak import SOAKING
from tests.support.tracks import ANN_A, ANN_B
from tests.support.waiting import PATIENCE, eventually

MARK = "quetzal"
"""What every text of a message holds."""

SENDER = {"name": f"{MARK} name", "address": f"{MARK}@evil.example"}

SCRIPT = """import sys
from orrery.app.main import main
sys.argv = ["orrery", "cockpit", "--no-browser", "--config", sys.argv[1]]
try:
    main()
except SystemExit:
    pass
print("loaded:", *sys.modules)
"""
"""Runs the cockpit until it is ended, and prints what it has loaded."""

LONG = 120
"""Seconds to wait that Graph asks for: so long that nobody waits."""

CALLS = ("", "GET /me/chats", "GET /me/calendarView")
_KINDS = ("graph_401", "graph_403", "graph_429", "graph_503", "graph_cut", "graph_html_200", "graph_half")
FAULTS = {fault: CALLS if SOAKING else [CALLS[number % 3]] for number, fault in enumerate(_KINDS)}
"""Each fault, with the call that it meets; `./run soak kills` has every fault meet every call."""


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AllKinds]:
    """Return a Microsoft Graph and a mail server, with messages that hold the mark, odd ones among them."""
    skip_without_dovecot()
    folder = tmp_path_factory.mktemp("kinds")
    with graph(folder) as box, running_dovecot() as dovecot:
        found = AllKinds(box, dovecot, folder, "ann@mail.example", dovecot.plain_port)
        found.sign_in()
        for account in (ANN_A, ANN_B):
            for odd in MALFORMED:
                named = {} if "subject" in MALFORMED[odd][1] else {"subject": f"{MARK} {odd}"}
                texts = {} if "body" in MALFORMED[odd][1] else {"body": ["html", f"<p>{MARK} text"]}
                box.arrive(account, odd=odd, sender=SENDER, **named, **texts)
            box.arrive(account, subject=f"{MARK} odd", sender=SENDER, set={"body": {"content": [MARK]}})
            box.lever("chat", account, text=f"{MARK} said", set={"id": MARK})
            box.lever("chat", account, text=f"{MARK} said")
        dovecot.deliver(found.imap, *_mails(), at=box.clock.now())
        yield found


def _mails() -> Iterator[bytes]:
    """Yield mails whose headers and bodies hold the mark, and mean little."""
    text = f"\r\n\r\n{MARK} text\r\n".encode()
    for head in (
        f"From: {MARK} <{MARK}@evil.example>\r\nSubject: {MARK}",
        f"From: {MARK}\r\nSubject: =?x-unknown?q?{MARK}?=\r\nContent-Type: text/html; charset={MARK}",
        f'From: "{MARK} <{MARK}@evil.example\r\nContent-Type: multipart/mixed; boundary="{MARK}',
        f"From: {MARK}@evil.example\r\nContent-Transfer-Encoding: base64\r\nDate: {MARK}",
    ):
        yield head.encode() + text


@contextmanager
def running(kinds: AllKinds, name: str) -> Generator[tuple[Client, Path]]:
    """Yield a client of a cockpit over all of them, and the file of what it prints."""
    settings = kinds.settings(name=name, days=0, more='[log]\nlevel = "debug"\n')
    printed = settings.parent / "printed"
    (port,) = free_ports(1)
    with pytest.MonkeyPatch.context() as patch, printed.open("wb") as output:
        patch.setenv("ORRERY_COCKPIT__PORT", str(port))
        command = [sys.executable, "-c", SCRIPT, str(settings)]
        process = subprocess.Popen(command, stdout=output, stderr=output)  # noqa: S603  our own command
    try:
        client = Client(port)
        eventually(lambda: _require_link(printed))
        client.enter(code_in(printed.read_text()))
        yield client, printed
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait(PATIENCE)


def _require_link(printed: Path) -> None:
    assert "#code=" in printed.read_text()


def pulse(client: Client) -> None:
    """Refresh, and wait until every mailbox has answered."""
    _ = client.ask("GET", "/api/comms/rows?sync=pulse")
    eventually(lambda: _require_answered(client))


def _require_answered(client: Client) -> None:
    assert not [one for one in client.listed()["mailboxes"] if one["asked_at"] or one["state"] == "loading"]


def touch(client: Client, comment: str, most: int) -> set[int]:
    """Read rows of each source and account, and draft replies to them; return the statuses."""
    seen, statuses = dict[tuple[str, str], int](), set[int]()
    for row in client.rows():
        place = (row["source"], row["account"])
        seen[place] = seen.get(place, 0) + 1
        if seen[place] <= most:
            body = client.ask("GET", f"/api/comms/message-body?messageId={row['id']}")
            draft = client.ask("POST", "/api/comms/draft-reply", {"rowId": row["id"], "comment": comment})
            statuses |= {body.status, draft.status}
    return statuses


@dataclass(frozen=True)
class Served:
    """What is left of a cockpit that read and drafted in mailboxes of every kind, while much failed.

    `found` are the states of the mailboxes and the statuses of the first answers.
    """

    found: tuple[set[str], set[int]]
    printed: str
    stored: str
    token: str


@pytest.fixture(scope="module")
def served(kinds: AllKinds) -> Served:
    """Run a cockpit over every kind of mailbox, let each fault meet it, and end it."""
    with running(kinds, "served") as (client, printed):
        pulse(client)
        states = {one["state"] for one in client.listed()["mailboxes"]}
        statuses = touch(client, f"{MARK} comment", 100)
        for fault, calls in FAULTS.items():
            for call in calls:
                kinds.box.fault(fault, call, count=2, value=LONG)
                pulse(client)
                kinds.box.clear_faults()
            if fault == "graph_503":
                continue  # each request waits for it three times
            kinds.box.fault(fault, count=1000, value=LONG)
            assert touch(client, f"{MARK} {fault}", 1) - {200, 422}
            kinds.box.clear_faults()
        pulse(client)
    stored = (printed.parent / "cockpit.db").read_bytes().decode(errors="replace")
    return Served((states, statuses), printed.read_text(), stored, client.token)


def test_what_serves_every_kind_can_send_by_none(served: Served) -> None:
    """A cockpit that has read and drafted in mailboxes of every kind has loaded no library that sends mail."""
    states, statuses = served.found
    assert (states, {200, 422} <= statuses) == ({"fresh"}, True)
    loaded = set(served.printed.partition("loaded:")[2].split())
    assert {"imaplib", "msal", "orrery.adapters.sample_mailbox.mailbox"} <= loaded
    foreign = {"smtplib", "aiosmtplib", "stripe", "google", "azure", "jinja2"}
    assert not foreign & loaded
    assert not [
        one
        for one in loaded
        if one.startswith(("orrery.sandbox.", "orrery.adapters.smtp", "orrery.adapters.ntfy"))
    ]


def test_nothing_of_a_message_is_printed(kinds: AllKinds, served: Served) -> None:
    """Whatever fails and comes: no text, subject, address, token or password is printed, or in the store."""
    told = served.printed.partition("loaded:")[0]
    assert "mailbox not read" in told
    assert "request failed" in told
    for text in (told, served.stored):
        assert MARK not in text.lower()
        assert not re.search(r"eyJ[\w-]{10,}|[\w.]+@[\w.]+\.example", text)
        assert not [one for one in kept_tokens(kinds) if one in text]
        assert served.token not in text


def kept_tokens(kinds: AllKinds) -> set[str]:
    """Return whatever is as long as a token in the files of the sign-ins, and the password."""
    files = [one.read_text() for one in (kinds.folder / "tenants").iterdir()]
    return {PASSWORD} | {token for text in files for token in re.findall(r"[\w.~-]{40,}", text)}

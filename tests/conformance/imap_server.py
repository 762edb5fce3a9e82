"""A mail server with one message, which misbehaves as a test says; it speaks the IMAP that the adapter asks."""

import re
import socket
import socketserver
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from orrery.adapters.imap_mailbox.connection import MailHost
from orrery.adapters.imap_mailbox.mailbox import ImapAccount, ImapMailbox
from orrery.trust import Trust
from tests.support.clock import ManualClock
from tests.support.waiting import PATIENCE

PASSWORD = "correct-horse-battery"  # noqa: S105  of a server that lives as long as a test
MESSAGE = b"From: Cy <cy@lab.example>\r\nSubject: Noon\r\nMessage-ID: <1@lab.example>\r\n\r\nIs noon well?\r\n"
_WORD = re.compile(rb"[A-Z0-9]+ (?:UID )?([A-Z]+)")
_LITERAL = re.compile(rb"\{(\d+)\}\r\n\Z")

Misbehaviour = Callable[[socket.socket], None]


def hangs(_: socket.socket) -> None:
    """Say nothing more."""


def trickles(client: socket.socket) -> None:
    """Say a little again and again, and never come to an end."""
    with suppress(OSError):
        while True:
            client.sendall(b"*")


def chatters(client: socket.socket) -> None:
    """Say whole lines without an end."""
    with suppress(OSError):
        while True:
            client.sendall(b"* OK still here\r\n" * 1000)


def closes(client: socket.socket) -> None:
    """Hang up."""
    client.shutdown(socket.SHUT_RDWR)


def says(text: bytes) -> Misbehaviour:
    """Return what says this, and hangs up."""

    def said(client: socket.socket) -> None:
        with suppress(OSError):
            client.sendall(text)
            client.shutdown(socket.SHUT_WR)

    return said


_TRUST = Trust()
"""To read the well-known authorities takes longer than most of these tests."""


@dataclass
class ImapServer:
    """`instead` has what is done in place of the answer to a command, or of the greeting; `answers` other answers.

    `unasked`: it says what it offers in its greeting and after the log-in, and has a folder of sent mail.
    In an answer `TAG` is replaced by that of the command. `lines` are all commands; `gone` is set when a client
    has closed its connection. Drafts are kept in `drafts`.
    """

    port: int = 0
    capabilities: str = "IMAP4rev1 AUTH=PLAIN UIDPLUS SPECIAL-USE"
    unasked: bool = False
    validity: int = 7
    uids: list[int] = field(default_factory=lambda: [1])
    message: bytes = MESSAGE
    instead: dict[str, Misbehaviour] = field(default_factory=dict[str, Misbehaviour])
    answers: dict[str, bytes] = field(default_factory=dict[str, bytes])
    lines: list[bytes] = field(default_factory=list[bytes])
    drafts: list[bytes] = field(default_factory=list[bytes])
    opened: bytes = b""
    gone: threading.Event = field(default_factory=threading.Event)

    def mailbox(self, seconds: float = PATIENCE, password: str | None = PASSWORD) -> ImapMailbox:
        """Return the mailbox of its account; it gives up after so many seconds."""
        server = MailHost("127.0.0.1", "cy@lab.example", password, self.port, "none")
        return ImapMailbox(ImapAccount("ann@lab.example"), server, ManualClock(), _TRUST, seconds=seconds)

    def said(self, command: str) -> list[bytes]:
        """Return the commands of this name."""
        return [line for line in self.lines if _name_of(line) == command]

    def serve(self, client: socket.socket) -> None:
        """Answer one client until it has gone."""
        stream = client.makefile("rb")
        self._answer(client, "GREETING", b"* OK %s ready\r\n" % self._said_unasked)
        while line := stream.readline():
            self.lines.append(line)
            name, tag = _name_of(line), line.split()[0]
            literal = b""
            if name in {"APPEND", "AUTHENTICATE"}:
                client.sendall(b"+ go on\r\n")
                size = _LITERAL.search(line)
                literal = stream.read(int(size[1])) if size else b""
                stream.readline()
            known: Callable[[bytes, bytes], bytes] | None = getattr(self, f"_{name.lower()}", None)
            text = known(line, literal) if known else b""
            offered = self._said_unasked if name == "AUTHENTICATE" else b""
            done = self.answers.get(name, b"TAG OK %s done\r\n" % offered)
            self._answer(client, name, (text + done).replace(b"TAG", tag))
        self.gone.set()

    def _answer(self, client: socket.socket, name: str, text: bytes) -> None:
        misbehaviour = self.instead.get(name)
        if misbehaviour:
            misbehaviour(client)
        else:
            client.sendall(text)

    def _capability(self, *_: bytes) -> bytes:
        return f"* CAPABILITY {self.capabilities}\r\n".encode()

    def _examine(self, line: bytes, _: bytes) -> bytes:
        self.opened = line.split()[2].strip(b'"')
        return b"* OK [UIDVALIDITY %d] it is so\r\n" % self.validity

    _select = _examine

    @property
    def _said_unasked(self) -> bytes:
        return f"[CAPABILITY {self.capabilities}]".encode() if self.unasked else b""

    def _list(self, *_: bytes) -> bytes:
        sent = b'* LIST (\\Sent) "/" Sent\r\n' if self.unasked else b""
        return b'* LIST (\\Drafts) "/" Drafts\r\n' + sent

    def _status(self, *_: bytes) -> bytes:
        return b"* STATUS Sent (UIDVALIDITY 7 UIDNEXT 1)\r\n"

    def _search(self, *_: bytes) -> bytes:
        uids = self._numbered()
        return b"* SEARCH" + b"".join(b" %d" % uid for uid in uids) + b"\r\n"

    def _append(self, _: bytes, literal: bytes) -> bytes:
        self.drafts.append(literal)
        return b""

    def _fetch(self, line: bytes, _: bytes) -> bytes:
        return b"".join(_fetched(line, uid, raw) for uid, raw in self._numbered().items())

    def _numbered(self) -> Mapping[int, bytes]:
        """Return the messages of the open folder by their numbers."""
        if self.opened == b"Drafts":
            return dict(enumerate(self.drafts, 1))
        return dict.fromkeys(self.uids, self.message)


def _fetched(line: bytes, uid: int, raw: bytes) -> bytes:
    head, _, text = raw.partition(b"\r\n\r\n")
    email_id = b" EMAILID (M%d)" % uid if b"EMAILID" in line else b""
    at = b'INTERNALDATE "01-Mar-2026 11:00:00 +0000"' + email_id
    parts = at if b"INTERNALDATE" in line else b""
    if b"BODY.PEEK[]" in line:
        parts = b"BODY[]<0> {%d}\r\n%s" % (len(raw), raw)
    elif b"HEADER.FIELDS" in line:
        parts = b"BODY[HEADER.FIELDS (ALL)]<0> {%d}\r\n%s" % (len(head) + 4, head + b"\r\n\r\n")
        parts += b" BODY[TEXT]<0> {%d}\r\n%s" % (len(text), text)
    return b"* %d FETCH (UID %d %s)\r\n" % (uid, uid, parts)


def _name_of(line: bytes) -> str:
    found = _WORD.match(line)
    return found[1].decode() if found else ""


@contextmanager
def misbehaving_server() -> Generator[ImapServer]:
    """Run a server until the block ends."""
    server = ImapServer()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                server.serve(self.request)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        server.port = listening.server_address[1]
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        listening.shutdown()

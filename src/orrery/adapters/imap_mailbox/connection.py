"""One connection to a mail server: TLS, a deadline for all that is read, and a bound on it (decision 0070)."""

import imaplib
import io
import socket
import ssl
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable, SignInNeeded
from orrery.tls import unreachable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

SECONDS = 20.0
"""How long one call may take, or one batch of a listing: less than `Inbox` waits for it."""

LARGEST_ANSWER = 64 * 1024 * 1024
"""Bytes of the answers to one call, or for one batch: a few times what is asked for."""

_LONGEST_LINE = 16 * 1024 * 1024
"""Bytes: a line with the numbers of two million messages."""

_BUFFER = 64 * 1024
_PORTS = {"tls": 993, "starttls": 143, "none": 143}
_FAREWELL_SECONDS = 2.0
_WHO = "The mail server"


@dataclass(frozen=True, slots=True)
class MailHost:
    """Where an account's mail is. `security` is `tls`, `starttls` or `none` (loopback)."""

    host: str
    username: str
    password: str | None = field(repr=False)
    port: int | None = None
    security: Literal["tls", "starttls", "none"] = "tls"


class NotImapError(Exception):
    """An answer that the protocol does not allow, or that is longer than anything that was asked for."""


class _Received(io.RawIOBase):
    """What a socket receives, until a moment, and up to a number of bytes."""

    def __init__(self, receiver: socket.socket, until: float) -> None:
        self._receiver = receiver
        self.until = until
        self.left = LARGEST_ANSWER

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]  its reader passes this
        self._receiver.settimeout(_seconds_until(self.until))
        count = self._receiver.recv_into(buffer)
        self.left -= count
        if self.left < 0:
            raise NotImapError
        return count


class ImapConnection(imaplib.IMAP4):
    """The library's client, logged in, with the methods overridden that it offers for this.

    One thread uses it at a time; `cut` may be called from another one.
    """

    sock: socket.socket

    def __init__(
        self,
        server: MailHost,
        context: ssl.SSLContext,
        opened: "Callable[[ImapConnection], None]",
        seconds: float = SECONDS,
    ) -> None:
        """Connect and log in; `opened` is called as soon as there is something that `cut` can end."""
        self.opened: tuple[str, int] | None = None
        """The folder that was examined last, by its name in the settings, and its UIDVALIDITY."""
        self._server = server
        self._opened = opened
        self._context = context
        self._until = time.monotonic() + seconds
        if not server.password:
            raise SignInNeeded(
                "There is no password of this account: put it into the secret file imap_passwords, and start the "
                "cockpit again."
            )
        super().__init__(server.host, server.port or _PORTS[server.security])
        try:
            self._log_in()
        except BaseException:
            self.shutdown()
            raise

    def open(self, host: str = "", port: int = 0, timeout: float | None = None) -> None:
        """Connect, and begin TLS where it comes first."""
        self.host, self.port = host, port
        self.sock = socket.create_connection((host, port), timeout or _seconds_until(self._until))
        self._opened(self)
        try:
            if self._server.security == "tls":
                self._begin_tls()
            self._receive()
        except BaseException:
            self.sock.close()
            raise

    def read(self, size: int) -> bytes:
        """Return what a literal holds; raise before one is read that is too large."""
        if size > self._received.left + _BUFFER:
            raise NotImapError
        return self._buffered.read(size)

    def readline(self) -> bytes:
        line = self._buffered.readline(_LONGEST_LINE)
        if len(line) == _LONGEST_LINE:
            raise NotImapError
        return line

    def send(self, data: "ReadableBuffer") -> None:
        self.sock.settimeout(_seconds_until(self._until))
        self.sock.sendall(data)

    def capability(self) -> tuple[str, list[bytes]]:
        """Return what the server offers: what it sent unasked (RFC 3501, 7.1) saves the question."""
        sent = self.untagged_responses.pop("CAPABILITY", None)
        return ("OK", sent) if sent else super().capability()

    def shutdown(self) -> None:
        """Close the connection, whatever its state."""
        self.cut()
        self.sock.close()

    def cut(self) -> None:
        """End the connection: who waits for an answer gets an error at once."""
        with suppress(OSError):
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)  # TLS's own would disturb who is reading

    def within(self, seconds: float) -> None:
        """Begin the time, and the bytes, of the next call or batch."""
        self._until = self._received.until = time.monotonic() + seconds
        self._received.left = LARGEST_ANSWER

    def leave(self) -> None:
        """Log out, which may fail, and close."""
        self.within(_FAREWELL_SECONDS)
        with suppress(imaplib.IMAP4.error, OSError, NotImapError):
            _ = self.logout()
        self.shutdown()

    def gave(self, code: str) -> bool:
        """Return whether the last answer had this response code (RFC 5530)."""
        return self.response(code)[1] != [None]

    def _receive(self) -> None:
        self._received = _Received(self.sock, self._until)
        # A new buffer: what came in clear before TLS began is not believed.
        self._buffered = io.BufferedReader(self._received, _BUFFER)

    def _begin_tls(self) -> None:
        tls = self._context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
        self.sock = tls
        tls.settimeout(_seconds_until(self._until))
        tls.do_handshake()

    def _log_in(self) -> None:
        if self._server.security == "starttls":
            self._start_tls()
        if "LOGINDISABLED" in self.capabilities:
            raise MailboxRefused("The mail server takes no password over this connection: look at its `security`.")
        self._forget_capabilities()
        if "PREAUTH" not in self.untagged_responses:
            self._show_password(self._server.username, self._server.password or "")
        self._read_capabilities()

    def _start_tls(self) -> None:
        if "STARTTLS" not in self.capabilities or self.xatom("STARTTLS")[0] != "OK":
            raise MailboxRefused("The mail server does not offer STARTTLS: nothing was sent to it.")
        self._begin_tls()
        self._receive()
        self._forget_capabilities()  # what came in clear does not count
        self._read_capabilities()

    def _read_capabilities(self) -> None:
        _, sent = self.capability()
        self.capabilities = tuple(sent[-1].decode("ascii", "replace").upper().split())

    def _forget_capabilities(self) -> None:
        _ = self.untagged_responses.pop("CAPABILITY", None)

    def _show_password(self, username: str, password: str) -> None:
        try:
            if "AUTH=PLAIN" in self.capabilities:
                _ = self.authenticate("PLAIN", lambda _: f"\0{username}\0{password}".encode())
            else:
                _ = self.login(quoted(username), password)
        except imaplib.IMAP4.abort:
            raise
        except UnicodeEncodeError:
            raise MailboxRefused("The mail server takes no name or password with letters beyond ASCII.") from None
        except imaplib.IMAP4.error:
            if self.gave("UNAVAILABLE"):
                raise MailboxUnreachable("The mail server cannot check passwords at the moment.") from None
            raise SignInNeeded(
                "The mail server refused the password of this account: put the right one, which may be one for "
                "programs only, into the secret file imap_passwords, and start the cockpit again."
            ) from None


def quoted(text: str) -> str:
    """Return a text as a string of the protocol; raise `NotImapError` when it cannot be one."""
    if any(one in text for one in "\r\n\0"):
        raise NotImapError
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@contextmanager
def translated(seconds: float = SECONDS) -> Generator[None]:
    """Raise the port's errors for those of the library, of the network, and of what the server should not send."""
    try:
        yield
    except (OSError, imaplib.IMAP4.abort) as error:
        # The library raises its own error in place of one that came while it sent.
        match error if isinstance(error, OSError) else error.__context__:
            case TimeoutError():
                raise MailboxUnreachable(f"The mail server gave no answer for {seconds:g} s.") from None
            case OSError() as cause:
                raise MailboxUnreachable(unreachable(_WHO, cause)) from None
            case _:
                raise MailboxUnreachable("The mail server ended the connection.") from None
    except (imaplib.IMAP4.error, NotImapError, ValueError, TypeError, LookupError, AttributeError):
        # The library raises any of these at an answer that it does not expect.
        raise MailboxUnreachable("The mail server gave an unusable answer.") from None


def _seconds_until(moment: float) -> float:
    left = moment - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left

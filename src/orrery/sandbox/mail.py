"""A real SMTP server that keeps its messages, and a page to read them."""

import asyncio
import email
import email.policy
import secrets
import ssl
from dataclasses import dataclass, field

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from starlette.routing import Route

from orrery.sandbox.board import Board
from orrery.sandbox.ground import Document, DocumentStore, SandboxGround

_KIND = "_mail"
_TIMEOUT_SECONDS = 30.0
_REFUSED = {"mail_451": "451 4.3.0 Try again later", "mail_550": "550 5.1.1 No such mailbox"}


@dataclass(frozen=True, slots=True)
class MailLogin:
    """The one user of a mail server that takes no mail without STARTTLS (by `tls`, a server's) and a log-in."""

    tls: ssl.SSLContext
    username: str
    password: str = field(repr=False)


class MailServer:
    """SMTP on the app's own event loop: `start()`, then `port`, then `stop()`. Without `login` all may send."""

    def __init__(self, ground: SandboxGround, host: str, port: int, login: MailLogin | None = None) -> None:
        self._ground = ground
        self._address = (host, port)
        self._login = login
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port that the server listens on, once started; else 0."""
        return self._server.sockets[0].getsockname()[1] if self._server else 0

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._greet, *self._address)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _greet(self) -> SMTP:
        login = self._login
        return SMTP(
            self,
            hostname="sandbox.orrery.test",
            enable_SMTPUTF8=True,
            loop=asyncio.get_running_loop(),
            tls_context=login.tls if login else None,
            require_starttls=login is not None,
            auth_required=login is not None,
            authenticator=self._admit,
        )

    def _admit(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _how: str, shown: object
    ) -> AuthResult:
        login = self._login
        wanted = LoginPassword(login.username.encode(), login.password.encode()) if login else None
        # Not handled: the server answers by its standard.
        return AuthResult(success=wanted is not None and shown == wanted, handled=False)

    async def handle_MAIL(  # noqa: N802  aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Accept the sender, unless a fault refuses it."""
        if self._ground.faults.request("mail").take("mail_sender"):
            return "550 5.7.1 Sender not allowed"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802  aiosmtpd's name
        """Keep one message, unless a fault refuses it."""
        struck = self._ground.faults.request("mail")
        if refused := struck.take(*_REFUSED):
            return _REFUSED[refused.kind]
        self._ground.state.save(_stored(envelope, self._ground.clock.now().timestamp()))
        if (slow := struck.take("mail_timeout")) is not None:
            await self._ground.clock.sleep(_TIMEOUT_SECONDS if slow.value is None else slow.value)
        return "250 2.0.0 Kept"


def _stored(envelope: Envelope, now: float) -> Document:
    raw = envelope.content if isinstance(envelope.content, bytes) else (envelope.content or "").encode()
    message = email.message_from_bytes(raw, policy=email.policy.default)
    body, page = message.get_body(("plain", "html")), message.get_body(("html",))
    return {
        "object": _KIND,
        "id": secrets.token_hex(8),
        "at": now,
        "from": envelope.mail_from,
        "to": list(envelope.rcpt_tos),
        "subject": str(message.get("Subject", "")),
        "message_id": str(message.get("Message-ID", "")),
        "headers": {name: str(value) for name, value in message.items()},
        "body": body.get_content() if body is not None else "",
        "html": page.get_content() if page is not None else "",
    }


def deliver(state: DocumentStore, now: float, sender: str, to: str, subject: str, text: str) -> None:
    """Keep a message that another stand-in sends."""
    known: Document = {"object": _KIND, "id": secrets.token_hex(8), "at": now, "from": sender, "to": [to]}
    state.save(known | {"subject": subject, "message_id": "", "headers": {}, "body": text, "html": ""})


def mail_routes(ground: SandboxGround) -> list[Route]:
    """Return the page that shows the mail, newest first."""

    def mails() -> list[Document]:
        kept = ground.state.newest_first(_KIND)
        return [{key: value for key, value in one.items() if key != "object"} for one in kept]

    return Board("/mail", "mail.html", mails).routes()

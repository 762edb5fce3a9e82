"""E-mail by SMTP."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Literal, cast

import aiosmtplib

from orrery.ports.clock import Clock
from orrery.ports.notifier import DeliveryFailed, OutgoingMessage, Received
from orrery.syntax.email_address import is_email_address
from orrery.syntax.lines import one_line
from orrery.syntax.web_file import web_template
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

SECONDS = 15.0
"""How long one delivery may take."""

_PERMANENT = 500
"""Reply codes from here on are permanent (RFC 5321, 4.2.1): codes of SMTP, not of HTTP."""

_LINK = re.compile(r"(.+): (https?://\S+)")


@dataclass(frozen=True, slots=True)
class Relay:
    """The mail server to hand messages to. `security` is `tls` (465), `starttls` (587) or `none` (loopback)."""

    host: str
    port: int
    sender: str
    security: Literal["tls", "starttls", "none"] = "tls"
    username: str | None = None
    password: str | None = field(default=None, repr=False)


class SmtpNotifier:
    """Sends mail. The message id repeats with the notification, so that receivers can drop a repeat."""

    def __init__(self, relay: Relay, clock: Clock, trust: Trust = WELL_KNOWN) -> None:
        self._relay = relay
        self._clock = clock
        self._trust = trust

    async def send(self, message: OutgoingMessage) -> None:
        """Hand one message to the relay."""
        email = self._email(message)
        async with self._connected() as client:
            try:
                _ = await client.send_message(email)
            except aiosmtplib.SMTPNotSupported:
                what = "The mail server takes no address with letters beyond ASCII."
                raise DeliveryFailed(what, permanent=True) from None
            except ValueError:
                what = "The mail cannot be written: look at the sender's address."
                raise DeliveryFailed(what, permanent=False) from None
            _leave(client)

    async def received(self, since: datetime) -> Received:  # noqa: ARG002  a mail server cannot be asked
        return lambda _: False

    async def check(self) -> str:
        """Greet the relay and log in."""
        async with self._connected() as client:
            _ = await client.noop()
        return ""

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[aiosmtplib.SMTP]:
        relay = self._relay
        client = aiosmtplib.SMTP(
            hostname=relay.host,
            port=relay.port,
            username=relay.username,
            password=relay.password,
            use_tls=relay.security == "tls",
            start_tls=relay.security == "starttls",
            tls_context=self._trust.mail,
            timeout=SECONDS,
        )
        try:
            async with client:
                yield client
        except aiosmtplib.SMTPRecipientsRefused as error:
            code = min(refusal.code for refusal in error.recipients)
            raise _refused(code, permanent=code >= _PERMANENT) from None
        except aiosmtplib.SMTPDataError as error:
            raise _refused(error.code, permanent=error.code >= _PERMANENT) from None
        except aiosmtplib.SMTPResponseException as error:
            # The owner can fix a wrong password, sender or greeting, so a buyer's e-mail is not given up for it.
            raise _refused(error.code, permanent=False) from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise DeliveryFailed(unreachable("The mail server", error), permanent=False) from None

    def _email(self, message: OutgoingMessage) -> EmailMessage:
        email, sender = EmailMessage(), message.sender or self._relay.sender
        email["From"] = sender
        if message.reply_to:
            email["Reply-To"] = message.reply_to
        email["To"] = _one_address(message.to)
        email["Subject"] = one_line(message.title)
        email["Date"] = format_datetime(self._clock.now())
        email["Message-ID"] = f"<{message.id}@{sender.rpartition('@')[2].rstrip('>')}>"
        email["Auto-Submitted"] = "auto-generated"
        email.set_content(message.body)
        if message.language:
            email.add_alternative(page_of(message), subtype="html")
        return email


def _leave(client: aiosmtplib.SMTP) -> None:
    """Send QUIT and close, without waiting for the answer.

    The server has the message. Whatever ends while the answer is outstanding, a deadline or this process, would
    have the message sent again.
    """
    transport = cast("asyncio.WriteTransport | None", client.transport)
    with suppress(aiosmtplib.SMTPServerDisconnected):
        if client.protocol is not None:
            client.protocol.write(b"QUIT\r\n")
    client.close()
    if transport is not None:
        # TLS would wait for the server's closing alert; the message is out by the next turn of the
        # loop.
        _ = asyncio.get_running_loop().call_soon(transport.abort)


def _one_address(text: str) -> str:
    # One and no more: a list of addresses in the header would be mail to strangers.
    if not is_email_address(text):
        raise DeliveryFailed("The address cannot be written to.", permanent=True)
    return text


def _refused(code: int, *, permanent: bool) -> DeliveryFailed:
    return DeliveryFailed(f"The mail server answered {code}.", permanent=permanent)


def page_of(message: OutgoingMessage) -> str:
    """Return the text of an e-mail as a page that loads nothing, and leaves the colours to the reader.

    A paragraph of a label and a web address is a link; the last paragraph holds the rows of a table, each a label
    and a value.
    """
    *paragraphs, rows = message.body.removesuffix("\n").split("\n\n")
    return web_template("email/email.html").render(
        language=message.language,
        subject=message.title,
        paragraphs=[(one, _LINK.fullmatch(one)) for one in paragraphs],
        rows=[row.partition(": ")[::2] for row in rows.split("\n")],
    )

"""A web server in Microsoft Graph's place that answers as a test says, whatever the vendor would say."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from orrery.adapters.microsoft_mailbox.client import GraphClient
from orrery.adapters.microsoft_mailbox.mail import MailFolder
from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox, Part
from orrery.adapters.microsoft_mailbox.to_do import ToDo
from orrery.trust import Trust
from tests.support.clock import ManualClock

Answer = tuple[int, object]
"""A status, and what becomes JSON, or the bytes of the body."""


KNOWN: dict[str, Answer] = {
    "GET /v1.0/me?": (
        200,
        {"id": "me", "mail": "ann@lab.example", "proxyAddresses": ["smtp:also.ann@lab.example"]},
    ),
    "/mailFolders/sentitems/messages/delta": (200, {"value": [], "@odata.deltaLink": "sentitems"}),
}
"""What is asked beside that which a test is about."""


_TRUST = Trust()
"""To read the well-known authorities takes longer than most of these tests."""


class OneToken:
    """An account that is signed in."""

    async def token(self, account: str) -> str:
        """See `Accounts`."""
        return f"token of {account}"

    async def forget(self, account: str) -> None:
        """See `Accounts`."""

    async def sign_in(self, account: str, visit: Callable[[str], None]) -> None:
        """See `Accounts`."""


class AtOnce(ManualClock):
    """A clock by which every wait is over at once."""

    async def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.advance(seconds)


@dataclass
class OddGraph:
    """What is answered to `METHOD target`, what was asked, and the bodies; after 40 requests it hangs up.

    Whose mailbox it is, and that nothing was sent, is answered as documented and not counted, but for
    `answers_all`.
    """

    answer: Callable[[str], Answer] = lambda _: (404, {})
    asked: list[str] = field(default_factory=list[str])
    sent: list[bytes] = field(default_factory=list[bytes])
    url: str = ""
    headers: str = ""
    answers_all: bool = False
    clock: ManualClock = field(default_factory=AtOnce)

    def mailbox(self, *parts: Part, days: int = 0) -> MicrosoftMailbox:
        """Return a mailbox there, of mail unless `parts` name something else."""
        return MicrosoftMailbox(self._client, "B", parts or ("mail",), MailFolder(days))

    def to_do(self) -> ToDo:
        """Return a list of tasks there."""
        return ToDo(self._client, "B", "Orrery")

    @property
    def _client(self) -> GraphClient:
        return GraphClient(self.url, "ann@lab.example", OneToken(), self.clock, _TRUST)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                method, target, _ = head.partition("\r\n")[0].split(" ")
                length = next(
                    (one for one in head.lower().split("\r\n") if one.startswith("content-length:")), ":0"
                )
                self.sent.append(await reader.readexactly(int(length.partition(":")[2])))
                asked = f"{method} {target}"
                known = (
                    None if self.answers_all else next((one for path, one in KNOWN.items() if path in asked), None)
                )
                if known is None:
                    self.asked.append(asked)
                if len(self.asked) > 40:
                    break
                status, content = known or self.answer(asked)
                body = content if isinstance(content, bytes) else json.dumps(content).encode()
                writer.write(
                    f"HTTP/1.1 {status} Odd\r\nContent-Length: {len(body)}\r\n{self.headers}\r\n".encode() + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def malformed_graph() -> AsyncGenerator[OddGraph]:
    """Run one on loopback."""
    found = OddGraph()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    found.url = f"http://{host}:{port}"
    async with server:
        yield found
        server.close()

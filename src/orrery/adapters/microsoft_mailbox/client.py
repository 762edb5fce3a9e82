"""Requests to Microsoft Graph in one account's name, and what its answers mean."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

from orrery.errors import OrreryError
from orrery.outside import Answer, Client, NoAddress, NoAnswer, Outside, Request
from orrery.ports.accounts import Accounts
from orrery.ports.clock import Clock
from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.identity import IdentityUnreachable
from orrery.syntax.retry_after import retry_after
from orrery.trust import Trust

DEADLINE = 25.0
"""Seconds for one answer with its repetitions: less than the cockpit waits for a batch."""

SILENCE = 10.0
"""Seconds to connect, and for each piece of an answer."""

LONGEST_WAIT = 8.0
"""Seconds that are waited when Graph asks for it; for longer ones the next refresh asks again."""

REPEATS = 3
"""How often one request is repeated that Graph was too busy for."""

WHO = "The mailbox"

_GONE = "This row is no longer in its mailbox."

_IMMUTABLE = 'IdType="ImmutableId"'
"""An id that stays when the message is moved (`Prefer`)."""

_NO_ID = "ErrorInvalidIdMalformed"
"""The vendor's word for an id that it has never given: a row of another mailbox, or of before."""

_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})

_NOT_DONE = frozenset({HTTPStatus.TOO_MANY_REQUESTS})
"""The answers by which nothing was done: only then is a request repeated that creates something."""

Json = dict[str, Any]
Params = Mapping[str, str]


class StateLost(MailboxUnreachable):
    """What was read before leads nowhere: Graph has forgotten it (410), or its link is none."""


class BadRequest(MailboxRefused):
    """Graph does not understand the request (400), such as a link that it has given itself."""


class ChangedMeanwhile(MailboxUnreachable):
    """What was to be changed has changed meanwhile (412)."""


@dataclass(frozen=True, slots=True)
class GraphClient:
    """Asks Graph for one account. Raises `MailboxError`; `RowGone` for what is not there."""

    address: str
    account: str
    accounts: Accounts
    clock: Clock
    trust: Trust

    @asynccontextmanager
    async def session(self) -> AsyncGenerator["GraphSession"]:
        """Yield a session: one connection for several requests."""
        graph = Outside(WHO, DEADLINE, self.trust, silence=SILENCE)
        try:
            connected = graph.connected(self.address)
        except NoAnswer as error:
            raise MailboxUnreachable(str(error)) from None
        async with connected as client:
            yield GraphSession(self, graph, client)

    async def token(self) -> str:
        """Return the account's token; raise the mailbox's errors in place of those of the sign-in."""
        try:
            return await self.accounts.token(self.account)
        except SignInNeeded:
            raise
        except IdentityUnreachable as error:
            raise MailboxUnreachable(str(error)) from None
        except OrreryError as error:
            raise MailboxRefused(str(error)) from None


class GraphSession:
    """Requests over one connection."""

    def __init__(self, client: GraphClient, graph: Outside, http: Client) -> None:
        self._client = client
        self._graph = graph
        self._http = http
        self._base = client.address.rstrip("/") + "/v1.0"
        self._followed: set[str] = set()

    async def get(self, path: str, params: Params | None = None, *prefer: str) -> Json:
        """Return what is at a path; a list begins again."""
        self._followed.clear()
        return await self._ask("GET", self._base + path, params, None, prefer)

    async def follow(self, link: str, *prefer: str) -> Json:
        """Return what is at a whole address that Graph gave for the next page.

        Raises `StateLost` for one that is none, that is elsewhere, for it would get the token, or that was
        followed in the same list.
        """
        try:
            asked, own = urlsplit(link), urlsplit(self._base)
            with self._graph.troubles():
                _ = self._http.build_request("GET", link)
        except (ValueError, NoAddress):
            raise StateLost(f"{WHO}'s next page has no address.") from None
        if (asked.scheme, asked.netloc) != (own.scheme, own.netloc):
            raise StateLost(f"{WHO}'s next page is at another address: it is not asked.")
        if link in self._followed:
            raise StateLost(f"{WHO}'s pages lead in a circle.")
        self._followed.add(link)
        return await self._ask("GET", link, None, None, prefer)

    async def post(self, path: str, body: Json) -> Json:
        """Create something, and return it."""
        return await self._ask("POST", self._base + path, None, body, ())

    async def patch(self, path: str, body: Json, etag: str = "") -> Json:
        """Change something; raise `ChangedMeanwhile` when it is no longer what `etag` was."""
        return await self._ask("PATCH", self._base + path, None, body, (), etag)

    async def _ask(
        self,
        method: str,
        url: str,
        params: Params | None,
        body: Json | None,
        prefer: tuple[str, ...],
        etag: str = "",
    ) -> Json:
        headers = {"Prefer": ", ".join([_IMMUTABLE, *prefer])} | ({"If-Match": etag} if etag else {})
        try:
            with self._graph.troubles():
                request = self._http.build_request(method, url, params=params, json=body, headers=headers)
                async with asyncio.timeout(DEADLINE):
                    answer = await self._answered(request)
        except NoAnswer as error:
            raise MailboxUnreachable(str(error)) from None
        return _content(answer)

    async def _answered(self, request: Request) -> Answer:
        """Send a request until there is an answer that waiting does not change."""
        renewed = False
        repeated = _NOT_DONE if request.method == "POST" else _BUSY
        for repeat in range(REPEATS + 2):
            request.headers["Authorization"] = f"Bearer {await self._client.token()}"
            answer = await self._http.send(request)
            if answer.status_code == HTTPStatus.UNAUTHORIZED and not renewed:
                renewed = True
                await self._client.accounts.forget(self._client.account)
            elif answer.status_code in repeated and repeat < REPEATS:
                await self._wait(answer)
            else:
                return answer
        raise MailboxUnreachable(f"{WHO} is too busy.")

    async def _wait(self, answer: Answer) -> None:
        """Wait as long as Graph asks for; raise `MailboxUnreachable` when that is too long."""
        seconds = retry_after(answer.headers.get("Retry-After", ""), self._client.clock.now(), otherwise=1.0)
        if seconds > LONGEST_WAIT:
            raise MailboxUnreachable(f"{WHO} is too busy, and asks to wait for {seconds:g} s.")
        await self._client.clock.sleep(max(seconds, 0.5))


def segment(source_id: str) -> str:
    """Return an id as a part of a path; raise `RowGone` for what cannot be one: the page's ids are anything."""
    try:
        found = quote(source_id, safe="")
    except UnicodeEncodeError:
        found = ""
    if found in {"", ".", ".."}:
        raise RowGone(_GONE)
    return found


def _content(answer: Answer) -> Json:
    status = answer.status_code
    if answer.is_success:
        try:
            found = answer.json()
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found  # pyright: ignore[reportUnknownVariableType]  JSON has names of any content
        raise MailboxUnreachable(f"{WHO}'s answer is not as documented.")
    code = _code(answer)
    if status == HTTPStatus.UNAUTHORIZED:
        raise SignInNeeded(f"{WHO} does not accept the sign-in: sign in again.")
    if status == HTTPStatus.NOT_FOUND or code == f", {_NO_ID}":
        raise RowGone(_GONE)
    if status == HTTPStatus.GONE:
        raise StateLost(f"{WHO} must be read again.")
    if status == HTTPStatus.PRECONDITION_FAILED:
        raise ChangedMeanwhile(f"{WHO} has changed meanwhile: try again.")
    if status == HTTPStatus.FORBIDDEN:
        raise MailboxRefused(f"{WHO} refuses it{code}: the app has no permission for it, or the account has none.")
    if status in _BUSY or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise MailboxUnreachable(f"{WHO} is out of order (status {status}{code}).")
    refusal = BadRequest if status == HTTPStatus.BAD_REQUEST else MailboxRefused
    raise refusal(f"{WHO} refuses the request (status {status}{code}).")


def _code(answer: Answer) -> str:
    """Return the vendor's own word for an error, without its sentence, which may name people."""
    try:
        code = answer.json()["error"]["code"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return ""
    return f", {code}" if isinstance(code, str) and code.isascii() and code.replace(".", "").isalnum() else ""

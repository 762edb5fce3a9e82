"""How Orrery asks anybody outside by HTTP: the one place where a client is made (decision 0048).

A question has a deadline for the whole. An answer is bounded, and refused when it is packed: a small one may
unfold into a long one. The owner's authorities are trusted. The environment's proxy is for `https:` alone: what is
asked in clear is on this machine. No redirection is followed, and no password file of the user's is read: a
credential goes where it belongs. Nothing is sent twice: only the caller knows whether that does harm.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

if TYPE_CHECKING:
    import ssl

    from requests import PreparedRequest, Session

LONGEST_ANSWER = 8 << 20
"""Bytes, unfolded: several times the largest page of a hundred objects."""

Answer = httpx2.Response
Client = httpx2.AsyncClient
Request = httpx2.Request


class NoAnswer(Exception):
    """There is no answer that can be read; the message is a sentence about who was asked.

    `late`: the deadline has passed. `sent`: the question may have arrived. `status`: that of an answer which came,
    and cannot be read.
    """

    def __init__(self, message: str, *, late: bool = False, sent: bool = True, status: int = 0) -> None:
        super().__init__(message)
        self.late = late
        self.sent = sent
        self.status = status


class NoAddress(NoAnswer):
    """The address is none, or has characters that no address has."""


class Unreadable(NoAnswer):
    """The answer is too long, or packed."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Somebody outside: `name` begins each sentence about it, `deadline` is in seconds for one whole answer.

    `silence`, in seconds, too: after it a connection that does not come, or brings nothing more, is given up.
    """

    name: str
    deadline: float
    trust: Trust = WELL_KNOWN
    longest: int = LONGEST_ANSWER
    silence: float | None = None

    async def ask(self, method: str, url: str, **given: Any) -> Answer:  # noqa: ANN401  as the library takes it
        """Return an answer of any status, which has been read; raise `NoAnswer`."""
        async with self.answer(method, url, **given) as answer:
            _ = await answer.aread()
        return answer

    def ask_at_once(self, method: str, url: str, **given: Any) -> Answer:  # noqa: ANN401  the same
        """Do the same for a command that runs no event loop."""
        return asyncio.run(self.ask(method, url, **given))

    @asynccontextmanager
    async def answer(self, method: str, url: str, **given: Any) -> AsyncGenerator[Answer]:  # noqa: ANN401  the same
        """Yield an answer whose body is still to be read."""
        with self.troubles():
            async with (
                asyncio.timeout(self.deadline),
                self.connected(url) as client,
                client.stream(method, url, **given) as answer,
            ):
                yield answer

    def connected(self, url: str) -> Client:
        """Return a client for several questions to one address; `troubles` names its errors."""
        hooks = {"request": [_ask_plainly], "response": [self._bound]}
        try:
            # The deadline bounds the whole; a body is sent as one piece, however long that takes.
            timeout = httpx2.Timeout(self.silence, write=None)
            return Client(event_hooks=hooks, timeout=timeout, trust_env=is_outside(url), verify=self.trust.web)
        except (ValueError, ImportError, OSError):
            why = f"{self.name} cannot be asked: the environment's proxy or certificates cannot be used."
            raise NoAnswer(why, sent=False) from None

    @contextmanager
    def troubles(self) -> Generator[None]:
        """Raise `NoAnswer` in the place of every error of a client and of a passed deadline."""
        try:
            yield
        except TimeoutError:
            raise NoAnswer(f"{self.name} did not answer within {self.deadline:g} s.", late=True) from None
        except httpx2.TimeoutException as error:
            sent = not isinstance(error, (httpx2.ConnectTimeout, httpx2.PoolTimeout))
            limit = self.silence or self.deadline
            raise NoAnswer(f"{self.name} was silent for {limit:g} s.", late=True, sent=sent) from None
        except httpx2.DecodingError as error:
            status = error.status if isinstance(error, _NotRead) else 0
            raise Unreadable(f"{self.name}'s answer cannot be read: {error}", status=status) from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeEncodeError) as error:
            raise NoAddress(unreachable(self.name, error), sent=False) from None
        except httpx2.HTTPError as error:
            sent = not isinstance(error, httpx2.ConnectError)
            raise NoAnswer(unreachable(self.name, error), sent=sent) from None

    async def _bound(self, answer: Answer) -> None:
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            raise _NotRead("it is packed, though none was asked for.", answer)
        answer.stream = _Bounded(answer, self.longest)


def is_outside(url: str) -> bool:
    """Return whether an address is asked by TLS, as every one beyond this machine is."""
    return url.lower().startswith("https:")


async def _ask_plainly(request: Request) -> None:
    request.headers["Accept-Encoding"] = "identity"


class _NotRead(httpx2.DecodingError):
    """An answer that came and is refused; with its status."""

    def __init__(self, why: str, answer: Answer) -> None:
        super().__init__(why, request=answer.request)
        self.status = answer.status_code


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error when it goes on too long."""

    def __init__(self, answer: Answer, longest: int) -> None:
        self._body = answer.stream
        self._answer = answer
        self._longest = longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        assert isinstance(self._body, httpx2.AsyncByteStream)  # noqa: S101  an asynchronous client has no other
        async for piece in self._body:
            read += len(piece)
            if read > self._longest:
                raise _NotRead("it is too long.", self._answer)
            yield piece

    async def aclose(self) -> None:
        """Close the body inside."""
        assert isinstance(self._body, httpx2.AsyncByteStream)  # noqa: S101  as above
        await self._body.aclose()


def session(trust: Trust, connections: int = 10) -> Session:
    """Return a session for a vendor's own library, which asks by `requests`; its deadlines are that library's.

    Beyond the bound it raises `ContentDecodingError`.
    """
    from requests import Session  # noqa: PLC0415  loaded only when such a library is used

    made = Session()
    made.auth = _as_it_is  # else an entry of the user's .netrc would take the credential's place
    _bound(made, connections, trust.of_session())
    return made


def _as_it_is(request: PreparedRequest) -> PreparedRequest:
    return request


def _bound(session: Session, connections: int, context: ssl.SSLContext | None) -> None:
    """A `context` must belong to this session alone: TLS uses it, through a proxy, too."""
    from requests import Response  # noqa: PLC0415  loaded only when the library is used
    from requests.adapters import HTTPAdapter  # noqa: PLC0415  the same

    class Bounded(HTTPAdapter):
        def send(self, request: PreparedRequest, *given: Any, **named: Any) -> Response:  # noqa: ANN401  as the library has it
            if not is_outside(request.url or ""):
                named["proxies"] = None
            return super().send(request, *given, **named)

        def build_connection_pool_key_attributes(
            self,
            request: PreparedRequest,
            verify: Any,  # noqa: ANN401  as the library has it
            cert: Any = None,  # noqa: ANN401  the same
        ) -> tuple[dict[str, Any], dict[str, Any]]:
            host, tls = super().build_connection_pool_key_attributes(request, verify, cert)
            return host, tls | ({"ssl_context": context} if context else {})

        def build_response(self, req: PreparedRequest, resp: Any) -> Response:  # noqa: ANN401  as the library has it
            answer = super().build_response(req, resp)
            answer.raw = _BoundedRaw(answer.raw)
            return answer

    for scheme in ("https://", "http://"):
        session.mount(scheme, Bounded(pool_maxsize=connections))


class _BoundedRaw:
    """The body that a session of `requests` reads, in unpacked pieces."""

    def __init__(self, raw: Any) -> None:  # noqa: ANN401  it is the library's
        self._raw = raw

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  the same
        return getattr(self._raw, name)

    def stream(self, *given: Any, **named: Any) -> Iterator[bytes]:  # noqa: ANN401  the same
        from urllib3.exceptions import DecodeError  # noqa: PLC0415  it came with `requests`

        read = 0
        for piece in self._raw.stream(*given, **named):
            read += len(piece)
            if read > LONGEST_ANSWER:
                self._raw.close()
                raise DecodeError("The answer is too long.")
            yield piece

"""Answers from outside, bounded: neither a long one nor a small one that unfolds may fill the memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    import ssl

    from requests import Session

LONGEST_ANSWER = 8 << 20
"""Bytes, unfolded: several times the largest page of a hundred objects."""


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error when it goes on too long."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._body = answer.stream
        self._request = answer.request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        assert isinstance(self._body, httpx2.AsyncByteStream)  # noqa: S101  an asynchronous client has no other
        async for piece in self._body:
            read += len(piece)
            if read > LONGEST_ANSWER:
                raise httpx2.DecodingError("The answer is too long.", request=self._request)
            yield piece

    async def aclose(self) -> None:
        """Close the body inside."""
        assert isinstance(self._body, httpx2.AsyncByteStream)  # noqa: S101  as above
        await self._body.aclose()


async def _ask_plainly(request: httpx2.Request) -> None:
    request.headers["Accept-Encoding"] = "identity"


async def _bound(answer: httpx2.Response) -> None:
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx2.DecodingError("The answer is packed, though none was asked for.", request=answer.request)
    answer.stream = _Bounded(answer)


BOUNDED: dict[str, list[Callable[[Any], Awaitable[None]]]] = {"request": [_ask_plainly], "response": [_bound]}
"""The event hooks of every `httpx2.AsyncClient` for the outside: beyond the bound it raises `DecodingError`."""


def bound(session: Session, connections: int = 10, context: ssl.SSLContext | None = None) -> None:
    """Let a session of `requests` raise `ContentDecodingError` beyond the bound.

    A `context` must belong to this session alone: TLS uses it, through a proxy, too.
    """
    from requests import PreparedRequest, Response  # noqa: PLC0415  loaded only when the library is used
    from requests.adapters import HTTPAdapter  # noqa: PLC0415  the same

    class Bounded(HTTPAdapter):
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

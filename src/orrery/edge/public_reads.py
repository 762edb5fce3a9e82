"""The public reads ahead of the framework, as raw ASGI (the facts' figures: 4 times faster).

The framework declares the same operations, for the description; it never serves them.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl, unquote_to_bytes, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orrery.edge.cors import PUBLIC_HEADERS
from orrery.edge.uvicorn_protocol import Headers
from orrery.edge.whole_answer import WholeAnswer


class PublicAnswer(Protocol):
    """A body of JSON, its validator, and its `Cache-Control`."""

    @property
    def body(self) -> bytes: ...
    @property
    def etag(self) -> bytes: ...
    @property
    def cache_control(self) -> bytes: ...


class AnswerSource(Protocol):
    """The source of the answers to one query string."""

    def ready(self) -> PublicAnswer | None:
        """Return an answer that is valid now, if there is one."""
        ...

    async def answer(self) -> PublicAnswer: ...


@dataclass(frozen=True, slots=True)
class ReadSources:
    """The sources of the answers of one path, by query string; a field that is not in `fields` is ignored."""

    sources: Mapping[bytes, AnswerSource]
    fields: Collection[bytes]


class _Sent:
    """An answer as messages, made once and sent often."""

    __slots__ = ("answer", "not_modified", "whole")

    def __init__(self, answer: PublicAnswer) -> None:
        about = [(b"etag", answer.etag), (b"cache-control", answer.cache_control), *PUBLIC_HEADERS]
        self.answer = answer
        self.whole = WholeAnswer(answer.body, about)
        self.not_modified: Message = {"type": "http.response.start", "status": 304, "headers": about}


_EMPTY: Message = {"type": "http.response.body", "body": b""}


class PublicReads:
    """Answers GET and HEAD of `path` for the query strings of `reads`; everything else is the app's."""

    def __init__(
        self,
        app: ASGIApp,
        path: str,
        reads: ReadSources,
        count: Callable[[str, int], None],
    ) -> None:
        self._app = app
        self._path = path
        self._sources = reads.sources
        self._fields = reads.fields
        self._count = count
        self._last: dict[bytes, _Sent] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        query: bytes = scope["query_string"]
        source = self._sources.get(query) or self._sources.get(query := known_part(query, self._fields))
        if source is None:
            await self._app(scope, receive, send)
            return
        sent = self._as_messages(query, source.ready() or await source.answer())
        if is_known(scope["headers"], sent.answer.etag):
            self._count(scope["method"], 304)
            await send(sent.not_modified)
            await send(_EMPTY)
        else:
            self._count(scope["method"], 200)
            await (sent.whole.send if scope["method"] == "GET" else sent.whole.send_in_parts)(send)

    def _as_messages(self, query: bytes, answer: PublicAnswer) -> _Sent:
        last = self._last.get(query)
        if last is None or last.answer is not answer:
            last = self._last[query] = _Sent(answer)
        return last


def known_part(query: bytes, fields: Collection[bytes]) -> bytes:
    """Return the `fields` of a query string as they are usually written: encoded only where they must be."""
    known = b"&".join(one for one in query.split(b"&") if unquote_to_bytes(one.partition(b"=")[0]) in fields)
    # Every byte is a character in Latin-1, so no stranger's bytes can fail here.
    asked = parse_qsl(known.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return urlencode(asked, encoding="latin-1").encode()


def is_known(headers: Headers, etag: bytes) -> bool:
    """Return whether the client has this answer already (RFC 9110, If-None-Match, by weak comparison)."""
    for name, value in headers:
        if name == b"if-none-match":
            given = [one.strip().removeprefix(b"W/") for one in value.split(b",")]
            if value.strip() == b"*" or etag.removeprefix(b"W/") in given:
                return True
    return False

"""The fast read path: a few reads as raw ASGI, ahead of the framework (decision 27)."""

from collections import Counter
from dataclasses import dataclass, field

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from orrery.edge.public_reads import PublicReads, ReadSources, known_part
from tests.support.requests import client_of
from tests.support.tables import each_case

PATH = "/api/stats"


@dataclass(frozen=True)
class Said:
    """An answer."""

    body: bytes = b'{"active":1}'
    etag: bytes = b'W/"1-fresh"'
    cache_control: bytes = b"public, max-age=0, s-maxage=60"


@dataclass
class Source:
    """An address whose answer is ready, or has to be composed."""

    held: Said | None = None
    said: Said = field(default_factory=Said)

    def ready(self) -> Said | None:
        """Return what is held."""
        return self.held

    async def answer(self) -> Said:
        """Return what is composed."""
        return self.said


@dataclass
class Front:
    """The path before an app that only says that it was asked."""

    source: Source = field(default_factory=Source)
    counted: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])

    async def ask(self, method: str = "GET", query: str = "realtime=1", **headers: str) -> httpx2.Response:
        """Ask once."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with client_of(self.app()) as client:
            return await client.request(method, f"{PATH}?{query}", headers=named)

    def app(self) -> PublicReads:
        """Return the path before an app."""
        reads = ReadSources({b"realtime=1": self.source}, frozenset({b"realtime", b"intel"}))
        return PublicReads(PlainTextResponse("behind"), PATH, reads, self._count)

    def _count(self, method: str, status: int) -> None:
        self.counted[method, status] += 1


@pytest.fixture
def front() -> Front:
    """Return the path before an app."""
    return Front()


async def test_the_answer_is_sent_with_its_headers(front: Front) -> None:
    """A read carries JSON, validator, cache rules and the permission for any site's page."""
    answer = await front.ask()
    assert (answer.status_code, answer.json()) == (200, {"active": 1})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["etag"] == 'W/"1-fresh"'
    assert answer.headers["cache-control"] == "public, max-age=0, s-maxage=60"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-expose-headers"] == "Date, Age"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert front.counted == {("GET", 200): 1}


@pytest.mark.parametrize(
    "known", ['W/"1-fresh"', '"1-fresh"', '"other", W/"1-fresh"', '"other",W/"1-fresh" , "more"', "*"]
)
async def test_what_is_known_is_not_sent_again(front: Front, known: str) -> None:
    """A matching If-None-Match, compared weakly, gets 304 with the headers that a cache renews, and no body."""
    answer = await front.ask(if_none_match=known)
    assert (answer.status_code, answer.content) == (304, b"")
    assert answer.headers["etag"] == 'W/"1-fresh"'
    assert answer.headers["cache-control"] == "public, max-age=0, s-maxage=60"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "content-length" not in answer.headers
    assert front.counted == {("GET", 304): 1}


@pytest.mark.parametrize("known", ['W/"1-stale"', "1-fresh", "", '"1-fres"', "W/*"])
async def test_what_is_not_known_is_sent(front: Front, known: str) -> None:
    """Any other If-None-Match gets the answer."""
    assert (await front.ask(if_none_match=known)).status_code == 200


@pytest.mark.parametrize("query", ["realtime=%31", "&realtime=1", "realtime=1&", "%72ealtime=1"])
async def test_another_spelling(front: Front, query: str) -> None:
    """A known query is known however it is spelled."""
    assert (await front.ask(query=query)).json() == {"active": 1}


UNKNOWN = [
    *("x=1", "x", "x=", "=", "=1", "&", "realtim=2", "realtimes=2", "Realtime=2", "real+time=2", "realtime+=2"),
    *(
        "utm_source=news",
        "_=1700000000000",
        "x=%26intel%3D1",
        "x=realtime=2",
        "%ff=%fe",
        "%=%",
        "%00",
        "x=1;intel=1",
    ),
    *("x=1&x=2&y", "a=" + "b" * 10_000, "&".join(["a"] * 5_000)),
]
"""Fields that mean nothing here: a campaign's, a cache buster, slips, bytes that are no text, many, long ones."""


@each_case("unknown", UNKNOWN)
async def test_unknown_fields_are_ignored(front: Front, unknown: str) -> None:
    """A known query beside fields that nobody knows is answered as itself, in any order."""
    for query in (f"realtime=1&{unknown}", f"{unknown}&realtime=1", f"{unknown}&%72ealtime=%31&{unknown}"):
        assert (await front.ask(query=query)).json() == {"active": 1}


def test_nothing_is_kept_of_an_unknown_field() -> None:
    """However many addresses ask, what the path keeps its messages by is the same: one for each of its answers."""
    fields = {b"realtime", b"intel"}
    assert {known_part(b"realtime=1&x=%d" % number, fields) for number in range(100)} == {b"realtime=1"}


@each_case("unknown", ["", "&x=1"])
@each_case(
    "query",
    [
        *("realtime=", "realtime", "realtime=2", "realtime=1&realtime=1", "realtime=1&realtime=2", "realtime=+1"),
        *(
            "realtime=1&intel=",
            "realtime=1&intel",
            "realtime=1&intel=0",
            "intel=1&realtime=1",
            "%69ntel=1&realtime=1",
        ),
    ],
)
async def test_unknown_values_are_the_apps(front: Front, query: str, unknown: str) -> None:
    """A known field with another value, or twice, is never taken for the read, whatever stands beside it."""
    assert (await front.ask(query=query + unknown)).text == "behind"


@each_case("query", ["realtime=%ff", "%ff=%fe", "realtime=%E4", "a=" + "b" * 10_000, "%", "realtime=1%00"])
async def test_bytes_that_are_no_text(front: Front, query: str) -> None:
    """Whatever a stranger writes as a query is the app's to refuse."""
    assert (await front.ask(query=query)).text == "behind"


async def test_validators_in_two_headers(front: Front) -> None:
    """If-None-Match may come in several headers, as lists may."""
    async with client_of(front.app()) as client:
        headers = [("If-None-Match", '"other"'), ("If-None-Match", 'W/"1-fresh"')]
        assert (await client.get(f"{PATH}?realtime=1", headers=headers)).status_code == 304


async def test_head(front: Front) -> None:
    """HEAD is answered with the same headers."""
    answer = await front.ask("HEAD")
    assert (answer.status_code, answer.headers["content-length"]) == (200, "12")


async def test_a_new_answer_replaces_the_one_before(front: Front) -> None:
    """What is sent is always what the source holds now."""
    assert (await front.ask()).json() == {"active": 1}
    front.source.held = Said(b'{"active":2}', b'W/"2-fresh"')
    assert (await front.ask()).json() == {"active": 2}


@pytest.mark.parametrize(
    ("method", "query"),
    [("POST", "realtime=1"), ("GET", "realtime=cosmos&intel=1"), ("GET", ""), ("OPTIONS", "realtime=1")],
)
async def test_everything_else_is_the_apps(front: Front, method: str, query: str) -> None:
    """Another method or query is passed on."""
    assert (await front.ask(method, query)).text == "behind"
    assert not front.counted

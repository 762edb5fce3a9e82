"""Sites as a visitor reaches them: what is asked arrives letter by letter, and each answer is one."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from starlette.types import Receive, Scope, Send

from orrery.adapters.web_sites import BEGINNING, SECONDS, HttpWebSites
from orrery.ports.web_sites import SiteAnswer, SiteNotReached, SiteRequest
from tests.support.hasty_loop import run_ahead
from tests.support.serving import served


@dataclass
class Site:
    """A site that keeps what it is asked, and answers as the test says."""

    status: int = 200
    headers: list[tuple[bytes, bytes]] = field(default_factory=list[tuple[bytes, bytes]])
    body: bytes = b""
    is_silent: bool = False
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    origin: str = ""

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        """Answer one request."""
        self.asked.append((scope["method"], scope["raw_path"].decode()))
        if self.is_silent:
            await asyncio.Event().wait()
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


@pytest.fixture
def site() -> Iterator[Site]:
    """Run a site."""
    one = Site()
    with served(one) as one.origin:
        yield one


def answered(site: Site, request: SiteRequest) -> SiteAnswer:
    """Return the answer to a request."""
    return asyncio.run(HttpWebSites().ask(site.origin, request))


@pytest.mark.parametrize("path", ["//a//b", "/x/../a", "/a%2fb", "/%61", "/A/./B"])
def test_a_path_goes_out_as_it_is(site: Site, path: str) -> None:
    """No part of the way tidies it."""
    assert answered(site, SiteRequest(path, "HEAD")).status == 200
    assert site.asked == [("HEAD", path)]


def test_an_answer_is_taken_as_it_is(site: Site) -> None:
    """No redirection is followed, and of a long answer only the beginning is read."""
    site.status, site.body = 302, b"1" * 9**6
    site.headers = [(b"Location", b"/b"), (b"X-One", b"1"), (b"X-One", b"2")]
    answer = answered(site, SiteRequest("/a"))
    assert (answer.status, answer.body) == (302, b"1" * BEGINNING)
    assert (answer.headers["location"], answer.headers["x-one"]) == ("/b", "1, 2")
    assert len(site.asked) == 1


def test_no_answer_in_time(site: Site) -> None:
    """A request has a deadline."""
    site.is_silent = True
    with pytest.raises(SiteNotReached, match=f"did not answer within {SECONDS:g} s"):
        _ = run_ahead(HttpWebSites().ask(site.origin, SiteRequest("/")), SECONDS)

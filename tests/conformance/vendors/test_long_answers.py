"""Answers from outside that would fill the memory: long ones, and short ones that unfold into long ones."""

import asyncio
import gzip
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import cache

import pytest
from starlette.types import Receive, Scope, Send

from orrery.adapters.ga4 import GoogleAnalytics
from orrery.adapters.github import GitHubTracker
from orrery.adapters.heartbeat import HttpHeartbeat
from orrery.adapters.ntfy import NtfyNotifier
from orrery.adapters.public_counter import HttpCounter
from orrery.adapters.public_shop import HttpShop
from orrery.adapters.running_service import HttpRunningService
from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.writes import StripeWrites
from orrery.edge.listeners import bind
from orrery.errors import OrreryError
from orrery.outside import LONGEST_ANSWER
from orrery.ports.processor.errors import ProcessorUnreachable
from tests.support.clock import START, ManualClock
from tests.support.marked import analytics_key
from tests.support.ports import free_ports
from tests.support.serving import serving
from tests.support.tables import each_case

UNFOLDED = 20 * LONGEST_ANSWER
"""Bytes of spaces, which any JSON may begin with."""

MOST = 5 * LONGEST_ANSWER
"""Bytes of memory that reading may take: the answer as it came, in one piece and as text."""

_PIECE = b" " * 65536


async def bomb(scope: Scope, _: Receive, send: Send) -> None:
    """Answer with a small body that unfolds."""
    headers = [(b"content-type", b"application/json"), (b"content-encoding", b"gzip")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": packed()})
    assert scope["type"] == "http"


async def flood(scope: Scope, _: Receive, send: Send) -> None:
    """Answer with a long body."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    for _piece in range(UNFOLDED // len(_PIECE)):
        await send({"type": "http.response.body", "body": _PIECE, "more_body": True})
    await send({"type": "http.response.body", "body": b"{}"})
    assert scope["type"] == "http"


@cache
def packed() -> bytes:
    """Return the small body; it is made once, and ahead of what is measured: to make it takes a second."""
    return gzip.compress(b" " * UNFOLDED + b"{}")


@pytest.fixture(params=[bomb, flood], ids=["a short one that unfolds", "a long one"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run somebody whose every answer fills the memory."""
    _ = packed()
    (port,) = free_ports(1)
    with serving(request.param, bind("127.0.0.1", port)):
        yield f"http://127.0.0.1:{port}"


def analytics(url: str) -> GoogleAnalytics:
    """Return the analytics adapter, whose token endpoint is there, too."""
    key = analytics_key(int(url.rpartition(":")[2]))
    return GoogleAnalytics(
        key, "1", base_url=url, planet_dimension="streamName", window_minutes=30, clock=ManualClock()
    )


CALLS: dict[str, Callable[[str], Awaitable[object]]] = {
    "the processor": lambda url: StripeReads(StripeConnection("sk_test_x", base_url=url)).get_account(),
    "the processor's PATCH": lambda url: StripeWrites(StripeConnection("sk_test_x", base_url=url)).update_account(
        {}
    ),
    "the token endpoint": lambda url: analytics(url).check(),
    "GitHub": lambda url: GitHubTracker(url, "owner/name", "token").find_open("label"),
    "the push service": lambda url: NtfyNotifier(url, "topic").check(),
    "what the push service has": lambda url: NtfyNotifier(url, "topic").received(START),
    "the watcher": lambda url: HttpHeartbeat(url).send(),
    "the public counter": lambda url: HttpCounter(url).read("site"),
    "the shop": lambda url: HttpShop(url).start(product_type="cert", vendor_slug="a", cert_code="b", key="c"),
    "the running service": lambda url: HttpRunningService(url, url).held_secrets(),
}


async def _done(call: Awaitable[object]) -> None:
    await call


@each_case("who", CALLS)
def test_no_answer_fills_the_memory(url: str, who: str) -> None:
    """No matter who answers, and how it is packed: far less than the answer is kept."""
    tracemalloc.start()
    try:
        with suppress(OrreryError):
            asyncio.run(_done(CALLS[who](url)))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < MOST


def test_what_is_said_of_it(url: str) -> None:
    """The processor's answer is reported as unreadable, and the network is not to blame."""
    with pytest.raises(ProcessorUnreachable, match="cannot be read") as failed:
        asyncio.run(StripeReads(StripeConnection("sk_test_x", base_url=url)).get_account())
    assert failed.value.same_key

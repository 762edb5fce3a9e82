"""While the origin is in trouble the edge serves the last good count, within the origin's limit and no longer."""

import re
import threading
from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest

from orrery.live.freshness import TOO_OLD_ABOVE
from tests.nginx.edge import SITE_READ, Edge
from tests.nginx.origin import Origin
from tests.support.nginx import SITE
from tests.support.waiting import PATIENCE, eventually


def _goes_away(origin: Origin) -> None:
    origin.stop()


def _answers_500(origin: Origin) -> None:
    origin.status = 500


def _answers_503(origin: Origin) -> None:
    origin.status = 503


def _is_silent(origin: Origin) -> None:
    origin.open.clear()


TROUBLES = [_goes_away, _answers_500, _answers_503, _is_silent]


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_last_good_count_is_served(edge: Edge, origin: Origin, trouble: Callable[[Origin], None]) -> None:
    """Whatever happens to the origin, the last good count is served once its time is over."""
    origin.cache_control = "public, max-age=0, s-maxage=1, stale-if-error=1700"
    assert edge.active() == 1
    trouble(origin)
    eventually(lambda: _expect_status(edge.read(), 200, "STALE"))
    assert edge.read().json() == {"active": 1}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_no_count_is_served_beyond_its_limit(
    edge: Edge, origin: Origin, trouble: Callable[[Origin], None]
) -> None:
    """Once `stale-if-error` is over, there is an error and no count."""
    origin.cache_control = "public, max-age=0, s-maxage=1, stale-while-revalidate=1, stale-if-error=2"
    assert edge.active() == 1
    trouble(origin)
    eventually(lambda: _expect_failure(edge.read()))
    assert edge.read().status_code >= 500


def test_no_limit_no_count(edge: Edge, origin: Origin) -> None:
    """What the origin gives no `stale-if-error` is not served while the origin is away."""
    origin.cache_control = "public, max-age=0, s-maxage=1"
    assert edge.active() == 1
    origin.stop()
    eventually(lambda: _expect_failure(edge.read()))


def test_nothing_was_ever_kept(edge: Edge, origin: Origin) -> None:
    """Without a last good count, an origin that is away is an error at once."""
    origin.stop()
    assert edge.read().status_code == 502


def test_an_origin_that_comes_back(edge: Edge, origin: Origin) -> None:
    """The first read after the origin is back shows its count."""
    origin.cache_control = "public, max-age=0, s-maxage=1, stale-if-error=1700"
    edge.active()
    origin.stop()
    eventually(lambda: _expect_status(edge.read(), 200, "STALE"))
    origin.start()
    assert edge.active() == 2


def test_the_last_good_count_is_not_forgotten() -> None:
    """It is kept for longer than it may be shown, also when nobody asks in between."""
    kept = re.search(r" inactive=(\d+)m ", SITE.read_text())
    assert kept
    assert timedelta(minutes=int(kept[1])) > TOO_OLD_ABOVE


def test_a_silent_origin_holds_a_reader_for_seconds(edge: Edge, origin: Origin) -> None:
    """A reader of an empty cache waits for a silent origin for seconds, and then is told."""
    origin.open.clear()
    assert edge.read().status_code == 502


def test_other_operations_wait_for_none_of_this(edge: Edge, origin: Origin) -> None:
    """While a reader waits for a silent origin, a webhook is passed on."""
    origin.open.clear()
    reader = threading.Thread(target=lambda: edge.client.get(SITE_READ))
    reader.start()
    eventually(lambda: _expect_asked(origin, 1))
    origin.open.set()
    assert edge.client.post("/guided/api/webhook", content=b"{}").status_code == 200
    reader.join(PATIENCE)


def _expect_status(answer: httpx2.Response, status: int, kept: str) -> None:
    assert (answer.status_code, answer.headers.get("x-cache-status")) == (status, kept)


def _expect_failure(answer: httpx2.Response) -> None:
    assert answer.status_code >= 500


def _expect_asked(origin: Origin, count: int) -> None:
    assert len(origin.asked) == count

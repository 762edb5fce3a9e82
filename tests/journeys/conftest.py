"""One deployment for all journeys that leave it as it was: each with a visitor and a product of its own."""

from collections.abc import Iterator

import pytest

from tests.journeys.live_counter import USUAL, LiveCounter
from tests.support.deployment import CounterSettings, Deployment, Product, running
from tests.support.visiting import Visitor

WHOLE_TEXT = ("Instant access, one year. 🎓 Größe zählt. " * 40)[:1200]
"""A trust copy of exactly 1200 code points, some of them outside ASCII and outside the basic plane."""


@pytest.fixture(scope="session")
def running_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run one deployment for every journey that asks for `shop`."""
    products = [
        Product("wordy", trust_copy=WHOLE_TEXT),
        Product("changing", price_id="price_changing"),
        Product("withdrawn", price_id="price_withdrawn"),
    ]
    with running(Deployment(tmp_path_factory.mktemp("shop"), products, plain=99)) as deployment:
        yield deployment


@pytest.fixture
def shop(running_shop: Deployment) -> Iterator[Deployment]:
    """Lend the shared deployment to one test, and take it back without faults."""
    yield running_shop
    running_shop.sandbox.clear_faults()


@pytest.fixture
def visitor(shop: Deployment) -> Visitor:
    """Return somebody who has never been there."""
    return Visitor(shop)


@pytest.fixture(scope="session")
def counting_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run one deployment, which refreshes when it is told to, for every journey that asks for `counter`."""
    settings = CounterSettings(more='[[live.pages]]\ntitle = "Northwind practice"\npath = "/"')
    with running(Deployment(tmp_path_factory.mktemp("counting"), counter=settings)) as deployment:
        yield deployment


@pytest.fixture
def counter(counting_shop: Deployment) -> Iterator[LiveCounter]:
    """Lend the shared counter, empty and without any budget used, to one test."""
    counter = LiveCounter(counting_shop)
    counting_shop.sandbox.visitors(USUAL)
    counter.next_morning()
    yield counter
    counting_shop.sandbox.clear_faults()

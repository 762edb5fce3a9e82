"""A vendor whose certificate cannot be trusted: the sentence says so, and does not blame the network."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.ga4 import GoogleAnalytics
from orrery.adapters.memory import MemoryStore
from orrery.adapters.smtp import Relay, SmtpNotifier
from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.selling.health import IN_A_ROW, CreationHealth
from orrery.ports.health import Finding
from orrery.ports.notifier import DeliveryFailed
from orrery.ports.processor.errors import ProcessorError
from orrery.tls import WAITING_DOES_NOT_HELP, advice
from tests.support.certificates import make_certificate, serving_tls
from tests.support.clock import ManualClock
from tests.support.marked import analytics_key

AUTHORITY = "'s certificate comes from an unknown authority: check whether a proxy or firewall on the way"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a certificate for localhost that no known authority has signed."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def url(certificate: Path) -> Iterator[str]:
    """Return the address of a server that shows it."""
    with serving_tls(certificate) as port:
        yield f"https://localhost:{port}"


def stripe(url: str) -> StripeConnection:
    """Return a connection to a processor there."""
    return StripeConnection("sk_test_orrery_sandbox", base_url=url)


def analytics(url: str, token_url: str) -> GoogleAnalytics:
    """Return an analytics provider whose token endpoint is at `token_url`."""
    key = analytics_key(1).replace("http://127.0.0.1:1", token_url)
    return GoogleAnalytics(
        key, "123", base_url=url, planet_dimension="streamName", window_minutes=30, clock=SystemClock()
    )


STARTTLS = (b"220 here\r\n", b"250-here\r\n250 STARTTLS\r\n", b"220 go on\r\n")


@pytest.mark.parametrize(("security", "greeting"), [("tls", ()), ("starttls", STARTTLS)])
def test_a_mail_server(
    certificate: Path, security: Literal["tls", "starttls"], greeting: tuple[bytes, ...]
) -> None:
    """A mail server is told apart in the same way, whichever way its connection is encrypted."""
    with serving_tls(certificate, greeting) as port:
        notifier = SmtpNotifier(Relay("localhost", port, "shop@northwind.example", security), SystemClock())
        with pytest.raises(DeliveryFailed) as refused:
            asyncio.run(notifier.check())
    assert str(refused.value).startswith("The mail server" + AUTHORITY)
    assert advice(refused.value, "Check the network.") == WAITING_DOES_NOT_HELP


def test_visitors_who_cannot_buy(url: str) -> None:
    """Payments that cannot be started for a certificate are told with it, and the network is not blamed."""

    async def told() -> Finding:
        clock = ManualClock()
        health = CreationHealth(CheckoutRecords(MemoryStore(clock), clock, b""))
        with pytest.raises(ProcessorError) as refused:
            await StripeProcessor(stripe(url)).get_account()
        for _ in range(IN_A_ROW):
            await health.failed("northwind/cert-1", refused.value)
        (found,) = await health.local()
        return found

    found = asyncio.run(told())
    assert "The processor" + AUTHORITY in found.why
    assert found.todo == WAITING_DOES_NOT_HELP

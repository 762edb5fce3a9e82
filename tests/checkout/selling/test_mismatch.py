"""A session that is not what was asked for reaches no visitor, and is an outage (decisions 2, 15)."""

from typing import Any

import pytest

from orrery.checkout.errors import SessionMismatch
from orrery.checkout.selling.creation_health import WRITTEN_EVERY
from orrery.checkout.selling.service import Purchase
from orrery.ports.health import Finding
from tests.support.checkout import OTHER, PRODUCT, Shop, metadata_of

pytestmark = pytest.mark.anyio

ONCE = Purchase(PRODUCT.key, "203.0.113.7")


async def outage(shop: Shop) -> Finding:
    """Return how session creation goes."""
    (found,) = await shop.creation_health.local()
    return found


@pytest.mark.parametrize(
    "wrong",
    [
        *({"url": url} for url in (None, "", "/relative", "javascript:alert(1)", "https://", "https://[")),
        {"url": "http://pay.example/1"},
        {"livemode": True},
        {"id": "cs_live_1"},
        {"id": "pi_1"},
        {"id": "cs_1/../2"},
        {"mode": "subscription"},
        {"mode": None},
        {"status": "complete"},
        {"status": "expired"},
        {"amount_total": 0},
        {"currency": None},
        {"metadata": metadata_of(OTHER)},
        {"price_ids": ("price_ccsp",)},
        {"payment_status": "no_payment_required"},
    ],
    ids=str,
)
async def test_a_session_that_nobody_may_be_sent_to_is_an_outage(wrong: dict[str, Any], shop: Shop) -> None:
    """A session that is not what was asked for reaches no visitor; none is stored, and the first is an outage."""
    shop.processor.answers_with = wrong
    with pytest.raises(SessionMismatch):
        await shop.checkout.create(ONCE)
    found = await outage(shop)
    assert (found.state, found.urgent, found.essential) == ("broken", True, False)
    assert found.why.endswith(" No visitor was sent there.")
    shop.clock.advance(11 * 60)
    assert (await outage(shop)).state == "broken"  # no visitor came: that proves nothing
    for _ in range(2):
        with pytest.raises(SessionMismatch):
            await shop.checkout.create(ONCE)
        assert not (await outage(shop)).essential  # two clicks of one visitor take no other product off the air
        shop.clock.advance(WRITTEN_EVERY.total_seconds())
    shop.clock.advance(180)
    with pytest.raises(SessionMismatch):
        await shop.checkout.create(ONCE)
    assert (await outage(shop)).essential
    assert await shop.entries("offer") == []
    shop.clock.advance(700)
    assert (await outage(shop)).state == "ok"

"""A signed body that is no event tells whether the webhook has the secret; nothing comes of it."""

import pytest

from orrery.checkout import probe
from orrery.checkout.signature import verify
from orrery.edge.problems import problem_of
from orrery.errors import Invalid, NotConfigured, StoreUnavailable
from tests.support.checkout import SIGNING_SECRET, Shop
from tests.support.clock import START

pytestmark = pytest.mark.anyio

OTHER = b"whsec_of_somebody_else"


async def answered(shop: Shop, secret: bytes) -> probe.ProbeVerdict:
    """Return what the webhook's answer to a probe says, and see that nothing came of it."""
    with pytest.raises((Invalid, NotConfigured)) as refused:
        await shop.webhook.receive(probe.BODY, probe.signed(secret, shop.clock.now()))
    assert await shop.entries() == []
    problem = problem_of(refused.value)
    return probe.verdict(problem.status, problem.tag, problem.message)


@pytest.mark.parametrize(
    ("held", "signing", "verdict"),
    [
        ((SIGNING_SECRET,), SIGNING_SECRET, "accepted"),
        ((OTHER, SIGNING_SECRET), SIGNING_SECRET, "accepted"),
        ((OTHER,), SIGNING_SECRET, "refused"),
        ((), SIGNING_SECRET, "no secret"),
    ],
)
async def test_the_webhooks_answer(held: tuple[bytes, ...], signing: bytes, verdict: probe.ProbeVerdict) -> None:
    """The webhook says of a probe whether it has the secret, and stores nothing, whatever it says."""
    assert await answered(Shop(secrets=held), signing) == verdict


def test_any_other_answer_tells_nothing() -> None:
    """An answer that is none of the webhook's own says nothing about the secret."""
    elsewhere = problem_of(StoreUnavailable("gone"))
    assert probe.verdict(elsewhere.status, elsewhere.tag, elsewhere.message) == "unclear"
    assert probe.verdict(200, "", "") == "unclear"
    assert probe.verdict(400, "invalid-request", "Something else.") == "unclear"


def test_the_webhooks_own_check_accepts_it() -> None:
    """A probe is signed as the processor signs."""
    verify(probe.BODY, probe.signed(SIGNING_SECRET, START), [SIGNING_SECRET], START)
    assert probe.accepts_itself([SIGNING_SECRET, OTHER], START)
    assert not probe.accepts_itself([], START)
    assert not probe.accepts_itself([SIGNING_SECRET, b""], START)

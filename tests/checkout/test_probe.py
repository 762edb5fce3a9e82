"""The signed probe: each signing secret is tried, and nothing comes of it."""

import pytest

from orrery.checkout import probe
from orrery.checkout.probe import WebhookProbe
from orrery.checkout.signature import verify
from orrery.edge.problems import problem_of
from orrery.errors import Invalid, NotConfigured, StoreUnavailable
from orrery.runtime.secret_probe import RELOAD, ProbeContext, Remark
from tests.support.checkout import SIGNING_SECRET, Shop
from tests.support.clock import START, ManualClock
from tests.support.running import ServiceInMemory

OTHER = b"whsec_of_somebody_else"


async def answered(shop: Shop, secret: bytes) -> probe.ProbeVerdict:
    """Return what the webhook's answer to a probe says, and see that nothing came of it."""
    with pytest.raises((Invalid, NotConfigured)) as refused:
        await shop.webhook.receive(probe.BODY, probe.signed(secret, shop.clock.now()))
    assert await shop.entries() == []
    problem = problem_of(refused.value)
    return probe.verdict(problem.tag, problem.message)


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
    assert probe.verdict(elsewhere.tag, elsewhere.message) == "unclear"
    assert probe.verdict("", "") == "unclear"
    assert probe.verdict("invalid-request", "Something else.") == "unclear"


def test_the_webhooks_own_check_accepts_it() -> None:
    """A probe is signed as the processor signs."""
    verify(probe.BODY, probe.signed(SIGNING_SECRET, START), [SIGNING_SECRET], START)
    assert probe.accepts_itself([SIGNING_SECRET, OTHER], START)
    assert not probe.accepts_itself([], START)
    assert not probe.accepts_itself([SIGNING_SECRET, b""], START)


ITSELF = Remark("it accepts what it signed itself")


async def remarks(context: ProbeContext, *secrets: bytes) -> list[Remark]:
    """Return what the probe of these secrets says."""
    return [one async for one in WebhookProbe(ManualClock(), secrets).remarks(context)]


async def test_without_a_service_the_own_check_is_all() -> None:
    """Where no service runs, nothing is posted."""
    assert await remarks(ProbeContext(), SIGNING_SECRET) == [ITSELF]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ((SIGNING_SECRET,), Remark("the running webhook accepts a signed probe")),
        ((OTHER,), Remark("the running webhook refuses a signed probe", RELOAD)),
        ((), Remark("the running webhook has no secret", RELOAD)),
    ],
)
async def test_the_running_webhook_is_asked(held: tuple[bytes, ...], said: Remark) -> None:
    """The running webhook's refusal says whether it has the secret, and nothing comes of the probe."""
    shop = Shop(secrets=held)
    service = ServiceInMemory(shop=shop)
    assert await remarks(ProbeContext(service), SIGNING_SECRET) == [ITSELF, said]
    assert service.paths == ["/guided/api/webhook"]
    assert await shop.entries() == []


async def test_one_of_two_secrets_is_not_there_yet() -> None:
    """During a rotation each of the secrets is tried."""
    found = await remarks(ProbeContext(ServiceInMemory(shop=Shop())), SIGNING_SECRET, OTHER)
    assert found == [ITSELF, Remark("the running webhook refuses a signed probe", RELOAD)]


async def test_no_answer_tells_nothing() -> None:
    """A service that does not answer is not said to have another secret."""
    found = await remarks(ProbeContext(ServiceInMemory()), SIGNING_SECRET)
    assert found == [ITSELF, Remark("no webhook answers at the port of these settings", RELOAD)]

"""Each signing secret is tried with the webhook's own check, and with the webhook that runs."""

import pytest

from orrery.checkout.probe import WebhookProbe
from orrery.runtime.secret_probe import RESTART, ProbeContext, Remark
from tests.support.checkout import SIGNING_SECRET, Shop
from tests.support.clock import ManualClock
from tests.support.running import ServiceInMemory

pytestmark = pytest.mark.anyio

OTHER = b"whsec_of_somebody_else"
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
        ((OTHER,), Remark("the running webhook refuses a signed probe", RESTART)),
        ((), Remark("the running webhook has no secret", RESTART)),
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
    assert found == [ITSELF, Remark("the running webhook refuses a signed probe", RESTART)]


async def test_no_answer_tells_nothing() -> None:
    """A service that does not answer is not said to have another secret."""
    found = await remarks(ProbeContext(ServiceInMemory()), SIGNING_SECRET)
    assert found == [ITSELF, Remark("the running webhook gave no answer that tells", "See the service's log.")]

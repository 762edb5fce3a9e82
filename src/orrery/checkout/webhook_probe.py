"""The probe of the webhook's signing secrets: each signs a body that is no event."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from orrery.checkout import probe
from orrery.ports.clock import Clock
from orrery.ports.running_service import RunningService
from orrery.runtime.secret_probe import RESTART, ProbeContext, Remark

PATH = "/guided/api/webhook"


@dataclass(frozen=True, slots=True)
class WebhookProbe:
    """Tries the secrets with the webhook's own check, and with the webhook that runs."""

    clock: Clock
    secrets: Sequence[bytes] = field(repr=False)

    async def remarks(self, context: ProbeContext) -> AsyncIterator[Remark]:
        if not probe.accepts_itself(self.secrets, self.clock.now()):
            yield Remark("it does not accept what it signed itself", "Put the right value there.")
            return
        yield Remark("it accepts what it signed itself")
        if context.service:
            yield _delivered([await self._verdict(context.service, secret) for secret in self.secrets])

    async def _verdict(self, service: RunningService, secret: bytes) -> probe.ProbeVerdict:
        signature = probe.signed(secret, self.clock.now())
        refusal = await service.post(PATH, probe.BODY, {"Stripe-Signature": signature})
        return probe.verdict(refusal.status, refusal.error, refusal.message) if refusal else "unclear"


def _delivered(verdicts: Sequence[probe.ProbeVerdict]) -> Remark:
    if set(verdicts) == {"accepted"}:
        return Remark("the running webhook accepts a signed probe")
    if "unclear" in verdicts:
        return Remark("the running webhook gave no answer that tells", "See the service's log.")
    if "no secret" in verdicts:
        return Remark("the running webhook has no secret", RESTART)
    return Remark("the running webhook refuses a signed probe", RESTART)

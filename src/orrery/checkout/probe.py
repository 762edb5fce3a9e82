"""The probe: a signed body that is no event, to check a webhook's secret; it is never stored. Pure.

The webhook checks the signature before it reads the body, so its two refusals show which of them is wrong. The
check itself is the same for a probe (change rule 5); behind it the probe is the one signed body that is refused.
"""

import hashlib
import hmac
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from orrery.checkout.signature import verify
from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.ports.running_service import RunningService
from orrery.runtime.secret_probe import RELOAD, ProbeContext, Remark

BODY = b"A probe of Orrery's own: this is signed, and no event."

NOT_AN_EVENT = "The webhook's body is not an event."
"""The webhook's answer to a probe whose signature it accepts."""

NO_MATCH = "No signature matches."
"""The webhook's answer to a probe with another secret's signature."""

ProbeVerdict = Literal["accepted", "refused", "no secret", "no answer", "unclear"]

_OF_MESSAGE: dict[str, ProbeVerdict] = {NOT_AN_EVENT: "accepted", NO_MATCH: "refused"}


def signed(secret: bytes, now: datetime) -> str:
    """Return the signature header of a probe."""
    at = str(int(now.timestamp()))
    return f"t={at},v1={hmac.new(secret, at.encode() + b'.' + BODY, hashlib.sha256).hexdigest()}"


def accepts_itself(secrets: Sequence[bytes], now: datetime) -> bool:
    """Return whether the webhook's own check, with all of `secrets`, accepts a signature by each of them."""
    try:
        for secret in secrets:
            verify(BODY, signed(secret, now), secrets, now)
    except Invalid:
        return False
    return bool(secrets)


def verdict(tag: str, message: str) -> ProbeVerdict:
    """Return the meaning of the webhook's answer to a probe for the secret that signed it."""
    return "no secret" if tag == "not-configured" else _OF_MESSAGE.get(message, "unclear")


PATH = "/guided/api/webhook"


@dataclass(frozen=True, slots=True)
class WebhookProbe:
    """Tries the secrets with the webhook's own check, and with the webhook that runs."""

    clock: Clock
    secrets: Sequence[bytes] = field(repr=False)

    async def remarks(self, context: ProbeContext) -> AsyncIterator[Remark]:
        if not accepts_itself(self.secrets, self.clock.now()):
            yield Remark("it does not accept what it signed itself", "Put the right value there.")
            return
        yield Remark("it accepts what it signed itself")
        if context.service:
            yield _delivered([await self._verdict(context.service, secret) for secret in self.secrets])

    async def _verdict(self, service: RunningService, secret: bytes) -> ProbeVerdict:
        signature = signed(secret, self.clock.now())
        refusal = await service.post(PATH, BODY, {"Stripe-Signature": signature})
        return verdict(refusal.error, refusal.message) if refusal else "no answer"


def _delivered(verdicts: Sequence[ProbeVerdict]) -> Remark:
    if set(verdicts) == {"accepted"}:
        return Remark("the running webhook accepts a signed probe")
    if "no answer" in verdicts:
        return Remark("no webhook answers at the port of these settings", RELOAD)
    if "unclear" in verdicts:
        return Remark("the running webhook gave no clear answer", "See the service's log.")
    if "no secret" in verdicts:
        return Remark("the running webhook has no secret", RELOAD)
    return Remark("the running webhook refuses a signed probe", RELOAD)

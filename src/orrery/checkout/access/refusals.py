"""Refused webhooks: counted by reason, with one push for each outage (decision 44).

The address is open to the internet, so requests of strangers have little effect: only a header with the form of
the processor's counts towards an outage, and there is at most one push a day about it, however many come.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import structlog

from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import RefusedWebhooks
from orrery.checkout.signature import TOLERANCE, verify
from orrery.errors import Invalid, StoreError
from orrery.runtime import outbox
from orrery.runtime.collection import sortable
from orrery.runtime.lasting import Lasting, all_clear, push

Reason = Literal["no signature", "old signature", "clock", "wrong signature", "too large"]
"""Why a webhook is refused. `old signature`: a time more than 300 s away, not signed with our secret."""

SEVERAL = 3
"""How many refusals in a row, with nothing accepted between, are an outage."""

NOTED_EVERY = timedelta(minutes=10)
"""How often the last refusal of an outage is stored."""

_SIGNATURE = r",v[0-9]=[0-9a-f]{64}"
_LIKE_THE_PROCESSORS = re.compile(rf"t=([0-9]{{1,12}})(?=.*,v1=)(?:{_SIGNATURE}){{1,16}}")

log = structlog.get_logger()


class Refusals:
    """Counts refused webhooks, and notifies the owner of an outage."""

    def __init__(self, stored: CheckoutRecords, secrets: Sequence[bytes]) -> None:
        self._clock = stored.clock
        self._secrets = secrets
        self._outage = Lasting(stored.refused_webhooks, NOTED_EVERY)
        self.counts = Counter[str]()
        self._in_a_row = Counter[Reason]()
        self._pushed_on: dict[Reason, date] = {}
        self._may_be_open = True

    async def refused(self, body: bytes, header: str) -> None:
        """Note a webhook whose signature does not count; raises nothing of the store's."""
        reason = self._reason(body, header)
        self._note(reason)
        if reason in ("clock", "wrong signature"):
            self._in_a_row[reason] += 1
            if self._in_a_row[reason] >= SEVERAL:
                await self._notify(reason)
                # `orrery doctor` compares events with the last one.
                now = self._clock.now()
                _ = await self._outage.note(lambda known: known and known.change(last_at=now))

    async def too_large(self, header: str) -> None:
        """Note a body that is too large to be read, and so to be checked; raises nothing of the store's."""
        self._note("too large")
        signed_at = _signed_at(header)
        if signed_at and self._is_fresh(signed_at):
            await self._notify("too large")

    async def accepted(self) -> None:
        """Note a good signature, which ends an outage; raises nothing of the store's."""
        self._in_a_row.clear()
        if self._may_be_open:
            try:
                _ = await self._outage.end(_all_clear(self._clock.now()))
                self._may_be_open = False
            except StoreError as error:
                log.warning("end of refused webhooks not noted", why=str(error))

    def _note(self, reason: Reason) -> None:
        self.counts[reason] += 1
        log.warning("webhook refused", reason=reason)

    def _reason(self, body: bytes, header: str) -> Reason:
        signed_at = _signed_at(header)
        if signed_at is None:
            return "no signature"
        if self._is_fresh(signed_at):
            return "wrong signature"
        try:
            verify(body, header, self._secrets, signed_at)
        except Invalid:
            return "old signature"
        return "clock"

    def _is_fresh(self, signed_at: datetime) -> bool:
        return abs(self._clock.now().replace(microsecond=0) - signed_at) <= TOLERANCE

    async def _notify(self, reason: Reason) -> None:
        """Enqueue a push about an outage, once; for a refusal without an all-clear, once a day."""
        now = self._clock.now()
        if self._pushed_on.get(reason) == now.date():
            return
        outage = None if reason == "too large" else RefusedWebhooks(reason=reason, since=now, last_at=now)
        try:
            # It may have begun already: in another process, or in this one before a restart.
            _ = await self._outage.begin(outage, _push(reason, now))
        except StoreError as error:
            log.warning("refused webhooks not reported", why=str(error))
            return
        self._pushed_on[reason] = now.date()
        self._may_be_open = True


def _signed_at(header: str) -> datetime | None:
    """Return the signing time in a header with the form of the processor's."""
    found = _LIKE_THE_PROCESSORS.fullmatch(header)
    try:
        return datetime.fromtimestamp(int(found[1]), UTC) if found else None
    except (OverflowError, ValueError):  # a year that there is not
        return None


_CAUSES: dict[Reason, str] = {
    "wrong signature": (
        f"{SEVERAL} or more in a row carry a signature that does not match. If the processor sent them, the "
        "signing secret here is not its endpoint's, as after a rotation; else a stranger is trying the address."
    ),
    "clock": (
        f"{SEVERAL} or more in a row are signed with the right secret, at a time more than 300 s away: the clock "
        "of this machine is wrong, or a part on the way delivers late."
    ),
    "too large": (
        "One is larger than 1 MiB, so it was not read, and its signature not checked. The processor's events are "
        "far smaller; a stranger may be trying the address."
    ),
}


def _push(reason: Reason, now: datetime) -> outbox.OutboxDraft:
    return push(
        f"webhook-refused-{reason.replace(' ', '-')}-{now:%Y%m%d}",
        "A webhook is too large to be read" if reason == "too large" else "Webhooks are refused",
        f"{_CAUSES[reason]} Reconciliation grants sales meanwhile; `orrery doctor` lists what did not arrive.",
    )


def _all_clear(now: datetime) -> outbox.OutboxDraft:
    return all_clear(
        f"webhook-accepted-{sortable(now)}",
        "Webhooks are accepted again",
        "The last one carried a good signature. What was refused before is delivered again, or reconciled.",
    )

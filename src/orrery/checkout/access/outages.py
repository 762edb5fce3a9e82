"""What keeps payments from opening access (decision 37).

Refused webhooks (decision 44): the address is open to the internet, so requests of strangers have little effect.
Only a header with the form of the processor's counts towards an outage, and one a day is pushed at once, however
many come. They are counted in a row at each node, since a wrong secret or clock is a node's own; what one node has
noted, a webhook that any of them accepts ends (docs/decisions/0094).

Completed sessions that this store does not know: the store is empty, or older than they are. Each of our
sessions leaves a record here when it is made. One that has none was made over another store, such as one that was
lost. That is urgent: the owner may have a newer store or snapshot. It ends when reconciliation has opened them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.rules import bought
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import RefusedWebhooks, UnknownSales
from orrery.checkout.signature import TOLERANCE, verify
from orrery.errors import Invalid, StoreError
from orrery.logs import log
from orrery.ports.health import Finding
from orrery.ports.processor import CheckoutSession
from orrery.runtime import outbox
from orrery.runtime.lasting import Lasting, push
from orrery.runtime.watch import at_once

Reason = Literal["no signature", "old signature", "clock", "wrong signature", "too large"]
"""Why a webhook is refused. `old signature`: a time more than 300 s away, not signed with our secret."""

SEVERAL = 3
"""How many refusals in a row, with nothing accepted between, are an outage."""

NOTED_EVERY = timedelta(minutes=10)
LASTS = timedelta(hours=1)
"""How long a further outage of a day lasts before it is pushed."""
"""How often the last refusal of an outage is stored."""

_SIGNATURE = r",v[0-9]=[0-9a-f]{64}"
_LIKE_THE_PROCESSORS = re.compile(rf"t=([0-9]{{1,12}})(?=.*,v1=)(?:{_SIGNATURE}){{1,16}}")


class Refusals:
    """Counts refused webhooks, and notifies the owner of an outage."""

    def __init__(self, stored: CheckoutRecords, secrets: Sequence[bytes]) -> None:
        self._stored, self._clock = stored, stored.clock
        self._secrets = secrets
        self._outage = Lasting(stored.refused_webhooks, NOTED_EVERY, always=True)
        self.counts = Counter[str]()
        self._in_a_row = Counter[Reason]()
        self._too_large_on: date | None = None
        # As the store was read last, at the latest by the last health round.
        self._may_be_open, self._has_begun = True, False

    async def refused(self, body: bytes, header: str) -> None:
        """Note a webhook whose signature does not count; raises nothing of the store's."""
        reason = self._reason(body, header)
        self._note(reason)
        if reason in ("clock", "wrong signature"):
            self._in_a_row[reason] += 1
            if self._in_a_row[reason] >= SEVERAL:
                await self._begin(reason)
                # `orrery doctor` compares events with the last one.
                now = self._clock.now()
                _ = await self._outage.note(lambda known: known and known.change(last_at=now))

    async def too_large(self, header: str) -> None:
        """Note a body that is too large to be read, and so to be checked; raises nothing of the store's."""
        self._note("too large")
        signed_at = _signed_at(header)
        if signed_at and self._is_fresh(signed_at):
            await self._report_too_large()

    async def accepted(self) -> None:
        """Note a good signature, which ends an outage; raises nothing of the store's."""
        self._in_a_row.clear()
        if self._may_be_open:
            try:
                await self._outage.end()
                self._may_be_open = self._has_begun = False
            except StoreError as error:
                log.warning("end of refused webhooks not noted", why=str(error))

    async def local(self) -> list[Finding]:
        """Return whether webhooks are refused."""

        def judged(refused: RefusedWebhooks | None) -> Finding:
            # Another node may have begun it, or ended it.
            self._may_be_open = self._has_begun = refused is not None
            return _finding(refused, self._clock.now())

        return await self._outage.finding(judged)

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
        return any(abs(one.replace(microsecond=0) - signed_at) <= TOLERANCE for one in self._stored.times())

    async def _begin(self, reason: Reason) -> None:
        """Note the beginning of an outage, unless one has begun: at another node, or before a restart.

        Anybody can cause one, so only the first of a day is pushed at once, and the next ones when they last.
        """
        if self._has_begun:
            return
        now, pushed = self._clock.now(), self._stored.refused_on
        day = f"{now:%Y%m%d}-{reason.replace(' ', '-')}"
        try:
            again = await pushed.get(day) is not None
            begun = RefusedWebhooks(reason=reason, since=now, last_at=now, again=again)
            push = at_once(self._stored.store, self._clock, _finding(begun, now)) + pushed.added(day, b"1")
            await self._outage.begin(begun, None if again else push)
        except StoreError as error:
            log.warning("refused webhooks not reported", why=str(error))
            return
        self._may_be_open = self._has_begun = True

    async def _report_too_large(self) -> None:
        """Push once a day that a body was too large, which has no end."""
        now = self._clock.now()
        if self._too_large_on == now.date():
            return
        try:
            _ = await outbox.notify_once(self._stored.store, self._clock, _too_large(now))
        except StoreError as error:
            log.warning("refused webhooks not reported", why=str(error))
            return
        self._too_large_on = now.date()


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
}

_MEANWHILE = (
    "Sales are granted by reconciliation meanwhile. `orrery checkout events --failed` lists what did not arrive."
)


def _finding(refused: RefusedWebhooks | None, now: datetime) -> Finding:
    if refused is None:
        why = "None is refused now. What was refused before is delivered again, or reconciled."
        return Finding(WEBHOOKS, "ok", why, essential=False, settled=True)
    cause = next((text for reason, text in _CAUSES.items() if reason == refused.reason), refused.reason)
    why, early = f"They are refused: {cause}", refused.again and now - refused.since < LASTS
    # Another cause is another problem, so what was acknowledged of the first comes back.
    cause_of_it = (refused.reason,)
    return Finding(
        WEBHOOKS, "broken", why, _MEANWHILE, essential=False, settled=True, early=early, items=cause_of_it
    )


def _too_large(now: datetime) -> outbox.OutboxDraft:
    body = (
        "It is larger than 1 MiB, so it was not read, and its signature not checked. The processor's events are "
    )
    return push(
        f"webhook-refused-too-large-{now:%Y%m%d}",
        "A webhook is too large to be read",
        f"{body}far smaller; a stranger may be trying the address. {_MEANWHILE}",
    )


PART, WEBHOOKS = "sales of this store", "webhooks"

ANOTHER_STORE = "Another store sold it, which this one does not know: whether it was sent is not known."
"""Why notifications about such a session are held back."""

SessionOrigin = Literal["known", "unknown", "imported"]

_WHY = "The processor lists completed sessions that this store does not know: it is empty, or older than they are."
_TODO = (
    "`orrery checkout reconcile --dry-run` lists them. If there is a newer store or snapshot, stop the service "
    "and put that in place with `orrery restore`. Else "
    "reconciliation opens the sessions and holds back their messages (`orrery notifications list --state held`); "
    "`orrery checkout reconcile` names those that it cannot open, for `orrery access grant --session`."
)
_OPENED = (
    "Each completed session at the processor is known here. If another store sold some, their messages are held "
    "back: see `orrery notifications list --state held`."
)
_UNKNOWN = Finding(PART, "broken", _WHY, _TODO, settled=True, essential=True)


class UnknownSalesWatch:
    """Notes such sessions in the store."""

    def __init__(self, stored: CheckoutRecords, lookup: Lookup) -> None:
        self._stored = stored
        self._lookup = lookup
        # By session: what is made here, and what has access.
        self._known = stored.offers, stored.access, stored.own_sessions
        self._noted = Lasting(stored.unknown_sales)

    async def origin(self, session: CheckoutSession) -> SessionOrigin:
        """Return whether a completed session is ours, and was made over another store.

        `imported`: it was, and its access came here with an import of that buyer since.

        While there are such sessions, one that an earlier reconciliation could not open is still one of them.
        """
        if bought(session) is None or session.payment_status == "unpaid":
            return "known"
        if any([await one.entry(session.id) for one in self._known]):
            return "known"
        if await self._was_imported(session):
            return "imported"
        if await self._stored.pending.entry(session.id) is None:
            return "unknown"
        pending = await self._stored.pending.find(session.id)
        seen_by_reconciliation = pending is not None and pending.record.event_id is None
        return "unknown" if seen_by_reconciliation and await self.are_noted() else "known"

    async def _was_imported(self, session: CheckoutSession) -> bool:
        product = bought(session)
        return any(
            one.granted_by == "import" and one.product == product and session.created <= one.granted_at
            for one in (await self._lookup.found_of(session.email or "")).values()
        )

    async def are_noted(self) -> bool:
        """Return whether there are such sessions that have no access yet."""
        return await self._stored.unknown_sales.entry() is not None

    async def note(self) -> None:
        """Store that there are such sessions, with one urgent push, unless that is stored already."""
        store, clock = self._stored.store, self._stored.clock
        # The same reconciliation may open them all.
        await self._noted.begin(UnknownSales(since=clock.now()), at_once(store, clock, _UNKNOWN))

    async def opened(self) -> None:
        """Store that all of them have access now."""
        await self._noted.end()

    async def local(self) -> list[Finding]:
        """Return whether the processor has sales that this store does not know."""
        try:
            lasts = await self.are_noted()
        except StoreError:  # that has a separate finding
            return []
        if lasts:
            return [_UNKNOWN]
        return [Finding(PART, "ok", _OPENED, settled=True, essential=True)]

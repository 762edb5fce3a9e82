"""The webhook: check the signature, store the event, act on the one type that we handle (decision 7).

A completed session becomes access and notifications, in one commit, once (decision 9). A replay trusts only the
processor: Orrery fetches the event with its own key, and then handles it as one with a valid signature.

Change rule 5: before another event type is added to the switch, this module is read whole.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus

from orrery.checkout import probe
from orrery.checkout.access.events import Events, RawEvent, ReceivedResult
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.outages import Refusals
from orrery.checkout.access.report import with_refused
from orrery.checkout.access.rules import UNPAID, AccessVerdict, bought, grant, judge
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import EventIdReused
from orrery.checkout.records import AccessEnd, GrantedBy, Offer, WithheldSession
from orrery.checkout.signature import verify
from orrery.errors import Invalid, NotConfigured, NotFound, RecordUnreadable
from orrery.logs import log
from orrery.ports.processor import CheckoutSession, PartialEvent, ProcessorEvent, ProcessorReads, ProcessorRefused
from orrery.ports.store import Absent, Conflict, Delete, Write
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, compare_and_set, write
from orrery.runtime.lasting import alarm


@dataclass(frozen=True, slots=True)
class FulfilmentSource:
    """What made Orrery handle a session: a webhook event with its raw body, a reconciliation, or the owner."""

    granted_by: GrantedBy
    event: RawEvent | None = None
    livemode: bool | None = None
    """The event's."""
    held_because: str = ""
    """Why notifications are held back: they may have been sent before."""
    is_unknown: bool = False
    """Another store made the session: that this one withholds access is news all the same."""

    @property
    def event_id(self) -> str | None:
        """Return the id of the event, if one reports the session."""
        return self.event.id if self.event else None

    @property
    def happened_at(self) -> datetime | None:
        """Return when the event happened, if one reports the session."""
        return self.event.read.created if self.event and isinstance(self.event.read, ProcessorEvent) else None


class Fulfilment:
    """Turns completed sessions into access records."""

    def __init__(
        self,
        stored: CheckoutRecords,
        notifications: Notifications,
        events: Events,
        *,
        livemode: bool,
    ) -> None:
        self._stored = stored
        self._notifications = notifications
        self._events = events
        self._livemode = livemode

    async def settle(
        self, session: CheckoutSession, source: FulfilmentSource, offer: Offer | None = None
    ) -> AccessVerdict:
        """Grant, hold back or ignore a completed `session`; a repeat changes nothing.

        `offer` replaces a stored offer that is missing or unreadable. Raises `StoreUnavailable` or
        `OutcomeUnknown`; and, with nothing written, `EventIdReused` when another event is stored under the
        source's id, and `RecordUnreadable` when a record that decides cannot be read.
        """
        # With an event there is a commit, which checks that; without one there may be nothing to commit.
        if source.event is None and await self._is_erased(session):
            return await self._settle_erased(session, source, Changes())
        try:
            return await self._settle_once(session, source, offer)
        except RecordUnreadable:
            # An erased session, or one with access, needs no other record. An unreadable one is raised again.
            event_writes = self._events.writes_of(source.event)
            if await self._is_erased(session):
                return await self._settle_erased(session, source, event_writes)
            if already := await self._already(session, source, event_writes):
                return already
            raise

    async def _settle_once(
        self, session: CheckoutSession, source: FulfilmentSource, offer: Offer | None
    ) -> AccessVerdict:
        verdict = await self._compared(session, offer, of_event=source.livemode)
        product = bought(session)
        # The commit's own checks show whether another was first: an earlier event, a reconciliation, an erasure,
        # or an earlier purchase of the same buyer. Only then the cause is read.
        event_writes, is_first = self._events.writes_of(source.event), True
        erased = Absent(self._stored.erased.key(self._stored.erasure_id(session.id)))
        grants = product if verdict.result == "granted" else None
        held_because = "" if source.is_unknown and not grants else source.held_because

        async def attempt() -> AccessVerdict | Conflict:
            nonlocal event_writes, is_first
            now = self._stored.clock.now()
            if grants:
                changes, drafts = await self._granting(session, grants, source, verdict, now, is_first=is_first)
            else:
                changes, drafts = await self._withholding(session.id, source, verdict)
            changes = event_writes + changes + Changes(checks=[erased])
            if changes.writes:
                outcome = await outbox.commit_with(
                    self._stored.store, changes, drafts, now, held_because=held_because
                )
                if isinstance(outcome, Conflict):
                    is_first = False
                    event_writes = await self._events.writes_after(outcome, source.event)
                    if erased.key in outcome.keys:
                        return await self._settle_erased(session, source, event_writes)
                    return await self._already(session, source, event_writes) or outcome
            what = "access granted" if grants else "access withheld"
            log.info(what, session=session.id, result=verdict.result, reason=verdict.reason, by=source.granted_by)
            return verdict

        return await compare_and_set(
            attempt, "The store is too busy to settle the session; the event will come again."
        )

    async def _is_erased(self, session: CheckoutSession) -> bool:
        return await self._stored.erased.entry(self._stored.erasure_id(session.id)) is not None

    async def _settle_erased(
        self, session: CheckoutSession, source: FulfilmentSource, event_writes: Changes
    ) -> AccessVerdict:
        """Note that its event came, without the content where a restore has lost the record of its access."""
        already = await self._already(session, source, event_writes)
        if already is None and source.event:
            _ = await self._events.keep(source.event.erased)
        return already or AccessVerdict("already")

    async def judge(
        self, session: CheckoutSession, offer: Offer | None = None, *, of_event: bool | None = None
    ) -> AccessVerdict:
        """Return what `settle` would do, and write nothing; raise `RecordUnreadable`.

        `of_event` is the livemode of the event, if one reports the session.
        """
        if await self._is_erased(session):
            return AccessVerdict("erased")
        return await self._compared(session, offer, of_event=of_event)

    async def _compared(
        self, session: CheckoutSession, offer: Offer | None, *, of_event: bool | None
    ) -> AccessVerdict:
        try:
            known = await self._stored.offers.get(session.id)
            return judge(session, known.record if known else offer, livemode=self._livemode, of_event=of_event)
        except RecordUnreadable:
            if offer is None:
                raise
        verdict = judge(session, offer, livemode=self._livemode, of_event=of_event)
        return replace(verdict, notes=(*verdict.notes, "Its offer cannot be read; it was held against today's."))

    async def _granting(
        self,
        session: CheckoutSession,
        product: ProductKey,
        source: FulfilmentSource,
        verdict: AccessVerdict,
        now: datetime,
        *,
        is_first: bool,
    ) -> tuple[Changes, list[outbox.OutboxDraft]]:
        """Return what grants access, from the end of what runs, and the messages about it.

        The first attempt takes it that nothing runs, as for most buyers: a conflict shows that something does.
        """
        end_ids = self._stored.end_ids(session.email, product) if session.email else []
        found = [None if is_first else await self._stored.ends.get(one) for one in end_ids]
        checks = [self._stored.ends.as_read(*one) for one in zip(end_ids, found, strict=True)]
        record = grant(
            session,
            product,
            event_id=source.event_id,
            granted_by=source.granted_by,
            now=now,
            running_until=max((one.record.expires_at for one in found if one), default=None),
            title=verdict.title or self._notifications.emails.catalogue.title_of(product),
        )
        if source.happened_at:
            record = record.change(paid_at=source.happened_at)
        elif (waited := await self._stored.pending.find(session.id)) and waited.record.reason == UNPAID:
            record = record.change(paid_at=now)  # its session may be days older than its money
        writes: list[Write] = [Delete(self._stored.pending.key(session.id))]
        if record.email:
            end = AccessEnd(expires_at=record.expires_at)
            writes.append(self._stored.ends.put(end, end_ids[0]))
        record = self._notifications.emails.in_series(record)
        changes = self._stored.access.changes(session.id, None, record) + Changes(writes, checks)
        return changes, self._notifications.sold(record, verdict.notes)

    async def _withholding(
        self, session_id: str, source: FulfilmentSource, verdict: AccessVerdict
    ) -> tuple[Changes, list[outbox.OutboxDraft]]:
        """Return what notes a session without access, and the push about it if that is new."""
        if verdict.result == "foreign":
            return Changes(), []
        no_access = Changes(checks=[Absent(self._stored.access.key(session_id))])
        found, now = await self._stored.pending.get(session_id), self._stored.clock.now()
        state = "waiting" if verdict.result == "waiting" else "refused"
        if found and found.record.reason == verdict.reason:
            if state == "refused" or found.expires_at is None or found.record.failed_at:
                return no_access, []
            # An earlier release kept it for 90 days. The wait is kept until it is decided (decision 49).
            return no_access + self._stored.pending.changes(session_id, found, found.record, renewed=True), []
        pending = WithheldSession(
            session_id=session_id, state=state, reason=verdict.reason, event_id=source.event_id, noted_at=now
        )
        changes = no_access + self._stored.pending.changes(session_id, found, pending)
        if state == "refused" and source.event_id is None:
            return changes, []  # the reconciliation that found it lists it
        if state == "refused" and (last := await self._stored.reconciled.get()):
            listed = with_refused(last.record, session_id, verdict.reason)  # it is a problem at once
            return changes + self._stored.reconciled.changes("", last, listed), []
        return changes, [self._notifications.withheld(session_id, verdict.reason)]

    async def _already(
        self, session: CheckoutSession, source: FulfilmentSource, event_writes: Changes
    ) -> AccessVerdict | None:
        found = await self._stored.access.get(session.id)
        if found is None:
            return None
        # A late event must not bring back the buyer whom an erasure has taken out.
        erased = bool(session.email) and not found.record.email
        if event_writes.writes and source.event:
            _ = await self._events.keep(source.event.erased if erased else source.event)
        return AccessVerdict("already")


_CAN_BE_SIGNED = re.compile(r"(?=.*t=[0-9]).*v1=[0-9a-f]{64}", re.DOTALL)
"""The least that a header needs for the check to accept any body."""


_ID = re.compile(r"evt_[A-Za-z0-9_]{1,250}")


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replayed event."""

    id: str
    type: str | None
    session_id: str | None
    result: ReceivedResult


class WebhookReceiver:
    """Receives the processor's events, and again one that the owner names."""

    def __init__(
        self,
        stored: CheckoutRecords,
        reads: ProcessorReads,
        fulfilment: Fulfilment,
        events: Events,
        secrets: Sequence[bytes],
        *,
        livemode: bool,
    ) -> None:
        self._stored = stored
        self._reads = reads
        self._fulfilment = fulfilment
        self._events = events
        self._secrets = secrets
        self._livemode = livemode
        self.refusals = Refusals(stored, secrets)

    async def require_signature(self, signature: str) -> None:
        """Refuse a request without a usable header before its body is read; raises as `receive` does.

        An old time is not refused here: with the body it shows whether this machine's clock is wrong.
        """
        if not self._secrets:
            raise NotConfigured("The webhook has no signing secret.")
        if not _CAN_BE_SIGNED.match(signature):
            await self.refusals.refused(b"", signature)
            raise Invalid("The webhook carries no signature.")

    async def receive(self, body: bytes, signature: str) -> ReceivedResult:
        """Check and store one event, and grant what it completes; a duplicate changes nothing.

        A body with a valid signature is stored: `unreadable` means that it cannot be read, and `conflict` that the
        event id came before with other contents, which stay (decision 44). Raises `NotConfigured` without a
        signing secret, `Invalid` when the signature is wrong or the body is our own probe (nothing is stored
        then), `StoreUnavailable` or `OutcomeUnknown` when the event must come again.
        """
        if not self._secrets:
            raise NotConfigured("The webhook has no signing secret.")
        try:
            verify(body, signature, self._secrets, *self._stored.times())
        except Invalid:
            if body != probe.BODY:
                await self.refusals.refused(body, signature)
            raise
        if body == probe.BODY:
            raise Invalid(probe.NOT_AN_EVENT)
        result = await self.receive_verified(self._events.read(body))
        await self.refusals.accepted()
        return result

    async def receive_verified(self, event: RawEvent) -> ReceivedResult:
        """Store one verified event of the processor, and grant what it completes; a repeat changes nothing.

        Only two callers are permitted (change rule 5): `receive`, after a valid signature, and the owner's replay,
        whose body Orrery fetched from the processor with its own key, or stored after a valid signature. No other
        input from outside may come here.
        """
        try:
            match event.read:
                case ProcessorEvent(type="checkout.session.completed", session=CheckoutSession() as session):
                    source = FulfilmentSource("webhook", event, event.read.livemode)
                    return (await self._fulfilment.settle(session, source)).result
                case PartialEvent() | ProcessorEvent(type="checkout.session.completed"):
                    return "unreadable" if await self._events.keep_unreadable(event) else "duplicate"
                case _:
                    return "ignored" if await self._events.keep(event) else "duplicate"
        except EventIdReused:
            log.warning("event id came with other contents", event_id=event.id)
            await outbox.notify_once(self._stored.store, self._stored.clock, _reused_push(event.id))
            return "conflict"

    async def replay(self, event_id: str) -> Replay:
        """Fetch an event from the processor and receive it as its webhook would; a repeat changes nothing.

        Where the processor no longer has the event, or sends it in a form that Orrery cannot read, the stored body
        of the webhook is used. Raises `Invalid` for an id that is no event's or of another mode, `NotFound`, and
        the processor's and store's errors.
        """
        kept = await self._events.body(event_id)
        body = await self._fetched(event_id, kept)
        replayed = await self._received(event_id, body)
        if replayed.result == "unreadable" and kept is not None and kept != body:
            replayed = await self._received(event_id, kept)
        if replayed.result != "unreadable" and replayed.id != event_id:
            await write(self._stored.store, [Delete(self._stored.unreadable_events.key(event_id))])
        return replayed

    async def _received(self, event_id: str, body: bytes) -> Replay:
        event = self._events.read(body)
        read, session_id = event.read, None
        if not isinstance(read, PartialEvent):
            if read.livemode != self._livemode:
                modes = ("live", "test") if read.livemode else ("test", "live")
                raise Invalid(f"It is a {modes[0]} event, and this service sells in {modes[1]} mode.")
            event_id, session_id = read.id, read.session.id if read.session else None
        return Replay(event_id, read.type, session_id, await self.receive_verified(event))

    async def _fetched(self, event_id: str, kept: bytes | None) -> bytes:
        """Return the event from the processor, or `kept` where the processor no longer has it."""
        if not _ID.fullmatch(event_id):
            if kept is None:
                raise Invalid("That is no id of an event: it begins with evt_.")
            return kept
        try:
            return await self._reads.get_event(event_id)
        except ProcessorRefused as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            if kept is None:
                raise NotFound("The processor knows no such event; it keeps them for 30 days.") from None
            return kept


def _reused_push(event_id: str) -> outbox.OutboxDraft:
    return alarm(
        f"event-reused-{event_id}",
        "An event id came again with other contents",
        f"Event {event_id}: the first is kept, and the second opened nothing. Both were signed with the secret "
        "of the webhook. If the processor's dashboard does not explain it, rotate the secret.",
    )

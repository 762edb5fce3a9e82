"""One product's trial at the processor, which may be killed anywhere and is continued from its stored state.

    asked ──▶ open ──▶ expired       and the receipt is stored
      │         ├──▶ completed       the same; a person paid first, and the owner has to refund
      │         └──▶ left open       the same; expiring the session waits for the owner's approval
      │         └──▶ rejected        no receipt: the session, now expired, is not what was asked for
      └──▶ rejected                  no receipt

The idempotency key is written before the request: a repeated request with it gets the same session.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from orrery.approvals.approvals import Approvals
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.collections import TRIAL_LEFT, CheckoutRecords, trial_id
from orrery.checkout.records import KEEP_TRIALS, OwnSession, PreflightTrial, Receipt, TrialState
from orrery.checkout.selling.receipts import (
    parameters_of,
    price_of,
    trial_key,
    wrong_content,
)
from orrery.checkout.selling.sessions import TRIES, Expiry, SessionRequest, ask_for_session
from orrery.errors import Invalid, NotConfigured, RecordUnreadable
from orrery.logs import log
from orrery.ports.processor import (
    CheckoutSession,
    Processor,
    ProcessorError,
    ProcessorRefused,
    ProcessorUnreachable,
)
from orrery.ports.store import Delete, Put, Write
from orrery.runtime import outbox
from orrery.runtime.collection import Walk, write
from orrery.runtime.lasting import push
from orrery.syntax.lines import one_line
from orrery.syntax.reason import LONGEST_REASON

DEADLINE = 10.0
"""Seconds for the first try of a session; the second has what is left of twice as many."""

LONGEST_TRIAL = timedelta(minutes=5)
"""How long after its request a trial is over or was interrupted."""

LIFE_OF_A_SESSION = timedelta(hours=25)
"""After this an open session has expired by itself: the processor gives it 24 hours, and clocks differ."""

TrialResult = Literal[
    "accepted",
    "tried",
    "rejected",
    "unanswered",
    "unsettled",
    "completed",
    "left open",
    "cleaned up",
    "unreadable",
    "mistake",
]

_RESULTS: dict[TrialState, TrialResult] = {
    "asked": "unanswered",
    "open": "unsettled",
    "rejected": "rejected",
    "completed": "completed",
    "left open": "left open",
    "gone": "unreadable",
}

_UNREADABLE = "What an earlier run did about it cannot be read; a session that it left expires by itself in a day."

_NOT_ITS_OWN = "Its record was altered: its session is not the run's own. Nothing was expired; run it again."

_CLEANED = "A session of an earlier run is expired."


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """The result of one product in a run.

    accepted: the receipt is stored. tried: accepted with another's price, no receipt. unanswered: ask again.
    unsettled: accepted, but whether its session is expired is not known yet. completed: accepted, but a person
    completed the session, so that the owner may have to refund it. left open: accepted, its session is open and
    `intent_id` waits for approval. cleaned up: a session of an earlier run is closed. unreadable: the trial of an
    earlier run cannot be read. mistake: the settings cannot be used, and were not tried.
    """

    product: str
    result: TrialResult
    session_id: str | None = None
    note: str = ""
    intent_id: str | None = None

    @property
    def is_well(self) -> bool:
        """Return whether nothing is left to be done about it."""
        return self.result in {"accepted", "tried", "cleaned up"}


class Trials:
    """Sends parameters, stores each state, expires sessions under the run's approval, and stores receipts."""

    def __init__(
        self, stored: CheckoutRecords, processor: Processor, approvals: Approvals, expiry: Expiry
    ) -> None:
        self._stored = stored
        self._processor = processor
        self._approvals = approvals
        self._expiry = expiry

    async def of(self, run_id: str, product: ProductKey) -> PreflightTrial | None:
        """Return the trial of a product in a run; an unreadable one is started again."""
        found = await self._stored.trials.find(trial_id(run_id, product))
        return found.record if found else None

    async def interrupted(self) -> int:
        """Return how many unfinished trials no process can still be running."""
        now, left = self._stored.clock.now(), await self.unfinished()
        return sum(one is None or abs(now - one.asked_at) >= LONGEST_TRIAL for one in left.values())

    async def unfinished(self) -> dict[str, PreflightTrial | None]:
        """Return by its id every trial that may have left its session open; None for one that cannot be read."""
        return {name: one for name, one in (await self._left()).items() if one is None or one.is_unfinished}

    async def completed(self) -> list[PreflightTrial]:
        """Return the trials of this deployment, of the last 30 days, whose session was completed."""
        left, here = (await self._left()).values(), self._approvals.deployment
        return [one for one in left if one and one.state == "completed" and one.deployment == here]

    async def _left(self) -> dict[str, PreflightTrial | None]:
        found: dict[str, PreflightTrial | None] = {}
        async for index in Walk(TRIAL_LEFT).entries(self._stored.store, self._stored.clock):
            left = index.key.removeprefix(TRIAL_LEFT)
            if await self._stored.trials.entry(left):
                trial = await self._stored.trials.find(left)
                found[left] = trial.record if trial else None
        return found

    async def finish(self, trial: PreflightTrial, *, sells: bool = True) -> PreflightTrial:
        """Continue a trial from its state to its end; where it `sells`, an acceptance stores the receipt.

        Else what becomes of an expired one is the caller's to store.
        """
        if trial.is_unfinished:
            trial = await self._with_session(trial)
        if trial.state != "open":
            return trial
        trial = await self._closed(trial)
        if sells and trial.mismatch and trial.state == "expired":
            trial = _after(trial, "rejected", trial.mismatch)
        if trial.state == "expired" and not sells:
            return trial
        receipt = [self._receipt(trial)] if sells and not (trial.stand_in or trial.mismatch) else []
        pushes = [_completed_push(trial)] if trial.state == "completed" else []
        await self._keep(trial, [*receipt, *outbox.enqueue(pushes, self._stored.clock.now())])
        log.info("preflight", product=trial.product.name, state=trial.state, session=trial.session_id)
        return trial

    async def clean_up(self, left: str, trial: PreflightTrial | None) -> TrialOutcome:
        """Expire the session that an earlier run may have left open, without storing a receipt."""
        name = "/".join(left.split(":")[-2:])
        if trial is None:
            await write(self._stored.store, [Delete(f"{TRIAL_LEFT}{left}")])
            return TrialOutcome(name, "unreadable", note=_UNREADABLE)
        if gone := self._why_gone(trial):
            await self._keep(_after(trial, "gone", gone))
            return TrialOutcome(name, "cleaned up", note=gone)
        trial = await self.finish(trial, sells=False)
        if trial.state != "expired":
            return outcome_of(trial)
        # Without a receipt it is no acceptance: a later run under the same approval asks again.
        await self._keep(_after(trial, "gone", _CLEANED))
        return TrialOutcome(name, "cleaned up", trial.session_id, _CLEANED)

    def _why_gone(self, trial: PreflightTrial) -> str:
        if trial.deployment != self._approvals.deployment:
            return "It was tried in another mode or at another processor, where its session expires by itself."
        if trial.state == "asked" and self._stored.clock.now() - trial.asked_at >= LIFE_OF_A_SESSION:
            return "Its session would have expired by itself."
        return ""

    async def _with_session(self, trial: PreflightTrial) -> PreflightTrial:
        """Return the trial with its session, `open`, or in the state that explains why it has none."""
        if trial.state == "open":
            if not await self._expiry.is_own(trial.run_id, trial.session_id or ""):
                trial = _after(trial, "gone", _NOT_ITS_OWN)
                await self._keep(trial)
            return trial
        trial = trial.change(asked_at=self._stored.clock.now())
        await self._keep(trial)

        async def renew(_: str) -> str:
            nonlocal trial
            trial = asked_again(trial)
            await self._keep(trial)
            return trial.idempotency_key

        request = SessionRequest(parameters_of(trial), trial.api_version, renew)
        # Computed, not read: a key that was put into the record may lead to another's session.
        key = trial_key(trial.run_id, trial.product, trial.attempt)
        try:
            session = await ask_for_session(
                self._processor, self._stored.clock, request, key, seconds=TRIES * DEADLINE
            )
        except ProcessorRefused as error:
            named = f" ({error.param})" if error.param else ""
            trial = _after(trial, "rejected", f"{error}{named}")
            await self._keep(trial)
            return trial
        except ProcessorUnreachable as error:
            return _after(trial, "asked", f"{error} Run it again.")
        return await self._with_new_session(trial, session)

    async def _with_new_session(self, trial: PreflightTrial, session: CheckoutSession) -> PreflightTrial:
        wrong = "" if trial.stand_in else wrong_content(session, trial.product, price_of(parameters_of(trial)))
        trial = trial.change(
            state="open",
            session_id=session.id,
            amount_total=session.amount_total,
            currency=session.currency,
            mismatch=f"The processor made a session of something else: {wrong}." if wrong else "",
        )
        own = OwnSession(
            session_id=session.id, made_by="preflight", run_id=trial.run_id, made_at=self._stored.clock.now()
        )
        await self._keep(trial, [self._stored.own_sessions.put(own, session.id)])
        return trial

    async def _closed(self, trial: PreflightTrial) -> PreflightTrial:
        """Expire the trial's session under its run's approval; what fails is read, and queued for the owner.

        It stays `open` where the expiry may still be under way.
        """
        session_id = trial.session_id or ""
        try:
            note = await self._approvals.use(trial.intent_id, session_id)
        except (ProcessorError, Invalid, NotConfigured, RecordUnreadable) as error:
            return await self._not_expired(trial, session_id, error)
        return _after(trial, "expired", note)

    async def _not_expired(
        self,
        trial: PreflightTrial,
        session_id: str,
        error: ProcessorError | Invalid | NotConfigured | RecordUnreadable,
    ) -> PreflightTrial:
        with suppress(ProcessorError, NotConfigured):
            session = await self._processor.get_session(session_id)
            if session.status == "expired":
                return _after(trial, "expired", "Reading shows that it is expired.")
            if session.status == "complete":
                return _after(trial, "completed", _completed(session))
        if type(error) is Invalid:  # it may still be under way: no refusal of the approval, and no lost intent
            return _after(trial, "open", f"{error} Then run it again.")
        # One line, whatever the processor's sentence holds.
        reason = one_line(f"A preflight could not expire its session: {error}", LONGEST_REASON)
        intent = await self._expiry.propose(session_id, reason, "software")
        return _after(trial, "left open", str(error)).change(expiry_intent_id=intent.id)

    async def _keep(self, trial: PreflightTrial, more: Sequence[Write] = ()) -> None:
        of_trial = trial_id(trial.run_id, trial.product)
        kept, left = self._stored.trials.put(trial, of_trial), f"{TRIAL_LEFT}{of_trial}"
        index = Put(left, b"", KEEP_TRIALS) if trial.needs_attention else Delete(left)
        await write(self._stored.store, [kept, index, *more])

    def _receipt(self, trial: PreflightTrial) -> Put:
        receipt = Receipt(
            vendor_slug=trial.vendor_slug,
            cert_code=trial.cert_code,
            digest=trial.digest,
            parameters=trial.parameters,
            api_version=trial.api_version,
            run_id=trial.run_id,
            deployment=trial.deployment,
            session_id=trial.session_id or "",
            accepted_at=self._stored.clock.now(),
            amount_total=trial.amount_total,
            currency=trial.currency,
        )
        return self._stored.receipts.put(receipt, trial.product.id)


def asked_again(trial: PreflightTrial) -> PreflightTrial:
    """Return the trial with a key that was not used yet."""
    attempt = trial.attempt + 1
    key = trial_key(trial.run_id, trial.product, attempt)
    return trial.change(state="asked", attempt=attempt, idempotency_key=key, note="")


def _after(trial: PreflightTrial, state: TrialState, note: str) -> PreflightTrial:
    return trial.change(state=state, note=note)


def outcome_of(trial: PreflightTrial) -> TrialOutcome:
    """Return the result of a trial as far as it came."""
    result = _RESULTS.get(trial.state) or ("tried" if trial.stand_in else "accepted")
    has_session = trial.state not in {"asked", "rejected", "gone"}
    intent_id = trial.expiry_intent_id if trial.state == "left open" else None
    return TrialOutcome(
        trial.product.name, result, trial.session_id if has_session else None, trial.note, intent_id
    )


def _completed(session: CheckoutSession) -> str:
    """Return the push about a completed test session."""
    if session.payment_status == "no_payment_required":
        return f"Somebody completed it before it could be expired; there was nothing to pay. {_access(session)}"
    paid = session.payment_status == "paid"
    done = "Somebody paid it" if paid else "Somebody completed it, and its payment is under way,"
    todo = "refund it by hand at the processor's dashboard."
    money = todo if session.livemode else "it is not of live mode, so no money moves."
    return f"{done} before it could be expired: {money} {_access(session)}"


def _access(session: CheckoutSession) -> str:
    return f"It may open access: see `orrery access show {session.id}`."


def _completed_push(trial: PreflightTrial) -> outbox.OutboxDraft:
    body = f"Session {trial.session_id} of a preflight of {trial.product.name}. {trial.note}"
    return push(f"preflight-completed-{trial.session_id}", "A test session was completed", body, "urgent")

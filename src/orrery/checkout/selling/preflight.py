"""`orrery checkout preflight`: nothing is sold before the processor has accepted exactly it (change rule 1).

A run begins with the owner's approval to expire its sessions, for 24 hours, so that none of them is left open.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pydantic import JsonValue

from orrery.approvals.approvals import Approvals, IntentDraft, KnownIntent
from orrery.checkout.catalogue import METHODS, Product
from orrery.checkout.collections import trial_id
from orrery.checkout.records import PreflightTrial
from orrery.checkout.selling.products import ProductState, ProductStatus, Selling
from orrery.checkout.selling.receipts import stored_form, trial_key
from orrery.checkout.selling.sessions import EXPIRE_PREFLIGHT_SESSIONS
from orrery.checkout.selling.trials import TrialOutcome, TrialResult, Trials, asked_again, outcome_of
from orrery.errors import NotConfigured, OrreryError, StoreError
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.panels import Panel, Tone, utc_text
from orrery.ports.processor import ProcessorError, ProcessorReads
from orrery.runtime.operations import Intent
from orrery.syntax.lines import one_line

REASON = "The parameters are tried before they are sold, and the test sessions are expired."
"""The sentence of change rule 1 that the owner reads before signing."""

MOST_NAMES = 5
"""How many products a finding names; `orrery checkout preflight --pending` names them all."""

_TODO = "Type `orrery checkout preflight`."

_CORRECT = "Correct it in the settings, type `orrery config check`, and restart."

_ADDRESSES = "checkout addresses"

_COLUMNS = ("Product", "Parameters", "Accepted", "Age", "API version")

_REFUND = "Where money moved, refund it by hand at the processor's dashboard, unless you have."

_NOT_ACCEPTED: tuple[tuple[ProductState, str, str], ...] = (
    ("never", "checkout receipts", "The processor has never accepted what would be sold, so it is not sold"),
    ("pending", "checkout parameters", "The last accepted parameters are sold; newer ones wait for a preflight"),
)
"""The states of products that wait for a preflight, each with its part and its words."""


@dataclass(slots=True)
class PreflightReport:
    """The result of a preflight. With `to_sign` it tried nothing: that intent waits for the owner's signature.

    `cleaned` is about sessions that earlier runs left.
    """

    run_id: str | None = None
    to_sign: str | None = None
    outcomes: list[TrialOutcome] = field(default_factory=list[TrialOutcome])
    cleaned: list[TrialOutcome] = field(default_factory=list[TrialOutcome])

    @property
    def is_well(self) -> bool:
        """Return whether everything was tried and accepted, and nothing is left open."""
        return self.to_sign is None and all(one.is_well for one in [*self.outcomes, *self.cleaned])


class Preflight:
    """Plans runs, asks for the owner's approval, carries them out, and shows what is accepted."""

    def __init__(
        self, clock: Clock, reads: ProcessorReads, approvals: Approvals, selling: Selling, trials: Trials
    ) -> None:
        self._clock = clock
        self._reads = reads
        self._approvals = approvals
        self._selling = selling
        self._trials = trials

    async def run(self, products: Sequence[Product]) -> PreflightReport:
        """Try the products under an approved run, or propose one.

        Products whose settings hold a mistake are named, and not tried. Raises `NotConfigured` without products or
        key, and the store's errors.
        """
        if not products:
            raise NotConfigured("No product is configured.")
        plans: list[ProductStatus] = []
        untried: list[TrialOutcome] = []
        for status in await self._selling.statuses(products):
            if why := status.mistake or self._untriable(status.product):
                result: TrialResult = "mistake" if status.mistake else "rejected"
                untried.append(TrialOutcome(status.product.name, result, note=why))
            else:
                plans.append(status)
        if all(one.result == "mistake" for one in untried) and not plans:
            return PreflightReport(outcomes=untried)
        await self._settle()
        approved = await self._approved(plans)
        cleaned = await self._clean_up(approved, plans)
        if approved:
            tried = [await self._try(approved, plan) for plan in plans]
            return PreflightReport(approved.target, None, untried + tried, cleaned)
        to_sign = (await self._proposed(plans)).id if plans else None
        return PreflightReport(None, to_sign, untried, cleaned)

    async def panel(self) -> Panel:
        """Return the receipts, as a part of the owner's page."""
        title, statuses = "Receipts", await self._selling.statuses()
        if not statuses:
            return Panel(title, "Nothing is sold.")
        completed, tone = await self._trials.completed(), _tone(statuses, livemode=self._selling.livemode)
        mistaken, of_all = len(_in(statuses, "mistake")), f"of {len(statuses)}"
        waiting = len(statuses) - mistaken - len(_in(statuses, "accepted"))
        headline = _said(
            (waiting, f"{waiting} {of_all} wait for a preflight."),
            (waiting and not self._selling.livemode, "In this mode today's parameters are sold all the same."),
            (mistaken, f"Settings that cannot be used: {mistaken} {of_all}."),
        )
        # Whether they were refunded is not known.
        tests = f"Completed test sessions: {', '.join(one.session_id or '' for one in completed)}. {_REFUND}"
        todo = _said((completed, tests), (waiting, _TODO), (mistaken, "See `orrery config check`."))
        if completed and tone != "bad":
            tone = "attention"
        rows, now = tuple(_row(one, self._clock.now()) for one in statuses), "Accepted by the processor: all "
        return Panel(title, headline or f"{now}{of_all}", tone, todo, _COLUMNS, rows)

    async def unusable(self) -> list[Finding]:
        """Return the findings about settings that cannot be used, without asking the processor.

        A store that fails is another part's finding; here it leaves open what is sold instead.
        """
        if not self._selling.catalogue:
            return []
        statuses: list[ProductStatus] | None = None
        with suppress(StoreError):
            statuses = await self._selling.statuses()
        catalogue = self._selling.catalogue
        mistaken = [product for product in catalogue.listed if product.name in catalogue.mistakes]
        return [*(self._mistake(product, statuses) for product in mistaken), self._addresses(statuses)]

    async def local(self) -> list[Finding]:
        """Return the findings from the store alone; none when the store fails, which the store's part reports."""
        try:
            statuses = await self._selling.statuses()
            interrupted = await self._trials.interrupted()
        except StoreError:
            return []
        livemode, states = self._selling.livemode, {one.state for one in statuses}
        found = _without_price(statuses)
        for state, part, why in _NOT_ACCEPTED:
            if livemode and (those := _in(statuses, state)):
                essential = state == "never" and not any(one.sold for one in statuses)
                found.append(_broken(part, f"{why}: {_names(those)}.", _TODO, essential=essential, about=those))
        if livemode and "accepted" in states and not states & {"never", "pending"}:
            accepted = f"{len(_in(statuses, 'accepted'))} accepted"
            found.append(Finding("checkout receipts", "ok", accepted, essential=True, of_machine=True))
        if interrupted:
            why = f"A preflight was interrupted: {interrupted} of its sessions may be open."
            todo = f"{_TODO} It takes up what was left."
            found.append(Finding("preflight", "broken", why, todo, essential=False))
        return found

    def _mistake(self, product: Product, statuses: Sequence[ProductStatus] | None) -> Finding:
        why, essential = self._selling.catalogue.mistakes[product.name], False
        if statuses is None:
            why = f"{why} What is sold instead is not known: the store cannot be read."
        elif any(one.sold for one in statuses if one.product == product):
            why = f"The settings cannot be used, and what was accepted last is sold: {why}"
        else:
            why, essential = f"It is not sold: {why}", not any(one.sold for one in statuses)
        return _broken(f"product {one_line(product.name, 130)}", why, _CORRECT, essential=essential)

    def _addresses(self, statuses: Sequence[ProductStatus] | None) -> Finding:
        if self._selling.terms:
            return Finding(_ADDRESSES, "ok", essential=True, of_machine=True)
        why, sold = "success_url or cancel_url is missing.", [one for one in statuses or () if one.sold]
        if statuses is not None:
            why += f" What was accepted last is sold: {_names(sold)}." if sold else " Nothing is sold."
        essential = statuses is not None and not sold
        return _broken(_ADDRESSES, why, _CORRECT, essential=essential)

    def _untriable(self, product: Product) -> str:
        """Return why a product cannot be tried: some methods depend on the price's currency (spec 1, Limits)."""
        methods = self._selling.terms.payment_method_types if self._selling.terms else ()
        further = ", ".join(method for method in methods if method not in METHODS)
        if product.price_id or not further:
            return ""
        return f"It names no price, and {further} can be tried with its own price only."

    async def _settle(self) -> None:
        """Read the outcomes of the expiries that a killed run had started."""
        for proposal in await self._runs():
            if proposal.in_words(self._clock.now()) == "unknown":
                with suppress(OrreryError):  # the next run reads it again
                    _ = await self._approvals.settle(proposal.intent.id)

    async def _runs(self) -> list[KnownIntent]:
        found = await self._approvals.proposals()
        return [one for one in found if one.intent.operation == EXPIRE_PREFLIGHT_SESSIONS]

    async def _approved(self, plans: Sequence[ProductStatus]) -> Intent | None:
        """Return the newest run in force that is for exactly today's parameters and is not finished."""
        for proposal in await self._runs():
            intent = proposal.intent
            if not self._is_for(intent, plans) or not await self._approvals.is_in_force(intent.id):
                continue
            trials = [await self._trials.of(intent.target, plan.product.key) for plan in plans]
            if not all(trial and trial.state in {"expired", "completed", "left open"} for trial in trials):
                return intent
        return None

    async def _proposed(self, plans: Sequence[ProductStatus]) -> Intent:
        """Return the run that waits for a signature, or propose one."""
        body = self._body(plans)
        for proposal in await self._runs():
            if proposal.in_words(self._clock.now()) == "waiting" and proposal.intent.body == body:
                return proposal.intent
        tried = plans[0].product.name if len(plans) == 1 else f"{len(plans)} products"
        summary = f"Expire the test sessions of one preflight of {tried}"
        run_id = f"run-{secrets.token_hex(6)}"
        return await self._approvals.propose(IntentDraft(EXPIRE_PREFLIGHT_SESSIONS, run_id, body, summary, REASON))

    def _body(self, plans: Sequence[ProductStatus]) -> dict[str, JsonValue]:
        products: dict[str, JsonValue] = {plan.product.name: plan.digest for plan in plans}
        return {"api_version": self._selling.api_version, "products": products}

    def _is_for(self, intent: Intent, plans: Sequence[ProductStatus]) -> bool:
        named = intent.body.get("products")
        digests = named if isinstance(named, dict) else {}
        return all(digests.get(plan.product.name) == plan.digest for plan in plans)

    async def _clean_up(self, approved: Intent | None, plans: Sequence[ProductStatus]) -> list[TrialOutcome]:
        current = {trial_id(approved.target, plan.product.key) for plan in plans} if approved else set[str]()
        left = (await self._trials.unfinished()).items()
        return [await self._trials.clean_up(name, trial) for name, trial in left if name not in current]

    async def _try(self, approved: Intent, plan: ProductStatus) -> TrialOutcome:
        trial, product = await self._trials.of(approved.target, plan.product.key), plan.product
        if trial is None:
            try:
                first = None if product.price_id else await self._reads.first_active_price()
            except ProcessorError as error:  # the others' outcomes must not be lost with it
                return TrialOutcome(product.name, "unanswered", note=f"No price to try it with: {error}")
            price_id = first.id if first else product.price_id
            if price_id is None:
                return TrialOutcome(
                    product.name, "rejected", note="The account has no active price to try it with."
                )
            trial = self._new_trial(approved, plan, replace(product, price_id=price_id))
        elif trial.state in {"rejected", "gone"}:
            trial = asked_again(trial)
        return outcome_of(await self._trials.finish(trial))

    def _new_trial(self, approved: Intent, plan: ProductStatus, priced: Product) -> PreflightTrial:
        return PreflightTrial(
            run_id=approved.target,
            deployment=approved.deployment,
            intent_id=approved.id,
            vendor_slug=priced.vendor_slug,
            cert_code=priced.cert_code,
            digest=plan.digest,
            parameters=stored_form(self._selling.configured_parameters(priced)),
            api_version=self._selling.api_version,
            stand_in=plan.product.price_id is None,
            idempotency_key=trial_key(approved.target, priced.key, 1),
            asked_at=self._clock.now(),
        )


def _row(status: ProductStatus, now: datetime) -> tuple[str, ...]:
    receipt, acceptance = status.receipt, ("", "", "")
    if receipt:
        acceptance = utc_text(receipt.accepted_at), _age(now - receipt.accepted_at), receipt.api_version
    return (status.product.name, status.words, *acceptance)


def _age(passed: timedelta) -> str:
    for size, unit in ((timedelta(days=1), "d"), (timedelta(hours=1), "h")):
        if passed >= size:
            return f"{passed // size} {unit}"
    return f"{passed // timedelta(minutes=1)} min"


def _tone(statuses: Sequence[ProductStatus], *, livemode: bool) -> Tone:
    states = {one.state for one in statuses}
    if states == {"accepted"}:
        return "good"
    if not livemode and "mistake" not in states:
        return "plain"
    return "attention" if all(one.sold for one in statuses) else "bad"


def _said(*sentences: tuple[object, str]) -> str:
    """Return the sentences whose conditions hold."""
    return " ".join(sentence for holds, sentence in sentences if holds)


def _broken(part: str, why: str, todo: str, *, essential: bool, about: Sequence[ProductStatus] = ()) -> Finding:
    # Each machine has its own settings.
    return Finding(
        part,
        "broken",
        why,
        todo,
        essential=essential,
        settled=True,
        of_settings=True,
        items=tuple(one.product.name for one in about),
        of_machine=True,
    )


def _without_price(statuses: Sequence[ProductStatus]) -> list[Finding]:
    """Return the finding about products without a price, whatever else is wrong with them."""
    if not (without := [one for one in statuses if one.product.price_id is None]):
        return []
    why = f"Without a price (price_id) it cannot be sold: {_names(without)}."
    items = tuple(one.product.name for one in without)
    return [
        Finding(
            "checkout prices",
            "broken",
            why,
            _CORRECT,
            essential=False,
            of_settings=True,
            of_machine=True,
            items=items,
        )
    ]


def _in(statuses: Sequence[ProductStatus], state: ProductState) -> list[ProductStatus]:
    return [one for one in statuses if one.state == state]


def _names(statuses: Sequence[ProductStatus]) -> str:
    names = [one.product.name for one in statuses]
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

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
from orrery.ports.processor import ProcessorReads
from orrery.ports.processor.errors import ProcessorError
from orrery.runtime.operations import Intent
from orrery.syntax.lines import one_line

REASON = "The parameters are tried before they are sold, and the test sessions are expired."
"""The sentence of change rule 1 that the owner reads before signing."""

_WORDS: dict[ProductState, str] = {
    "accepted": "accepted",
    "pending": "newer parameters wait",
    "never": "never accepted",
    "no price": "names no price",
    "mistake": "a mistake in the settings; not sold",
}

_KEPT = "a mistake in the settings; sold as accepted"


MOST_NAMES = 5
"""How many products a finding names; `orrery checkout preflight --pending` names them all."""

_TODO = "Type `orrery checkout preflight`."

_CORRECT = "Correct it in the settings, type `orrery config check`, and restart."

_ADDRESSES = "checkout addresses"


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
        for status in await self.pending(products):
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

    async def pending(self, products: Sequence[Product]) -> list[ProductStatus]:
        """Return the state of each product from the store alone."""
        return [await self._selling.status(product) for product in products]

    async def panel(self) -> Panel:
        """Return the receipts, as a part of the owner's page."""
        title, columns = "Receipts", ("Product", "Parameters", "Accepted", "Age", "API version")
        statuses = await self._selling.statuses()
        if not statuses:
            return Panel(title, "Nothing is sold.")
        now = self._clock.now()
        rows = tuple(_row(status, now, sold=self._selling.sells(status)) for status in statuses)
        completed = await self._trials.completed()
        mistaken = sum(status.state == "mistake" for status in statuses)
        waiting = sum(status.state != "accepted" for status in statuses) - mistaken
        if not waiting + mistaken:
            text = f"Accepted by the processor: all of {len(rows)}"
            return _with_completed(completed, Panel(title, text, "good", "", columns, rows))
        headline = f"{waiting} of {len(rows)} wait for a preflight." if waiting else ""
        todo = "Type `orrery checkout preflight`." if waiting else ""
        tone: Tone = "attention" if all(map(self._selling.sells, statuses)) else "bad"
        if waiting and not self._selling.livemode:
            headline = f"{headline} In this mode today's parameters are sold all the same."
            tone = "bad" if mistaken else "plain"
        if mistaken:
            headline = f"{headline} Settings that cannot be used: {mistaken} of {len(rows)}.".lstrip()
            todo = f"{todo} See `orrery config check`.".lstrip()
        return _with_completed(completed, Panel(title, headline, tone, todo, columns, rows))

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
        found = [*_without_price(statuses), *(self._receipts(statuses) if self._selling.livemode else [])]
        if interrupted:
            why = f"A preflight was interrupted: {interrupted} of its sessions may be open."
            todo = f"{_TODO} It takes up what was left."
            found.append(Finding("preflight", "broken", why, todo, essential=False))
        return found

    def _mistake(self, product: Product, statuses: Sequence[ProductStatus] | None) -> Finding:
        why = self._selling.catalogue.mistakes[product.name]
        if statuses is None:
            sentence, essential = f"{why} What is sold instead is not known: the store cannot be read.", False
        elif any(self._selling.sells(one) for one in statuses if one.product == product):
            sentence, essential = f"The settings cannot be used, and what was accepted last is sold: {why}", False
        else:
            sentence, essential = f"It is not sold: {why}", not any(map(self._selling.sells, statuses))
        part = f"product {one_line(product.name, 130)}"
        return Finding(part, "broken", sentence, _CORRECT, essential=essential, settled=True, of_settings=True)

    def _addresses(self, statuses: Sequence[ProductStatus] | None) -> Finding:
        if self._selling.terms:
            return Finding(_ADDRESSES, "ok", essential=True)
        sold = [one for one in statuses or () if self._selling.sells(one)]
        instead = f"What was accepted last is sold: {_names(sold)}." if sold else "Nothing is sold."
        why = f"success_url or cancel_url is missing. {'' if statuses is None else instead}".rstrip()
        essential = statuses is not None and not sold
        return Finding(_ADDRESSES, "broken", why, _CORRECT, essential=essential, settled=True, of_settings=True)

    def _receipts(self, statuses: Sequence[ProductStatus]) -> list[Finding]:
        never, pending = _in(statuses, "never"), _in(statuses, "pending")
        found: list[Finding] = []
        if never:
            why = f"The processor has never accepted what would be sold, so it is not sold: {_names(never)}."
            found.append(_waiting("checkout receipts", why, essential=not any(map(self._selling.sells, statuses))))
        if pending:
            why = f"The last accepted parameters are sold; newer ones wait for a preflight: {_names(pending)}."
            found.append(_waiting("checkout parameters", why, essential=False))
        accepted = _in(statuses, "accepted")
        return found or (
            [Finding("checkout receipts", "ok", f"{len(accepted)} accepted", essential=True)] if accepted else []
        )

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


def _row(status: ProductStatus, now: datetime, *, sold: bool) -> tuple[str, ...]:
    receipt = status.receipt
    acceptance = (
        (utc_text(receipt.accepted_at), _age(receipt.accepted_at, now), receipt.api_version)
        if receipt
        else ("",) * 3
    )
    words = _KEPT if sold and status.state == "mistake" else _WORDS[status.state]
    return (status.product.name, words, *acceptance)


def _with_completed(trials: Sequence[PreflightTrial], panel: Panel) -> Panel:
    """Return the panel with completed test sessions: whether they were refunded is not known."""
    if not trials:
        return panel
    text = f"Completed test sessions: {', '.join(trial.session_id or '' for trial in trials)}."
    todo = "Where money moved, refund it by hand at the processor's dashboard, unless you have."
    tone: Tone = "bad" if panel.tone == "bad" else "attention"
    return replace(panel, tone=tone, todo=f"{text} {todo} {panel.todo}".rstrip())


def _age(then: datetime, now: datetime) -> str:
    passed = now - then
    for size, unit in ((timedelta(days=1), "d"), (timedelta(hours=1), "h")):
        if passed >= size:
            return f"{passed // size} {unit}"
    return f"{passed // timedelta(minutes=1)} min"


def _waiting(part: str, why: str, *, essential: bool) -> Finding:
    return Finding(part, "broken", why, _TODO, essential=essential, settled=True, of_settings=True)


def _without_price(statuses: Sequence[ProductStatus]) -> list[Finding]:
    without = [one for one in statuses if one.product.price_id is None]
    if not without:
        return []
    why = f"Without a price it cannot be sold: {_names(without)}."
    return [
        Finding("checkout prices", "broken", why, "Set its price_id.", essential=False, of_settings=True),
    ]


def _in(statuses: Sequence[ProductStatus], state: ProductState) -> list[ProductStatus]:
    return [one for one in statuses if one.state == state]


def _names(statuses: Sequence[ProductStatus]) -> str:
    names = [one.product.name for one in statuses]
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

"""Which buyers need help: with a payment, an e-mail that was refused for ever, or an access in ten browsers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.checkout.access.browsers import Browsers
from orrery.checkout.browser_records import MOST as MOST_BROWSERS
from orrery.checkout.browser_records import AccessBrowsers
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord, WithheldSession
from orrery.errors import StoreError
from orrery.ports.health import ACT_TODAY, Concern, Finding, Severity
from orrery.ports.processor import ProcessorReads
from orrery.runtime.outbox import MOST_COUNTED, Notification, Outbox
from orrery.syntax.email_address import masked
from orrery.syntax.session_id import SESSION_ID

EMAIL_TO = "e-mail to "
"""How the name of the part begins that is broken while a buyer cannot be reached."""

PAYMENT_OF = "payment of "
"""How the name of the part begins that is broken while a payment is awaited for too long."""

BROWSERS_OF = "browsers of "
"""How the name of the part begins that is broken while an access opens in no further browser."""

OF_BUYERS = (EMAIL_TO, PAYMENT_OF, BROWSERS_OF)

MOST = 20
"""How many buyers of each kind are listed one by one."""

TOO_LONG = timedelta(hours=1)
"""How long a completed session may wait for its payment until its buyer needs help."""


@dataclass(frozen=True, slots=True)
class BuyerInNeed:
    """One buyer, by the reference of the session; the address is masked, and `link` leads to the payment.

    `todo` has the command.
    """

    reference: str
    since: datetime
    product: str
    email: str
    why: str
    todo: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class BuyersInNeed:
    """Finds them in the store, without asking the processor."""

    stored: CheckoutRecords
    reads: ProcessorReads

    async def all(self) -> Sequence[BuyerInNeed]:
        """Return them, the newest first; raise the store's errors."""
        withheld = [await self._withheld(one) for one in await self._withheld_sessions()]
        found = [*withheld, *await self.unreached()]
        found += await self._shared(await Browsers(self.stored).crowded(MOST_COUNTED))
        return sorted(found, key=lambda one: one.since, reverse=True)

    async def unreached(self, most: int | None = None) -> Sequence[BuyerInNeed]:
        """Return the buyers whose last e-mail their server refused for ever, from `most` e-mails."""
        return [
            self._unreached(row, record)
            for row in await self._refused(most)
            if (record := await self._record_of(row)) and record.email == row.to
        ]

    async def findings(self) -> Sequence[Finding]:
        """Return a finding for each buyer who cannot be reached, or waits; beyond `MOST`, one about all others.

        Who is refused has paid: the last reconciliation's problem names each of those.
        """
        try:
            unreached = await self.unreached(MOST_COUNTED)
            crowded = await Browsers(self.stored).crowded(MOST_COUNTED)
            shared = await self._shared(crowded[:MOST])
            waiting = [
                await self._withheld(one) for one in await self._withheld_sessions() if one.state != "refused"
            ]
        except StoreError:
            return []
        refused = "All: `orrery notifications list --state dead`."
        return [
            *_findings(EMAIL_TO, unreached, ACT_TODAY, refused),
            *_findings(PAYMENT_OF, waiting, 3, "All: `orrery checkout reconcile`."),
            *_findings(BROWSERS_OF, shared, 3, "All: `orrery today`.", map(self._reference, crowded[MOST:])),
        ]

    async def drop(self, session_id: str) -> None:
        """Drop the refused e-mails of a session, in whose place another is sent."""
        for row in await self._refused():
            if _session_of(row) == session_id:
                _ = await self._outbox.drop(row.id)

    @property
    def _outbox(self) -> Outbox:
        return Outbox(self.stored.store, self.stored.clock, {})

    async def _refused(self, most: int | None = None) -> list[Notification]:
        rows = (await self._outbox.undelivered(most, "dead")).values()
        return [one for one in rows if one.channel == "email"]

    async def _record_of(self, row: Notification) -> AccessRecord | None:
        session_id = _session_of(row)
        found = await self.stored.access.find(session_id) if session_id else None
        return found.record if found else None

    def _unreached(self, row: Notification, record: AccessRecord) -> BuyerInNeed:
        reference = self._reference(record.session_id)
        todo = f"Type `orrery access change-email {reference} ADDRESS --resend --reason refused`."
        why = f"E-mail refused: {row.last_error or 'without a reason'}".replace(record.email, "the address")
        payment = record.payment_intent
        link = self.reads.page_of_payment(payment, livemode=record.livemode) if payment else None
        return BuyerInNeed(
            reference, row.created_at, record.product.name, masked(record.email), why, todo, link or ""
        )

    async def _shared(self, session_ids: Iterable[str]) -> list[BuyerInNeed]:
        read = [(await self.stored.browsers.find(one), await self.stored.access.find(one)) for one in session_ids]
        return [self._of_sharers(opened.record, sold.record) for opened, sold in read if opened and sold]

    def _of_sharers(self, one: AccessBrowsers, record: AccessRecord) -> BuyerInNeed:
        reference = self._reference(record.session_id)
        since = max(each.opened_at for each in one.browsers)
        why = f"{MOST_BROWSERS} browsers used this access within a day, and it opens in no other"
        todo = f"If its link was passed on: `orrery access resend {reference} --new-link --reason shared`."
        return BuyerInNeed(reference, since, record.product.name, masked(record.email), why, todo)

    async def _withheld_sessions(self) -> list[WithheldSession]:
        now, waiting = self.stored.clock.now(), (await self.stored.pending.all()).values()
        return [
            one
            for one in waiting
            if not one.failed_at and (one.state == "refused" or now - one.noted_at > TOO_LONG)
        ]

    async def _withheld(self, one: WithheldSession) -> BuyerInNeed:
        offer = await self.stored.offers.find(one.session_id)
        product = offer.record.product.name if offer else "unknown"
        reference, refused = self._reference(one.session_id), one.state == "refused"
        why = one.reason if refused else "The payment has not arrived"
        todo = f"Look at it: `orrery processor session {reference}`."
        opens = "" if refused else "Access opens by itself once it arrives. "
        return BuyerInNeed(reference, one.noted_at, product, "", why, f"{opens}{todo}")

    def _reference(self, session_id: str) -> str:
        return self.stored.references.of(session_id)


def _findings(
    kind: str, buyers: Sequence[BuyerInNeed], severity: Severity, all_of_them: str, unread: Iterable[str] = ()
) -> list[Finding]:
    """Return the findings about buyers; `unread` are the references of further ones."""
    found = [
        Finding(
            f"{kind}{one.reference}",
            "broken",
            f"{one.why.rstrip('.')}.",
            one.todo,
            essential=False,
            settled=True,
            severity=severity,
            concern=Concern(one.product, address=one.email, link=one.link),
        )
        for one in buyers[:MOST]
    ]
    if more := (*(one.reference for one in buyers[MOST:]), *unread):
        why = f"{len(more)} more."
        others = Finding(
            f"{kind}others", "broken", why, all_of_them, essential=False, severity=severity, items=more
        )
        found.append(others)
    return found


def _session_of(row: Notification) -> str | None:
    found = SESSION_ID.search(row.id)
    return found.group() if found else None

"""The rules of access: who gets it, and until when (decisions 9 and 10). Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import MAXYEAR, datetime
from typing import Literal

from orrery.checkout.catalogue import ProductKey
from orrery.checkout.records import AccessRecord, GrantedBy, Offer
from orrery.ports.processor import CheckoutSession
from orrery.syntax.email_address import normal_email

SessionResult = Literal["granted", "already", "waiting", "refused", "foreign", "erased"]


UNPAID = "unpaid"
"""Why a session waits whose money comes later."""


@dataclass(frozen=True, slots=True)
class AccessVerdict:
    """What becomes of a completed session, or became of it.

    `notes` are sentences for the owner, without personal data; `title` is that of the offered product, if known.
    """

    result: SessionResult
    reason: str = ""
    notes: tuple[str, ...] = ()
    title: str | None = None


def judge(
    session: CheckoutSession, offer: Offer | None, *, livemode: bool, of_event: bool | None = None
) -> AccessVerdict:
    """Return whether a completed `session` opens access, by comparing it with its `offer` (decision 9).

    `of_event` is the livemode of the event that reported it, if there is one.
    """
    product = bought(session)
    if product is None:
        return AccessVerdict("foreign")
    if session.livemode != livemode or of_event not in (None, livemode):
        wrong = "" if session.livemode != livemode else "event of "
        return AccessVerdict("refused", f"{wrong}other livemode")
    if offer is None:
        return AccessVerdict("waiting", "no offer")
    if mismatch := _mismatch(session, product, offer):
        return AccessVerdict("refused", mismatch)
    if session.payment_status == "unpaid":
        return AccessVerdict("waiting", UNPAID)
    return AccessVerdict("granted", notes=_differences(session, offer), title=offer.title)


def bought(session: CheckoutSession) -> ProductKey | None:
    """Return the product that the session's metadata names, or None when the session is not ours."""
    names = [session.metadata.get(name) for name in ("productType", "certCode", "vendorSlug")]
    if not all(names):
        return None
    product_type, cert_code, vendor_slug = (name or "" for name in names)
    return ProductKey(product_type, cert_code, vendor_slug)


def grant(
    session: CheckoutSession,
    product: ProductKey,
    *,
    event_id: str | None,
    granted_by: GrantedBy,
    now: datetime,
    running_until: datetime | None,
    title: str | None = None,
) -> AccessRecord:
    """Return the access record for a paid session; `running_until` is the end of access that it extends."""
    start = running_until if running_until and running_until > now else now
    return AccessRecord(
        session_id=session.id,
        product_type=product.product_type,
        cert_code=product.cert_code,
        vendor_slug=product.vendor_slug,
        email=normal_email(session.email or ""),
        granted_at=now,
        expires_at=one_year_after(start),
        amount_total=session.amount_total,
        currency=session.currency,
        livemode=session.livemode,
        payment_intent=session.payment_intent,
        event_id=event_id,
        granted_by=granted_by,
        marketing_consent=session.consent,
        title=title,
        paid_at=session.created,
    )


def one_year_after(start: datetime) -> datetime:
    """Return the same date and time next year; 28 February after a 29th (decision 10).

    Access that was brought along "for ever" may end with the calendar, and is not extended beyond it.
    """
    if start.year == MAXYEAR:
        return start
    try:
        return start.replace(year=start.year + 1)
    except ValueError:
        return start.replace(year=start.year + 1, day=28)


def without(revoked: AccessRecord, others: Iterable[AccessRecord]) -> list[AccessRecord]:
    """Return which of a buyer's other records of the same product end earlier without `revoked`, as changed.

    A year that was bought while others ran began at the latest end of these. An imported record keeps its own end.
    """
    counted = sorted((one for one in others if one.revoked_at is None), key=lambda one: one.granted_at)
    gone, ends, changed = {revoked.expires_at}, list[datetime](), list[AccessRecord]()
    for record in counted:
        if record.granted_by != "import" and record.expires_at in map(one_year_after, gone):
            end = one_year_after(max([record.granted_at, *ends]))
            if end < record.expires_at:
                gone.add(record.expires_at)
                record = record.change(expires_at=end)  # noqa: PLW2901  what counts from here on
                changed.append(record)
        ends.append(record.expires_at)
    return changed


def _mismatch(session: CheckoutSession, product: ProductKey, offer: Offer) -> str | None:
    if product != offer.product:
        return "another product"
    if session.price_ids is not None and session.price_ids != (offer.price_id,):
        return "another price"
    return None


def _differences(session: CheckoutSession, offer: Offer) -> tuple[str, ...]:
    notes: list[str] = []
    if offer.amount_total is not None and session.amount_total != offer.amount_total:
        notes.append(f"The amount is {session.amount_total}; {offer.amount_total} was offered.")
    if offer.currency is not None and session.currency != offer.currency:
        notes.append(f"The currency is {session.currency}; {offer.currency} was offered.")
    return tuple(notes)

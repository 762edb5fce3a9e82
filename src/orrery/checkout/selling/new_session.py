"""The conditions on a new session before a visitor is sent to it: it is what was asked for. Pure."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from orrery.checkout.access.rules import bought
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.errors import SessionMismatch
from orrery.ports.processor import CheckoutSession
from orrery.syntax.base_url import THIS_MACHINE

LONGEST_PAGE = 2048
"""Characters of a payment page's address: the vendor uses some hundreds, and every browser takes this many."""

_ID = re.compile(r"cs_[A-Za-z0-9_]{1,250}")
_OTHER_MODE = {True: "cs_test_", False: "cs_live_"}
_CURRENCY = re.compile(r"[a-z]{3}")
_ADDRESS = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_PAGE}}}")


@dataclass(frozen=True, slots=True)
class AcceptedPrice:
    """The amount of the session that the processor accepted in a preflight, in the currency's smallest unit."""

    amount: int
    currency: str

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}"


def payment_page(
    session: CheckoutSession,
    product: ProductKey,
    price_id: str,
    accepted: AcceptedPrice | None = None,
    *,
    livemode: bool,
) -> str:
    """Return where the visitor pays; raise `SessionMismatch` for a session that is not what was asked for."""
    wrong = _wrong_session(session, livemode=livemode) or wrong_content(session, product, price_id, accepted)
    if wrong:
        raise SessionMismatch(wrong)
    return session.url or ""


def wrong_content(
    session: CheckoutSession, product: ProductKey, price_id: str, accepted: AcceptedPrice | None = None
) -> str:
    """Return what a new session would sell instead of `product` at `price_id`, or nothing.

    Without line items, which the processor reports only when they are asked for, the price is not compared; an
    amount in another currency than the accepted one is not, either.
    """
    amount, currency = session.amount_total or 0, session.currency or ""
    found = f"{amount} {currency} in the smallest unit, where {accepted} was accepted"
    conditions = {
        "another product": bought(session) != product,
        "another price": session.price_ids not in {None, (price_id,)},
        "no currency": not _CURRENCY.fullmatch(currency),
        "no amount above zero": amount <= 0,
        "nothing to pay": session.payment_status != "unpaid",
        found: accepted and accepted.currency == currency and accepted.amount != amount,
    }
    return next((what for what, is_so in conditions.items() if is_so), "")


def _wrong_session(session: CheckoutSession, *, livemode: bool) -> str:
    if not _ID.fullmatch(session.id):
        return "a session whose id is none"
    if session.livemode != livemode or session.id.startswith(_OTHER_MODE[livemode]):
        return f"a session in {'test' if livemode else 'live'} mode"
    if session.mode != "payment":
        return "a session that is no one-time payment"
    if session.status != "open":
        return "a new session that is not open"
    return "" if _is_page(session.url or "") else "a session without a web address to pay at"


def _is_page(url: str) -> bool:
    """Return whether a buyer may be sent there: over HTTPS, or to a sandbox on this machine."""
    if not _ADDRESS.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and parts.hostname in THIS_MACHINE

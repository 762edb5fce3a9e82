"""The conditions on a new session before a visitor is sent to it. Pure."""

import re
from http import HTTPStatus
from urllib.parse import urlsplit

from orrery.errors import ProcessorUnreachable
from orrery.ports.processor import CheckoutSession
from orrery.syntax.base_url import THIS_MACHINE

_ID = re.compile(r"cs_[A-Za-z0-9_]{1,250}")
_OTHER_MODE = {True: "cs_test_", False: "cs_live_"}


def payment_page(session: CheckoutSession, *, livemode: bool) -> str:
    """Return where the visitor pays; raise `ProcessorUnreachable` for a session that nobody may be sent to.

    The same idempotency key leads to the same session, so no other one is asked for.
    """
    if wrong := _wrong(session, livemode=livemode):
        what = f"The processor's answer cannot be read: it is not as documented ({wrong})."
        raise ProcessorUnreachable(what, same_key=True, status=HTTPStatus.OK)
    return session.url or ""


def _wrong(session: CheckoutSession, *, livemode: bool) -> str | None:
    if not _ID.fullmatch(session.id):
        return "a session whose id is none"
    if session.livemode != livemode or session.id.startswith(_OTHER_MODE[livemode]):
        return f"a session in {'test' if livemode else 'live'} mode"
    if session.mode != "payment":
        return "a session that is no one-time payment"
    if session.status != "open":
        return "a new session that is not open"
    return None if _is_page(session.url or "") else "a session without a web address to pay at"


def _is_page(url: str) -> bool:
    """Return whether a buyer may be sent there: over HTTPS, or to a sandbox on this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    return parts.scheme == "http" and parts.hostname in THIS_MACHINE

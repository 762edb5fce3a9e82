"""The keys under which checkout keeps its records."""

import hashlib
import hmac
from datetime import datetime

from orrery.checkout.catalogue import ProductKey
from orrery.runtime.collection import sortable
from orrery.syntax.email_address import normal_email, without_case

ACCESS = "access:"
ACCESS_END = "access-end:"
ACCESS_BY_TIME = "access-by-time:"
ATTEMPT = "attempt:"
ERASED = "erased-session:"
EVENT = "event:"
IMPORTED = "imported:"
JOURNAL = "journal:"
OFFER = "offer:"
OFFER_ADDRESS = "offer-address:"
OWN_SESSION = "own-session:"
PENDING = "pending:"
RECONCILED = "reconciled"
RECEIPT = "receipt:"
REFUSED_WEBHOOKS = "refused-webhooks"
REVERSAL = "taken-back:"
TRIAL = "preflight:"
VERIFYING = "verifying:"
UNKNOWN_SALES = "unknown-sales"
UNREADABLE_EVENT = "unreadable-event:"
TRIAL_LEFT = "preflight-left:"
DRIFT = "checkout-drift"
CREATION_OUTAGE = "checkout-creation-outage"
PROXY = "checkout-untrusted-proxy"


def access_by_time(granted_at: datetime, session_id: str) -> str:
    """Return the index key that orders access records by the time of granting."""
    return f"{ACCESS_BY_TIME}{sortable(granted_at)}:{session_id}"


def access_by_email(email_digest: str, session_id: str = "") -> str:
    """Return the index key, or without a session its prefix, of one buyer's access records."""
    return f"access-by-email:{email_digest}:{session_id}"


def buyer_and_product(email_digest: str, product: ProductKey) -> str:
    """Return the id of the latest end of one buyer's access to one product."""
    return f"{email_digest}:{product.product_type}:{product.vendor_slug}:{product.cert_code}"


def erasure_id(session_id: str, index_key: bytes) -> str:
    """Return the id of the note that a session's buyer was erased; it does not contain the session id."""
    return hmac.new(index_key, f"erased {session_id}".encode(), hashlib.sha256).hexdigest()


def former_import_id(email: str, product: ProductKey, expires_at: datetime) -> str:
    """Return the session id of an imported line in earlier releases, which computed it from the line."""
    line = f"{email}\n{product.vendor_slug}\n{product.cert_code}\n{expires_at.isoformat()}"
    return f"import_{hashlib.sha256(line.encode()).hexdigest()[:24]}"


def line_id(former_id: str, index_key: bytes) -> str:
    """Return the id by which a repeated import finds the record of a line.

    It is computed from the former id, so that an old record is found although its address was changed or erased.
    """
    return hmac.new(index_key, f"imported {former_id}".encode(), hashlib.sha256).hexdigest()


def offer_address(created_at: datetime, session_id: str) -> str:
    """Return the index key by which client addresses are found when they are due for erasure."""
    return f"{OFFER_ADDRESS}{sortable(created_at)}:{session_id}"


def product_id(product: ProductKey) -> str:
    """Return a product's id among the receipts."""
    return f"{product.vendor_slug}:{product.cert_code}"


def trial_id(run_id: str, product: ProductKey) -> str:
    """Return the id of a preflight's trial of one product."""
    return f"{run_id}:{product_id(product)}"


def trial_left(run_id: str, product: ProductKey) -> str:
    """Return the index key of a trial that needs attention."""
    return f"{TRIAL_LEFT}{trial_id(run_id, product)}"


def email_digest(email: str, index_key: bytes) -> str:
    """Return the keyed digest under which a buyer is indexed (decision 10)."""
    return hmac.new(index_key, normal_email(email).encode(), hashlib.sha256).hexdigest()


def email_digests(email: str, index_key: bytes) -> list[str]:
    """Return the digests under which a buyer may be indexed: today's, and that of an earlier release.

    Earlier releases stored every letter in lower case, those beyond ASCII too (docs/decisions/0027).
    """
    spellings = dict.fromkeys((normal_email(email), without_case(normal_email(email))))
    return [email_digest(one, index_key) for one in spellings]

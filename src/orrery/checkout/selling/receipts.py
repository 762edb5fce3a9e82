"""What the processor has accepted (change rule 1), and whether a session is that (change rule 2). Pure.

Change rule 2 is read in two ways (decision 6): the command `orrery checkout verify` compares a session with the
rule as it is written; the unattended check compares it with the setting, which change rule 3 lets be
any_3ds_required.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from orrery.checkout.access.rules import bought
from orrery.checkout.catalogue import METHODS, THREE_D_SECURE, ProductKey
from orrery.checkout.errors import SessionMismatch
from orrery.checkout.records import PreflightTrial, Receipt
from orrery.ports.processor import CheckoutSession, Parameter, Parameters
from orrery.syntax.base_url import THIS_MACHINE

LONGEST_PAGE = 2048
"""Characters of a payment page's address: the vendor uses some hundreds, and every browser takes this many."""

_ID = re.compile(r"cs_[A-Za-z0-9_]{1,250}")
_OTHER_MODE = {True: "cs_test_", False: "cs_live_"}
_CURRENCY = re.compile(r"[a-z]{3}")
_ADDRESS = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_PAGE}}}")


def payment_page(
    session: CheckoutSession,
    product: ProductKey,
    price_id: str,
    accepted: Receipt | None = None,
    *,
    livemode: bool,
) -> str:
    """Return where the visitor pays; raise `SessionMismatch` for a session that is not what was asked for."""
    wrong = _wrong_session(session, livemode=livemode) or wrong_content(session, product, price_id, accepted)
    if wrong:
        raise SessionMismatch(wrong)
    return session.url or ""


def wrong_content(
    session: CheckoutSession, product: ProductKey, price_id: str, accepted: Receipt | None = None
) -> str:
    """Return what a new session would sell instead of `product` at `price_id`, or nothing.

    Without line items, which the processor reports only when they are asked for, the price is not compared; an
    amount in another currency than that of the accepted session is not, either.
    """
    amount, currency = session.amount_total or 0, session.currency or ""
    known = accepted.amount_total if accepted and accepted.currency == currency else None
    found = f"{amount} {currency} in the smallest unit, where {known} {currency} was accepted"
    conditions = {
        "another product": bought(session) != product,
        "another price": session.price_ids not in {None, (price_id,)},
        "no currency": not _CURRENCY.fullmatch(currency),
        "no amount above zero": amount <= 0,
        "nothing to pay": session.payment_status != "unpaid",
        found: known not in (None, amount),
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


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """One parameter that differs, by the name that the processor gives it; None where it is missing."""

    name: str
    was: str | None
    becomes: str | None


def digest_of(parameters: Parameters, api_version: str) -> str:
    """Return the SHA-256 of parameters and API version, in hexadecimal digits."""
    content = {"api_version": api_version, "parameters": parameters}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def is_unaltered(receipt: Receipt) -> bool:
    """Return whether its parameters are those that were accepted; else it proves nothing."""
    return digest_of(parameters_of(receipt), receipt.api_version) == receipt.digest


def trial_key(run_id: str, product: ProductKey, attempt: int) -> str:
    """Return the idempotency key of a run's session for a product: a repeated request has the same one."""
    content = f"{product.vendor_slug}/{product.cert_code}#{attempt}"
    return f"orrery-preflight-{run_id}-{hashlib.sha256(content.encode()).hexdigest()[:24]}"


def parameters_of(record: Receipt | PreflightTrial) -> Parameters:
    return cast("Parameters", record.parameters)  # the stored values came from `Parameters`


def stored_form(parameters: Parameters) -> dict[str, JsonValue]:
    """Return parameters as a record keeps them."""
    return cast("dict[str, JsonValue]", parameters)  # text, whole numbers, flags, lists and tables are JSON


def price_of(parameters: Parameters) -> str:
    """Return the price of the one line item."""
    return dict(_flat("", parameters))["line_items[0][price]"]


def changes(was: Receipt | None, parameters: Parameters, api_version: str) -> list[ParameterChange]:
    """Return what differs from the receipt, by name; everything does without a receipt."""
    old = {"api_version": was.api_version, **dict(_flat("", parameters_of(was)))} if was else {}
    new = {"api_version": api_version, **dict(_flat("", parameters))}
    names = sorted({*old, *new})
    return [
        ParameterChange(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)
    ]


def _flat(name: str, value: Parameter) -> Iterator[tuple[str, str]]:
    """Yield each single value under the name that it has in the form that is sent (spec 1)."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _flat(f"{name}[{key}]" if name else key, below)
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from _flat(f"{name}[{number}]", below)
    else:
        yield name, str(value).lower() if isinstance(value, bool) else str(value)


METHODS_FIELD, THREE_D_SECURE_FIELD, MESSAGE_FIELD = (
    "payment_method_types",
    "payment_method_options.card.request_three_d_secure",
    "custom_text.submit.message",
)


@dataclass(frozen=True, slots=True)
class SessionCondition:
    """One condition on a session: what is wanted, what was found, and a note about the difference."""

    name: str
    wanted: str
    found: str
    holds: bool
    note: str = ""


def rule_conditions(session: CheckoutSession, setting: str) -> list[SessionCondition]:
    """Return the three conditions of change rule 2: methods in that order, automatic, a non-empty message.

    `setting` is the configured 3-D Secure value, which explains a permitted difference.
    """
    note = ""
    if session.three_d_secure == setting != THREE_D_SECURE[0]:
        wanted = f"this check wants exactly {THREE_D_SECURE[0]}"
        note = f"The setting is {setting}, which is permitted; {wanted}."
    return [
        _same(METHODS_FIELD, ", ".join(METHODS), ", ".join(session.payment_method_types)),
        _same(THREE_D_SECURE_FIELD, THREE_D_SECURE[0], session.three_d_secure or "", note),
        _message(session),
    ]


def sold_conditions(session: CheckoutSession, parameters: Parameters) -> list[SessionCondition]:
    """Return the same conditions with the values of `parameters`; the order of the methods does not count here."""
    sent = dict(_flat("", parameters))
    methods = ", ".join(sorted(_within(sent, "payment_method_types").values()))
    three_d_secure = sent.get("payment_method_options[card][request_three_d_secure]", "")
    return [
        _same(METHODS_FIELD, methods, ", ".join(sorted(session.payment_method_types))),
        _same(THREE_D_SECURE_FIELD, three_d_secure, session.three_d_secure or ""),
        _message(session),
    ]


def catalogue_conditions(session: CheckoutSession, parameters: Parameters) -> list[SessionCondition]:
    """Return whether price, quantity, metadata and both addresses are those of `parameters`."""
    sent = dict(_flat("", parameters))
    return [
        _same("price", sent.get("line_items[0][price]", ""), ", ".join(session.price_ids or ())),
        _same("quantity", sent.get("line_items[0][quantity]", ""), ", ".join(map(str, session.quantities or ()))),
        _same("metadata", _pairs(_within(sent, "metadata")), _pairs(dict(session.metadata))),
        _same("success_url", sent.get("success_url", ""), session.success_url or ""),
        _same("cancel_url", sent.get("cancel_url", ""), session.cancel_url or ""),
    ]


def failed(conditions: Sequence[SessionCondition]) -> list[SessionCondition]:
    return [one for one in conditions if not one.holds]


def _same(name: str, wanted: str, found: str, note: str = "") -> SessionCondition:
    return SessionCondition(name, wanted, found, wanted == found, note)


def _message(session: CheckoutSession) -> SessionCondition:
    message = session.submit_message or ""
    return SessionCondition(MESSAGE_FIELD, "not empty", message, bool(message.strip()))


def _within(sent: dict[str, str], name: str) -> dict[str, str]:
    """Return the values below a name of the form that is sent, by the rest of their names."""
    below = f"{name}["
    return {key.removeprefix(below)[:-1]: value for key, value in sent.items() if key.startswith(below)}


def _pairs(metadata: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(metadata.items()))

"""The conditions on a visitor's session (change rule 2), and whether they hold. Pure.

The rule is read in two ways (decision 6): the command `orrery checkout verify` compares a session with the rule as
it is written; the unattended check compares it with the setting, which change rule 3 lets be any_3ds_required.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import AwareDatetime

from orrery.ports.processor import CheckoutSession, Parameter, Parameters
from orrery.record import Record

RULE_METHODS = ("card", "link")
"""`payment_method_types = card, link` (spec 1, change rule 2)."""

RULE_THREE_D_SECURE = "automatic"
"""`request_three_d_secure = automatic` (spec 1, change rule 2)."""

METHODS, THREE_D_SECURE, MESSAGE = (
    "payment_method_types",
    "payment_method_options.card.request_three_d_secure",
    "custom_text.submit.message",
)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a session: what is wanted, what was found, and a note about the difference."""

    name: str
    wanted: str
    found: str
    holds: bool
    note: str = ""


class DriftResult(Record):
    """The conditions that did not hold at the last check of a visitor's session."""

    v: Literal[1] = 1
    session_id: str
    looked_at: AwareDatetime
    kinds: tuple[str, ...] = ()


def rule_conditions(session: CheckoutSession, setting: str) -> list[Condition]:
    """Return the three conditions of change rule 2: methods in that order, automatic, a non-empty message.

    `setting` is the configured 3-D Secure value, which explains a permitted difference.
    """
    note = ""
    if session.three_d_secure == setting != RULE_THREE_D_SECURE:
        wanted = f"this check wants {RULE_THREE_D_SECURE} to the letter"
        note = f"The setting says {setting}, which is permitted; {wanted}."
    return [
        _same(METHODS, ", ".join(RULE_METHODS), ", ".join(session.payment_method_types)),
        _same(THREE_D_SECURE, RULE_THREE_D_SECURE, session.three_d_secure or "", note),
        _message(session),
    ]


def sold_conditions(session: CheckoutSession, parameters: Parameters) -> list[Condition]:
    """Return the same conditions with the values of `parameters`; the order of the methods does not count here."""
    methods = sorted(_texts(parameters.get("payment_method_types")))
    return [
        _same(METHODS, ", ".join(methods), ", ".join(sorted(session.payment_method_types))),
        _same(THREE_D_SECURE, _at(parameters, *THREE_D_SECURE.split(".")), session.three_d_secure or ""),
        _message(session),
    ]


def catalogue_conditions(session: CheckoutSession, parameters: Parameters) -> list[Condition]:
    """Return whether price, quantity, metadata and both addresses are those of `parameters`."""
    item = _first(parameters.get("line_items"))
    metadata = parameters.get("metadata")
    wanted = {name: str(value) for name, value in metadata.items()} if isinstance(metadata, dict) else {}
    return [
        _same("price", _at(item, "price"), ", ".join(session.price_ids or ())),
        _same("quantity", _at(item, "quantity"), ", ".join(map(str, session.quantities or ()))),
        _same("metadata", _pairs(wanted), _pairs(dict(session.metadata))),
        _same("success_url", _at(parameters, "success_url"), session.success_url or ""),
        _same("cancel_url", _at(parameters, "cancel_url"), session.cancel_url or ""),
    ]


def failed(conditions: Sequence[Condition]) -> list[Condition]:
    return [one for one in conditions if not one.holds]


def _same(name: str, wanted: str, found: str, note: str = "") -> Condition:
    return Condition(name, wanted, found, wanted == found, note)


def _message(session: CheckoutSession) -> Condition:
    message = session.submit_message or ""
    return Condition(MESSAGE, "not empty", message, bool(message.strip()))


def _at(parameters: Parameter, *path: str) -> str:
    for name in path:
        parameters = parameters.get(name, "") if isinstance(parameters, dict) else ""
    return "" if isinstance(parameters, (dict, list)) else str(parameters)


def _first(items: Parameter | None) -> Parameter:
    return items[0] if isinstance(items, list) and items else {}


def _texts(items: Parameter | None) -> list[str]:
    return [str(item) for item in items] if isinstance(items, list) else []


def _pairs(metadata: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(metadata.items()))

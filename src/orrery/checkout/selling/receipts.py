"""Receipts: the processor has accepted exactly these parameters, in this API version (change rule 1). Pure."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, cast

from pydantic import AwareDatetime, JsonValue

from orrery.checkout.catalogue import ProductKey
from orrery.checkout.selling.new_session import AcceptedPrice
from orrery.ports.processor import Parameter, Parameters
from orrery.record import Record

KEEP_TRIALS = timedelta(days=30)
"""How long the records of preflights and of our own sessions are kept."""

TrialState = Literal["asked", "open", "expired", "completed", "left open", "rejected", "gone"]


class Receipt(Record):
    """The last parameters of a product that the processor has accepted; `digest` is over them and the version.

    `deployment` says where: in another mode, or at another processor, it proves nothing. `amount_total` and
    `currency` are those of the session that was tried, None in a receipt of an older release.
    """

    v: Literal[1] = 1
    vendor_slug: str
    cert_code: str
    digest: str
    parameters: dict[str, JsonValue]
    api_version: str
    run_id: str
    deployment: str
    session_id: str
    accepted_at: AwareDatetime
    amount_total: int | None = None
    currency: str | None = None

    @property
    def accepted_price(self) -> AcceptedPrice | None:
        """Return what its session asked for, if it is known."""
        if self.amount_total is None or self.currency is None:
            return None
        return AcceptedPrice(self.amount_total, self.currency)

    @property
    def is_unaltered(self) -> bool:
        """Return whether its parameters are those that were accepted; else it proves nothing."""
        return digest_of(parameters_of(self), self.api_version) == self.digest


class Trial(Record):
    """The state of one product in a preflight.

    `asked` is written before the request: a repeated request with the same `idempotency_key` gets the same
    session. `stand_in` means that the price is not the product's own. `mismatch` is a sentence about a session
    that is not what was asked for: then there is no receipt.
    """

    v: Literal[1] = 1
    run_id: str
    deployment: str
    intent_id: str
    vendor_slug: str
    cert_code: str
    digest: str
    parameters: dict[str, JsonValue]
    api_version: str
    stand_in: bool
    attempt: int = 1
    idempotency_key: str
    state: TrialState = "asked"
    session_id: str | None = None
    expiry_intent_id: str | None = None
    note: str = ""
    asked_at: AwareDatetime
    amount_total: int | None = None
    currency: str | None = None
    mismatch: str = ""

    @property
    def product(self) -> ProductKey:
        return ProductKey("cert", self.cert_code, self.vendor_slug)

    @property
    def is_unfinished(self) -> bool:
        """Return whether it may have left a session open."""
        return self.state in {"asked", "open"}

    @property
    def needs_attention(self) -> bool:
        """Return whether it needs attention: its session may be open, or was completed."""
        return self.is_unfinished or self.state == "completed"


class OwnSession(Record):
    """A session that a preflight or a verification created."""

    v: Literal[1] = 1
    session_id: str
    made_by: Literal["preflight", "verify"]
    run_id: str = ""
    made_at: AwareDatetime


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """One parameter that differs, by the name that the processor gives it; None where there is none."""

    name: str
    was: str | None
    becomes: str | None


def digest_of(parameters: Parameters, api_version: str) -> str:
    """Return the SHA-256 of parameters and API version, in hexadecimal digits."""
    content = {"api_version": api_version, "parameters": parameters}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def trial_key(run_id: str, product: ProductKey, attempt: int) -> str:
    """Return the idempotency key of a run's session for a product: a repeated request has the same one."""
    content = f"{product.vendor_slug}/{product.cert_code}#{attempt}"
    return f"orrery-preflight-{run_id}-{hashlib.sha256(content.encode()).hexdigest()[:24]}"


def parameters_of(record: Receipt | Trial) -> Parameters:
    return cast("Parameters", record.parameters)  # the stored values came from `Parameters`


def stored_form(parameters: Parameters) -> dict[str, JsonValue]:
    """Return parameters as a record keeps them."""
    return cast("dict[str, JsonValue]", parameters)  # text, whole numbers, flags, lists and tables are JSON


def price_of(parameters: Parameters) -> str:
    """Return the price of the one line item."""
    return dict(_flat("", parameters))["line_items[0][price]"]


def changes(was: Receipt | None, parameters: Parameters, api_version: str) -> list[ParameterChange]:
    """Return what differs from the receipt, by name; everything does when there is none."""
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

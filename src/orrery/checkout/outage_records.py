"""What is stored while sessions cannot be made, or buyers share one address: see `selling/health.py`."""

from datetime import timedelta

from pydantic import AwareDatetime, IPvAnyAddress

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Code, Record, RecordPart, Sentence
from orrery.runtime.collection import Collection

KEEP_OUTAGE = timedelta(days=7)
"""How long `orrery doctor` reports the last outage of session creation."""

KEEP_PROXY = timedelta(hours=24)
"""How long a proxy counts after its last request: longer than a night without buyers."""


class FailureRow(RecordPart):
    """Failures in a row, at all nodes, of one product or under an empty name of all, that are no outage yet."""

    product: Code
    since: AwareDatetime
    count: int


class CreationOutage(Record):
    """An outage, with the last reason and what to do about it. `product` is set while all failures were for it.

    `mismatch`: it is one only because a session was not what was asked for. `rows` may become the next one; a
    record with them alone has no `failures`, and its last one long ago.
    """

    since: AwareDatetime
    last_failure_at: AwareDatetime
    failures: int
    product: Code | None
    why: Sentence
    todo: Sentence
    mismatch: bool = False
    rows: tuple[FailureRow, ...] = ()


class ProxySighting(Record):
    """An address that many buyers share. `forwards`: it sends a forwarding header; `refused`: its 429 answers."""

    address: IPvAnyAddress
    forwards: bool
    refused: int
    seen_at: AwareDatetime


def creation_outage_of(store: Store, clock: Clock) -> Collection[CreationOutage]:
    """Return the one record of the last outage."""
    return Collection(store, clock, CreationOutage, "checkout-creation-outage", life=KEEP_OUTAGE)


def proxy_of(store: Store, clock: Clock) -> Collection[ProxySighting]:
    """Return the one record of a proxy that was seen."""
    return Collection(store, clock, ProxySighting, "checkout-untrusted-proxy", life=KEEP_PROXY)

"""The records of what is sold: attempts, receipts, trials, drift, and the sessions that Orrery made itself."""

from typing import Any

from orrery.checkout import keys
from orrery.checkout.records import KEEP_ATTEMPTS, Attempt
from orrery.checkout.selling.receipts import KEEP_TRIALS, DriftResult, OwnSession, Receipt, Trial
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import Collection


def kept(store: Store, clock: Clock) -> list[Collection[Any]]:
    """Return every collection here whose records are not made anew by themselves."""
    return [one(store, clock) for one in (attempts, receipts, trials, own_sessions)]


def attempts(store: Store, clock: Clock) -> Collection[Attempt]:
    """Return the visitors' idempotency keys, by the digest of their scope."""
    return Collection(store, clock, Attempt, keys.ATTEMPT, life=lambda _: KEEP_ATTEMPTS)


def receipts(store: Store, clock: Clock) -> Collection[Receipt]:
    """Return the last receipts, by `keys.product_id`."""
    return Collection(store, clock, Receipt, keys.RECEIPT)


def trials(store: Store, clock: Clock) -> Collection[Trial]:
    """Return the trials of preflights, by run and product; a trial is indexed while it needs attention."""
    return Collection(store, clock, Trial, keys.TRIAL, life=lambda _: KEEP_TRIALS)


def drift(store: Store, clock: Clock) -> Collection[DriftResult]:
    """Return the result of the last check for drift."""
    return Collection(store, clock, DriftResult, keys.DRIFT)


def own_sessions(store: Store, clock: Clock) -> Collection[OwnSession]:
    """Return the sessions that preflights and verifications created."""
    return Collection(store, clock, OwnSession, keys.OWN_SESSION, life=lambda _: KEEP_TRIALS)

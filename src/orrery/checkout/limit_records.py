"""What is stored of clients that were let through, as long as their limits look back."""

from datetime import timedelta

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import Collection
from orrery.runtime.shared_times import LetThrough


def limits_of(store: Store, clock: Clock) -> tuple[Collection[LetThrough], Collection[LetThrough]]:
    """Return when clients started sessions, and when they asked for lost links."""
    hour, day = timedelta(hours=1), timedelta(days=1)
    return (
        Collection(store, clock, LetThrough, "limit-session:", derived=True, life=hour),
        Collection(store, clock, LetThrough, "limit-link:", derived=True, life=day),
    )

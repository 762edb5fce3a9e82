"""The store that a restore replaces, for those who learn from it."""

from dataclasses import dataclass

from orrery.ports.store import Store


@dataclass(frozen=True, slots=True)
class ReplacedStore:
    """The store that a restore replaces.

    `went_on`: it is sound and at least as new as the snapshot. If both have one origin, it knows what became of
    the snapshot's messages.
    """

    store: Store
    went_on: bool

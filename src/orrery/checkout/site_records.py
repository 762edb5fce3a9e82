"""What is stored of the checks of sites: see `site/watch.py`."""

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Code, Record, Sentence
from orrery.runtime.collection import FOR_EVER, Collection


class CheckedSite(Record):
    """What the last check of a site found; `since` is when it was first not well.

    `not_reached` is the reason while the site does not answer; `faults` are then those of the check before.
    `leaks`: one of them lets somebody see practice pages who has no access.
    """

    checked_at: AwareDatetime
    since: AwareDatetime | None = None
    not_reached: Sentence = ""
    faults: tuple[Code, ...] = ()
    leaks: bool = False


def checked_sites_of(store: Store, clock: Clock) -> Collection[CheckedSite]:
    """Return the results, by the site's origin."""
    return Collection(store, clock, CheckedSite, "checked-site:", derived=True, life=FOR_EVER)

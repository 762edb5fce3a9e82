"""A store goes from one place to another: each step lasts, and the same copy begun again goes on from there."""

from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from math import ceil

from orrery.errors import Invalid, OrreryError, StoreMissing, StoreUnavailable
from orrery.ports.store import StoreContents, StorePlace

_PAGE = 5000
_OTHER_STEPS = 4
"""The source is closed, and the target made, given the commits that are remembered, and opened."""


def copied(source: StorePlace, target: StorePlace, page: int = _PAGE) -> Iterator[int | None]:
    """Move what `source` holds to `target`, and yield after each step: a kill at any point loses nothing.

    What it yields is how many steps a copy from the beginning has, once that is known.

    Neither is to be opened until all is there, and then only the target. Raises `Invalid` where the target is
    neither empty nor this copy's, or something uses the file that is the source; the source is as it was then.
    """
    _refuse_others(source, target)
    if source.closed() and _is_open(target):  # only the end was left to do
        _require_beyond(source, target)
    else:
        _prepare(source, target)
        yield None
        source.close(_moved(target))
        yield None
        yield from _carried_over(source, target, page)
        target.close(None)
        yield None
    source.set_aside()


def undone(source: StorePlace, target: StorePlace) -> None:
    """Take back a copy that is not complete: the target is removed, and the source may be opened again.

    Raises `Invalid` where the target is open, or is another copy's.
    """
    _refuse_others(source, target)
    try:
        if target.closed() != _filling(source):
            raise Invalid(f"The store at {target} is no unfinished copy of {source}: nothing was changed.")
        target.remove()
    except StoreMissing:  # it was not yet made, or was removed before
        pass
    source.close(None)


def digest(place: StorePlace) -> tuple[int, str]:
    """Return how many entries a store holds, and a digest of them and of the commits that it remembers."""
    found, entries = sha256(), 0
    with place.reading(may_be_closed=True) as held:
        for row in held.rows:
            found.update(repr(row).encode())
            entries += 1
        for commit in held.commits:
            found.update(repr(commit).encode())
    return entries, found.hexdigest()


def _moved(target: StorePlace) -> str:
    return f"it was moved to {target}"


def _filling(source: StorePlace) -> str:
    return f"it is not yet a whole copy of {source}, until `orrery store copy` has ended"


def _refuse_others(source: StorePlace, target: StorePlace) -> None:
    if str(source) == str(target):
        raise Invalid("Name two places: the store is moved from the one to the other.")
    if (why := source.closed()) not in (None, _moved(target)):
        raise Invalid(f"The store at {source} is closed: {why}.")


def _is_open(place: StorePlace) -> bool:
    try:
        return place.closed() is None
    except StoreMissing:
        return False


def _prepare(source: StorePlace, target: StorePlace) -> None:
    """Have an empty target that is closed, or the one that an earlier run has begun to fill."""
    try:
        why = target.closed()
    except StoreMissing:
        target.create()
        why = None
    if why == _filling(source):
        return
    if why is not None:
        raise Invalid(f"The store at {target} is closed: {why}.")
    if _last_version(target):
        raise Invalid(f"The store at {target} is not empty: nothing was changed.")
    target.close(_filling(source))


def _carried_over(source: StorePlace, target: StorePlace, page: int) -> Iterator[int]:
    try:
        entries, held = digest(source)
        for _ in _filled(source, target, page):
            yield ceil(entries / page) + _OTHER_STEPS
        if digest(target) != (entries, held):
            raise StoreUnavailable(f"What is in {target} differs from what is in {source}.")
        _require_beyond(source, target)
    except OrreryError as error:
        raise StoreUnavailable(
            f"{error} The copy is not complete, and {source} stays closed: type the same again to go on, "
            "or with --undo to open it again."
        ) from error


def _filled(source: StorePlace, target: StorePlace, page: int) -> Iterator[None]:
    """Add what the target has not: it has the rows up to some key, and all commits or none."""
    with target.reading(may_be_closed=True) as held:
        after = max((row.key for row in held.rows), default=b"")
        has_commits = any(held.commits)
    with source.reading(after, may_be_closed=True) as left:
        while rows := list(islice(left.rows, page)):
            target.load(StoreContents(iter(rows), iter(()), 0), may_be_closed=True)
            yield
        commits = iter(()) if has_commits else left.commits
        target.load(StoreContents(iter(()), commits, left.last_version), may_be_closed=True)
    yield


def _require_beyond(source: StorePlace, target: StorePlace) -> None:
    """Raise `StoreUnavailable` unless the target goes on beyond each version that the source gave out."""
    if _last_version(target) < _last_version(source):
        raise StoreUnavailable(f"The store at {target} has not all that {source} gave out.")


def _last_version(place: StorePlace) -> int:
    with place.reading(may_be_closed=True) as held:
        return held.last_version

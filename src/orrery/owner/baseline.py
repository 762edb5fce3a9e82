"""Which secrets lay there before, and what to make of those that lie there now. Pure.

    learned ──same──▶ nothing
       │ ├──another value, or the old one again, announced──▶ learned anew ("rotated")
       │ └──gone, empty, other, unreadable──▶ alarm, once ──as before──▶ "back"

What is kept is of the deployment; an alarm is of the process that sees it. So two processes that see different
things (a new one whose variables were wiped beside an old one) do not call each other off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from orrery.owner.fingerprints import Place, Seen
from orrery.record import Record

EVERY = timedelta(minutes=10)
"""How often the secrets are looked at (issue item 7)."""

ANNOUNCED_FOR = timedelta(hours=24)
"""How long an announced rotation may take."""

FORGOTTEN_AFTER = 3 * EVERY
"""An alarm whose process has not looked for so long is of a process that is no more."""

Trouble = Literal["vanished", "emptied", "changed", "unreadable", "refused", "mode", "restart"]
"""What is not as it was. `restart`: it is well where it lies, but the process holds another value."""

Kind = Literal[
    "vanished", "emptied", "changed", "unreadable", "refused", "mode", "rotated", "removed", "appeared", "back"
]
"""What the owner is told."""

_OTHERS = 0o077
"""The rights of everybody but the file's owner."""

_LOST: dict[str, Trouble] = {
    "missing": "vanished",
    "empty": "emptied",
    "unreadable": "unreadable",
    "refused": "refused",
}


class Announcement(Record):
    """The owner is about to change a secret, or to take it away for good (`removal`)."""

    v: Literal[1] = 1
    name: str
    reason: str
    removal: bool = False
    at: datetime
    until: datetime


class Alarm(Record):
    """What one process, the `observer`, sees since when; `fingerprint` is that of another value, or empty."""

    trouble: Trouble
    fingerprint: str
    observer: str
    since: datetime
    seen_at: datetime


class Kept(Record):
    """What is right for one secret, as far as we know, and who sees something else.

    `fingerprint` is null where there is to be none. `previous` still counts until `previous_until`, so that
    the processes of a deployment can be restarted one after the other. `seen_by` is the fingerprint that each
    process saw last while a rotation is announced: one that sees the old value after the new has been rolled back,
    one that saw the old only was not restarted yet.
    """

    v: Literal[1] = 1
    name: str
    fingerprint: str | None
    previous: str | None = None
    previous_until: datetime | None = None
    place: Place = ""
    mode: int | None = None
    since: datetime
    alarms: tuple[Alarm, ...] = ()
    seen_by: Mapping[str, str] = {}

    def worst(self) -> Alarm | None:
        """Return the alarm that says the most: any before `restart`, then the oldest."""
        return min(self.alarms, key=lambda one: (one.trouble == "restart", one.since), default=None)


@dataclass(frozen=True, slots=True)
class Look:
    """Who looks, when, what the secret's announcement says, and what the looking process holds in memory."""

    at: datetime
    observer: str
    announced: Announcement | None = None
    held: str | None = None


def compared(kept: Kept | None, name: str, seen: Seen, look: Look) -> tuple[Kept | None, Kind | None]:
    """Return what is to be kept from now on, and what the owner must be told, if anything."""
    if seen.state == "unknown":
        return kept, None
    if kept is None:
        return _learned(name, seen, look), None
    trouble = _trouble(kept, seen, look.at)
    if trouble is None and _is_put_back(kept, seen, look):
        return _learned(name, seen, look, kept), "rotated"
    if trouble is None:
        return _as_before(kept, seen, look)
    if accepted := _accepted(kept, trouble, look):
        return _learned(name, seen, look, kept), accepted
    return _alarmed(kept, trouble, seen, look)


def _learned(name: str, seen: Seen, look: Look, before: Kept | None = None) -> Kept:
    rotated = before is not None and before.fingerprint and seen.fingerprint and look.announced
    learned = Kept(
        name=name,
        fingerprint=seen.fingerprint or None,
        previous=before.fingerprint if before and rotated else None,
        previous_until=look.announced.until if look.announced and rotated else None,
        place=seen.place,
        mode=seen.mode,
        since=look.at,
        seen_by={look.observer: seen.fingerprint} if rotated else {},
    )
    return learned.change(alarms=_restart(learned, seen, look))


def _trouble(kept: Kept, seen: Seen, now: datetime) -> Trouble | None:
    """Return how the secret differs from what is right."""
    if kept.fingerprint is None:
        return "changed" if seen.fingerprint else None
    if trouble := _LOST.get(seen.state):
        return trouble
    if (kept.place, seen.place) == ("directory", "copy"):
        return "vanished"
    if seen.fingerprint != kept.fingerprint and not _is_previous(kept, seen, now):
        return "changed"
    return "mode" if _is_wider(kept, seen) else None


def _is_previous(kept: Kept, seen: Seen, now: datetime) -> bool:
    counts = kept.previous_until is not None and now < kept.previous_until
    return counts and seen.fingerprint == kept.previous


def _is_put_back(kept: Kept, seen: Seen, look: Look) -> bool:
    """Return whether a process that has seen the new value sees the one before, while a change is announced."""
    if look.announced is None or kept.fingerprint is None or seen.fingerprint == kept.fingerprint:
        return False
    return kept.seen_by.get(look.observer) == kept.fingerprint


def _is_wider(kept: Kept, seen: Seen) -> bool:
    if kept.place != seen.place or kept.mode is None or seen.mode is None:
        return False
    return bool(seen.mode & ~kept.mode & _OTHERS)


def _accepted(kept: Kept, trouble: Trouble, look: Look) -> Kind | None:
    """Return how a difference is told that is the new right, or None when it is an alarm.

    An announced change covers no loss: a wiped variable must not pass for a rotation.
    """
    if trouble == "changed" and kept.fingerprint is None:
        return "appeared"
    if look.announced is None:
        return None
    if trouble in ("changed", "mode"):
        return "rotated"
    return "removed" if look.announced.removal and trouble in ("vanished", "emptied") else None


def _as_before(kept: Kept, seen: Seen, look: Look) -> tuple[Kept, Kind | None]:
    left = _of_others(kept, look)
    moved = {"place": seen.place, "mode": seen.mode} if seen.fingerprint == kept.fingerprint else {}
    seen_by = {**kept.seen_by, look.observer: seen.fingerprint} if look.announced and kept.previous else {}
    after = kept.change(**moved, seen_by=seen_by, alarms=(*left, *_restart(kept, seen, look)))
    return after, "back" if _is_told(kept) and not _is_told(after) else None


def _alarmed(kept: Kept, trouble: Trouble, seen: Seen, look: Look) -> tuple[Kept, Kind | None]:
    # What is left after a loss does not matter: two processes that miss a file may see that differently.
    other = seen.fingerprint if trouble == "changed" else ""
    alarm = _alarm(kept, trouble, other, look)
    known = any((one.trouble, one.fingerprint) == (trouble, other) for one in kept.alarms)
    after = kept.change(alarms=(*_of_others(kept, look), alarm))
    return after, None if known or trouble == "restart" else trouble


def _restart(kept: Kept, seen: Seen, look: Look) -> tuple[Alarm, ...]:
    """Return the alarm that the process holds another value than the one that lies there, if it does."""
    if seen.place == "" or look.held == (seen.fingerprint or None):
        return ()
    return (_alarm(kept, "restart", seen.fingerprint, look),)


def _alarm(kept: Kept, trouble: Trouble, fingerprint: str, look: Look) -> Alarm:
    since = min(
        (one.since for one in kept.alarms if (one.trouble, one.fingerprint) == (trouble, fingerprint)),
        default=look.at,
    )
    return Alarm(trouble=trouble, fingerprint=fingerprint, observer=look.observer, since=since, seen_at=look.at)


def _of_others(kept: Kept, look: Look) -> tuple[Alarm, ...]:
    recent = [one for one in kept.alarms if look.at - one.seen_at < FORGOTTEN_AFTER]
    return tuple(one for one in recent if one.observer != look.observer)


def _is_told(kept: Kept) -> bool:
    return any(one.trouble != "restart" for one in kept.alarms)

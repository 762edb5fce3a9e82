"""The known state of each secret, and how the present state differs from it. Pure.

    learned ──same──▶ nothing
       │ ├──another value, or the old one again, announced──▶ learned anew ("rotated")
       │ └──gone, empty, other, unreadable──▶ alarm, once ──as before──▶ "back"

The known state belongs to the deployment; an alarm belongs to the process that raised it. So two processes that
see different values (a new one whose variables were wiped, beside an old one) do not clear each other's alarms.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from orrery.owner.fingerprints import Place, Seen
from orrery.record import Record

EVERY = timedelta(minutes=10)
"""How often the secrets are checked (issue item 7)."""

ANNOUNCED_FOR = timedelta(hours=24)
"""How long an announced rotation may take."""

FORGOTTEN_AFTER = 3 * EVERY
"""An alarm is dropped when its process has not checked for this long: that process has ended."""

Trouble = Literal["vanished", "emptied", "changed", "unreadable", "refused", "mode", "restart"]
"""How a secret differs from its known state. `restart`: its file is right, but the process holds another value."""

Kind = Literal[
    "vanished", "emptied", "changed", "unreadable", "refused", "mode", "rotated", "removed", "appeared", "back"
]
"""The kinds of push about a secret."""

_OTHERS = 0o077
"""The rights of everybody but the file's owner."""

_LOST: dict[str, Trouble] = {
    "missing": "vanished",
    "empty": "emptied",
    "unreadable": "unreadable",
    "refused": "refused",
}


class Announcement(Record):
    """The owner is about to change a secret, or to remove it permanently (`removal`)."""

    v: Literal[1] = 1
    name: str
    reason: str
    removal: bool = False
    at: datetime
    until: datetime


class Alarm(Record):
    """A difference that one process, the `observer`, sees; `fingerprint` is that of another value, or empty."""

    trouble: Trouble
    fingerprint: str
    observer: str
    since: datetime
    seen_at: datetime


class Kept(Record):
    """The known state of one secret, and the alarms of the processes that see another state.

    `fingerprint` is null for a secret that is not set. `previous` still counts until `previous_until`, so that
    the processes of a deployment can be restarted one after the other. `seen_by` is the fingerprint that each
    process saw last while a rotation is announced: a process that sees the old value after the new one has been
    rolled back; a process that saw only the old one was not restarted yet.
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
        """Return the most serious alarm: any other before `restart`, then the oldest."""
        return min(self.alarms, key=lambda one: (one.trouble == "restart", one.since), default=None)


@dataclass(frozen=True, slots=True)
class Look:
    """The process that checks, the time, the secret's announcement, and the fingerprint of the value in memory."""

    at: datetime
    observer: str
    announced: Announcement | None = None
    held: str | None = None


def compared(kept: Kept | None, name: str, seen: Seen, look: Look) -> tuple[Kept | None, Kind | None]:
    """Return the known state from now on, and the kind of push to send, if any."""
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
    """Return how the secret differs from its known state."""
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
    """Return the kind of push about a difference that is accepted, or None when it is an alarm.

    An announced change accepts no loss: a wiped variable must not pass for a rotation.
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
    # After a loss the remaining value does not matter: two processes that miss a file may see it differently.
    other = seen.fingerprint if trouble == "changed" else ""
    alarm = _alarm(kept, trouble, other, look)
    known = any((one.trouble, one.fingerprint) == (trouble, other) for one in kept.alarms)
    after = kept.change(alarms=(*_of_others(kept, look), alarm))
    return after, None if known or trouble == "restart" else trouble


def _restart(kept: Kept, seen: Seen, look: Look) -> tuple[Alarm, ...]:
    """Return an alarm when the process holds another value than the secret's file."""
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

"""The known state of each secret, and how the present state differs from it. Pure.

    learned ──same──▶ nothing
       │ ├──another value, or the old one again, announced──▶ learned again ("rotated")
       │ └──gone, empty, other, unreadable──▶ alarm ──as before──▶ learned

The known state belongs to the deployment; an alarm belongs to the process that raised it. So two processes that
see different values (a new one whose variables were wiped, beside an old one) do not clear each other's alarms.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from orrery.record import Code, Id, Record, RecordPart, Sentence
from orrery.runtime.due import is_ahead
from orrery.secrets.fingerprints import Place, SecretObservation

EVERY = timedelta(minutes=5)
"""How often the secrets are checked: the owner has the push about a loss within 600 s."""

ANNOUNCED_FOR = timedelta(hours=24)
"""How long an announced rotation may take."""

FORGOTTEN_AFTER = 6 * EVERY
"""An alarm is dropped when its process has not checked for this long: that process has ended."""

Trouble = Literal["vanished", "emptied", "changed", "unreadable", "refused", "mode", "restart"]
"""How a secret differs from its known state. `restart`: its file is right, but the process holds another value."""

SecretEventKind = Literal[
    "vanished", "emptied", "changed", "unreadable", "refused", "mode", "rotated", "removed", "appeared"
]
"""What may happen to a secret."""

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

    name: Code
    reason: Sentence
    removal: bool = False
    at: datetime
    until: datetime


class Alarm(RecordPart):
    """A difference that one process, the `observer`, sees; `fingerprint` is that of another value, or empty."""

    trouble: Trouble
    fingerprint: Id
    observer: Code
    since: datetime
    seen_at: datetime


class Baseline(Record):
    """The known state of one secret, and the alarms of the processes that see another state.

    `fingerprint` is null for a secret that is not set. `previous` still counts until `previous_until`, so that
    the processes of a deployment can be restarted one after the other. `seen_by` is the fingerprint that each
    process saw last while a rotation is announced: a process that sees the old value after the new one has been
    rolled back; a process that saw only the old one was not restarted yet.
    """

    name: Code
    fingerprint: Id | None
    previous: Id | None = None
    previous_until: datetime | None = None
    place: Place = ""
    mode: int | None = None
    since: datetime
    alarms: tuple[Alarm, ...] = ()
    seen_by: Mapping[Code, Code] = {}

    def worst(self) -> Alarm | None:
        """Return the most serious alarm: any other before `restart`, then the oldest."""
        return min(self.alarms, key=lambda one: (one.trouble == "restart", one.since), default=None)


@dataclass(frozen=True, slots=True)
class CheckContext:
    """The process that checks, the time, the secret's announcement, and the fingerprint of the value in memory."""

    at: datetime
    observer: str
    announced: Announcement | None = None
    held: str | None = None


def compare(
    baseline: Baseline | None, name: str, observed: SecretObservation, context: CheckContext
) -> tuple[Baseline | None, SecretEventKind | None]:
    """Return the known state from now on, and what happened, if anything did."""
    if observed.state == "unknown":
        return baseline, None
    if baseline is None:
        return _learned(name, observed, context), None
    trouble = _trouble(baseline, observed, context.at)
    if trouble is None and _is_put_back(baseline, observed, context):
        return _learned(name, observed, context, baseline), "rotated"
    if trouble is None:
        return _as_before(baseline, observed, context), None
    if accepted := _accepted(baseline, trouble, context):
        return _learned(name, observed, context, baseline), accepted
    return _alarmed(baseline, trouble, observed, context)


def _learned(
    name: str, observed: SecretObservation, context: CheckContext, before: Baseline | None = None
) -> Baseline:
    rotated = before is not None and before.fingerprint and observed.fingerprint and context.announced
    learned = Baseline(
        name=name,
        fingerprint=observed.fingerprint or None,
        previous=before.fingerprint if before and rotated else None,
        previous_until=context.announced.until if context.announced and rotated else None,
        place=observed.place,
        mode=observed.mode,
        since=context.at,
        seen_by={context.observer: observed.fingerprint} if rotated else {},
    )
    return learned.change(alarms=_restart(learned, observed, context))


def _trouble(baseline: Baseline, observed: SecretObservation, now: datetime) -> Trouble | None:
    """Return how the secret differs from its known state."""
    if baseline.fingerprint is None:
        return "changed" if observed.fingerprint else None
    if trouble := _LOST.get(observed.state):
        return trouble
    if (baseline.place, observed.place) == ("directory", "copy"):
        return "vanished"
    if observed.fingerprint != baseline.fingerprint and not _is_previous(baseline, observed, now):
        return "changed"
    return "mode" if _is_wider(baseline, observed) else None


def _is_previous(baseline: Baseline, observed: SecretObservation, now: datetime) -> bool:
    until = baseline.previous_until
    return until is not None and is_ahead(until, now, ANNOUNCED_FOR) and observed.fingerprint == baseline.previous


def _is_put_back(baseline: Baseline, observed: SecretObservation, context: CheckContext) -> bool:
    """Return whether a process that has seen the new value sees the one before, while a change is announced."""
    if context.announced is None or baseline.fingerprint is None or observed.fingerprint == baseline.fingerprint:
        return False
    return baseline.seen_by.get(context.observer) == baseline.fingerprint


def _is_wider(baseline: Baseline, observed: SecretObservation) -> bool:
    if baseline.place != observed.place or baseline.mode is None or observed.mode is None:
        return False
    return bool(observed.mode & ~baseline.mode & _OTHERS)


def _accepted(baseline: Baseline, trouble: Trouble, context: CheckContext) -> SecretEventKind | None:
    """Return the kind of push about a difference that is accepted, or None when it is an alarm.

    An announced change accepts no loss: a wiped variable must not pass for a rotation.
    """
    if trouble == "changed" and baseline.fingerprint is None:
        return "appeared"
    if context.announced is None:
        return None
    if trouble in ("changed", "mode"):
        return "rotated"
    return "removed" if context.announced.removal and trouble in ("vanished", "emptied") else None


def _as_before(baseline: Baseline, observed: SecretObservation, context: CheckContext) -> Baseline:
    left = _of_others(baseline, context)
    moved = (
        {"place": observed.place, "mode": observed.mode} if observed.fingerprint == baseline.fingerprint else {}
    )
    seen_by = (
        {**baseline.seen_by, context.observer: observed.fingerprint}
        if context.announced and baseline.previous
        else {}
    )
    return baseline.change(**moved, seen_by=seen_by, alarms=(*left, *_restart(baseline, observed, context)))


def _alarmed(
    baseline: Baseline, trouble: Trouble, observed: SecretObservation, context: CheckContext
) -> tuple[Baseline, SecretEventKind | None]:
    # After a loss the remaining value does not matter: two processes that miss a file may see it differently.
    other = observed.fingerprint if trouble == "changed" else ""
    alarm = _alarm(baseline, trouble, other, context)
    known = any((one.trouble, one.fingerprint) == (trouble, other) for one in baseline.alarms)
    after = baseline.change(alarms=(*_of_others(baseline, context), alarm))
    return after, None if known or trouble == "restart" else trouble


def _restart(baseline: Baseline, observed: SecretObservation, context: CheckContext) -> tuple[Alarm, ...]:
    """Return an alarm when the process holds another value than the secret's file."""
    if observed.place == "" or context.held == (observed.fingerprint or None):
        return ()
    return (_alarm(baseline, "restart", observed.fingerprint, context),)


def _alarm(baseline: Baseline, trouble: Trouble, fingerprint: str, context: CheckContext) -> Alarm:
    since = min(
        (one.since for one in baseline.alarms if (one.trouble, one.fingerprint) == (trouble, fingerprint)),
        default=context.at,
    )
    return Alarm(
        trouble=trouble, fingerprint=fingerprint, observer=context.observer, since=since, seen_at=context.at
    )


def _of_others(baseline: Baseline, context: CheckContext) -> tuple[Alarm, ...]:
    recent = [
        one for one in baseline.alarms if is_ahead(one.seen_at + FORGOTTEN_AFTER, context.at, FORGOTTEN_AFTER)
    ]
    return tuple(one for one in recent if one.observer != context.observer)

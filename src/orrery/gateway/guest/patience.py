"""How long a healthy gateway may take: what is proposed from its last start and stop, and ten answers. Pure."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orrery.gateway.guest.observed import UnitState
from orrery.gateway.guest.options import LONGEST_PATIENCE

READ = (
    *("LoadState", "ActiveState", "Type", "TimeoutStartUSec", "TimeoutStopUSec", "InactiveExitTimestampMonotonic"),
    *("ActiveEnterTimestampMonotonic", "ActiveExitTimestampMonotonic", "InactiveEnterTimestampMonotonic"),
)
"""The properties of a unit that a proposal follows from."""

DEFAULTS = ("DefaultTimeoutStartUSec", "DefaultTimeoutStopUSec")
"""The properties of systemd itself that a proposal follows from."""

ASSUMED: Mapping[str, int] = {"start_within": 90, "answer_within": 2, "stop_within": 5}
"""Seconds: what the scripts take where nothing is known, and the least that is proposed. A start after a boot is
slower than any that was measured before."""

TIMES = 3
"""How many times as long as what was measured is well."""

_READY_BY_WORD = frozenset({"notify", "notify-reload", "forking", "dbus"})
"""The types of a service that is active once it can answer; others are active once their process is there."""

_PART = re.compile(r"([0-9.]+)(us|ms|s|min|h|d|w)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}


@dataclass(frozen=True, slots=True)
class Proposal:
    """An option that was not given and is not kept: its seconds, and what they follow from."""

    option: str
    seconds: int
    why: str


def proposals(
    state: UnitState, systemd: UnitState, answers: Sequence[float], *, has_probe: bool
) -> Iterator[Proposal]:
    """Yield what is proposed; nothing for what is not known.

    `systemd` has its own time-outs: a unit that has others was given them. `answers` are the seconds
    that each one took.
    """
    if (took := _start_took(state, has_probe=has_probe)) is not None:
        allowed = _of_unit(state.one("TimeoutStartUSec"), systemd.one("DefaultTimeoutStartUSec"))
        yield _proposal("start_within", [took], allowed, f"its last start took {took:.1f} s")
    if answers:
        yield _proposal(
            "answer_within", answers, None, f"the slowest of {len(answers)} answers took {max(answers):.1f} s"
        )
    took = _between(state, "ActiveExitTimestampMonotonic", "InactiveEnterTimestampMonotonic")
    why = "no stop of it was seen" if took is None else f"its last stop took {took:.1f} s"
    allowed = _of_unit(state.one("TimeoutStopUSec"), systemd.one("DefaultTimeoutStopUSec"))
    yield _proposal("stop_within", [took or 0.0], allowed, why)


def start_proposal(measured: Sequence[float]) -> Proposal:
    """Return what a drill proposes, which has measured starts until the first answer, in seconds."""
    return _proposal("start_within", measured, None, f"the slowest start took {max(measured):.1f} s")


def seconds_shown(text: str) -> float | None:
    """Return the seconds of a time as systemd shows it, such as `1min 30s`; None for `infinity` and others."""
    parts = [_PART.fullmatch(part) for part in text.split()]
    found = [float(part[1]) * _SECONDS[part[2]] for part in parts if part]
    return sum(found) if found and len(found) == len(parts) else None


def _proposal(option: str, measured: Sequence[float], allowed: float | None, why: str) -> Proposal:
    wanted = max(ASSUMED[option], math.ceil(TIMES * max(measured)), math.ceil(allowed or 0))
    if allowed is not None:
        why = f"{why}, and its unit allows {allowed:g} s"
    if wanted > (longest := LONGEST_PATIENCE[option]):
        why = f"{why}; {longest}s is the most that can be given"
    return Proposal(option, min(wanted, longest), why)


def _start_took(state: UnitState, *, has_probe: bool) -> float | None:
    if state.one("ActiveState") != "active" or (has_probe and state.one("Type") not in _READY_BY_WORD):
        return None
    return _between(state, "InactiveExitTimestampMonotonic", "ActiveEnterTimestampMonotonic")


def _between(state: UnitState, begin: str, end: str) -> float | None:
    """Return the seconds between two of systemd's times, or None when the second is not after the first."""
    times = [state.one(name) for name in (begin, end)]
    began, ended = (int(time) if time.isdecimal() else 0 for time in times)
    return (ended - began) / 1_000_000 if 0 < began <= ended else None


def _of_unit(shown: str, default: str) -> float | None:
    """Return a time-out that the unit sets itself, in seconds."""
    return None if shown == default else seconds_shown(shown)

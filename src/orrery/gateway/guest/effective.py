"""Whether systemd's values of a unit are those that our files set, and which file overrides them. Pure."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orrery.gateway.guest.files import HostFile
from orrery.gateway.guest.observed import UnitState
from orrery.gateway.guest.overrides import Assignment, assignments, last_assignment
from orrery.ports.health import Finding

READ = (
    *("LoadState", "ActiveState", "SubState", "UnitFileState", "NeedDaemonReload", "FragmentPath", "DropInPaths"),
    *("Result", "ExecMainStatus", "NRestarts", "ActiveEnterTimestampMonotonic", "ActiveExitTimestampMonotonic"),
    *("RefuseManualStart", "RefuseManualStop", "ExecMainStartTimestampMonotonic", "TimersMonotonic"),
    *("StartLimitBurst", "StartLimitIntervalUSec", "Restart", "RestartUSec", "Type", "TimeoutStartUSec"),
    *("OnFailure", "AccuracyUSec", "ExecStart"),
)
"""The properties that are asked of every unit."""

_WORDS = frozenset({"StartLimitBurst", "Restart", "Type", "OnFailure"})
_TIMERS = {"OnBootSec": "OnBootUSec", "OnUnitActiveSec": "OnUnitActiveUSec"}
_TIMES = {
    **_TIMERS,
    "StartLimitIntervalSec": "StartLimitIntervalUSec",
    "RestartSec": "RestartUSec",
    "TimeoutStartSec": "TimeoutStartUSec",
    "AccuracySec": "AccuracyUSec",
}
_OLDER = {"StartLimitIntervalSec": ("StartLimitIntervalSec", "StartLimitInterval")}
"""Keys that systemd reads as another one."""

_HONOURED_IN_SERVICE = ("StartLimitBurst", "StartLimitInterval")
"""The keys of [Unit] that systemd reads in [Service] too, as it did long ago."""

_OF_UNIT = ("StartLimitBurst", "StartLimitInterval", "StartLimitIntervalSec", "OnFailure")
_OF_SERVICE = ("Restart", "RestartSec")
_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "h": 3600}
_TIME = re.compile(r"([0-9]+)([a-z]*)")
_TIMER = re.compile(r"\{ (\w+)=(.*?) ; .*\}")
_RELOAD = "systemctl daemon-reload"


@dataclass(frozen=True, slots=True)
class _Expected:
    """A line of our file, and the value that systemd shows for it."""

    line: Assignment
    property: str
    value: str


def unit_findings(state: UnitState, ours: HostFile) -> list[Finding]:
    """Return what is wrong with a unit's values, or the one finding that all are as `ours` sets them."""
    if found := _unusable(state, ours):
        return [found]
    expected = [*_expected(ours)]
    wrong = [*_reload(state), *_deviations(state, expected, ours.path), *_misplaced(state, ours.path)]
    if wrong:
        return wrong
    values = ", ".join(f"{one.line.key}={one.line.value}" for one in expected if one.property != "ExecStart")
    return [Finding(state.name, "ok", f"systemd has our values: {values}")]


def _unusable(state: UnitState, ours: HostFile) -> Finding | None:
    load = state.one("LoadState")
    if load == "masked":
        runtime = " --runtime" if state.one("UnitFileState") == "masked-runtime" else ""
        place = state.one("FragmentPath")
        why = f"It is masked by {place}: nothing can start it." if place else "It is masked: nothing can start it."
        return Finding(state.name, "broken", why, f"Type: systemctl unmask{runtime} {state.name}")
    if load != "loaded":
        is_ours = ours.path.endswith(f"/{state.name}")
        todo = "Install again." if is_ours else f"See why: systemctl status {state.name}"
        return Finding(state.name, "broken", f"systemd cannot use it ({load or 'no answer'}).", todo)
    return None


def _reload(state: UnitState) -> Iterator[Finding]:
    if state.one("NeedDaemonReload") == "yes":
        which = f": {', '.join(state.unread)}" if state.unread else ""
        why = f"Its files were changed, and systemd has not read them since{which}."
        yield Finding(state.name, "broken", why, f"Type: {_RELOAD}")


def _expected(ours: HostFile) -> Iterator[_Expected]:
    for line in assignments([(ours.path, ours.text)]):
        if line.key in _WORDS:
            yield _Expected(line, line.key, line.value)
        elif line.key in _TIMES:
            yield _Expected(line, _TIMES[line.key], shown_time(line.value))
        elif line.key == "ExecStart":
            yield _Expected(line, "ExecStart", " ".join(shlex.split(line.value)))


def shown_time(text: str) -> str:
    """Return a time of our files as `systemctl show` prints it: `1800` is `30min`."""
    found = _TIME.fullmatch(text)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"))
    return " ".join(f"{number}{unit}" for number, unit in parts if number) or "0"


def _deviations(state: UnitState, expected: Sequence[_Expected], ours: str) -> Iterator[Finding]:
    found = assignments(state.sources)
    for one in expected:
        if _is_so(state, one):
            continue
        sections = {one.line.section, "Service"} if one.line.key in _HONOURED_IN_SERVICE else {one.line.section}
        # No file can take a failure hook away: systemd adds them up.
        others = [] if one.property == "OnFailure" else found
        last = last_assignment(others, sections, _OLDER.get(one.line.key, (one.line.key,)))
        is_only_unread = state.one("NeedDaemonReload") == "yes" and last is not None and last.path == ours
        if not is_only_unread:
            yield _deviation(state, one, last, ours)


def _is_so(state: UnitState, expected: _Expected) -> bool:
    if expected.property == "OnFailure":
        return expected.value in shlex.split(state.one("OnFailure"))
    if expected.property in _TIMERS.values():
        shown = state.properties.get("TimersMonotonic", ())
        timers = {(found[1], found[2]) for text in shown if (found := _TIMER.fullmatch(text))}
        return (expected.property, expected.value) in timers
    if expected.property == "ExecStart":
        return f" argv[]={expected.value} ;" in state.one("ExecStart")
    return state.one(expected.property) == expected.value


def _deviation(state: UnitState, expected: _Expected, last: Assignment | None, ours: str) -> Finding:
    is_now = "another" if expected.property == "ExecStart" else state.one(expected.property) or "missing"
    why = f"{expected.line.key} is {is_now} instead of {expected.value}"
    if last is None or last.path == ours:
        unread = [path for path, text in state.sources if text is None]
        if unread:
            return Finding(state.name, "broken", f"{why}; {unread[0]} cannot be read.", "Look at it as root.")
        return Finding(state.name, "broken", f"{why}: systemd does not use {ours}.", "Install again.")
    return Finding(
        state.name,
        "broken",
        f"{why}: {last.place} sets {last.key}={last.value} in [{last.section}].",
        f"Remove that line, then type: {_RELOAD}",
    )


def _misplaced(state: UnitState, ours: str) -> Iterator[Finding]:
    for one in assignments(state.sources):
        is_misplaced = (one.section == "Service" and one.key in _OF_UNIT) or (
            one.section == "Unit" and one.key in _OF_SERVICE
        )
        if not is_misplaced or one.path == ours:
            continue
        right = "[Service]" if one.section == "Unit" else "[Unit]"
        effect = "is read, but its interval is not" if one.key == "StartLimitBurst" else "has no effect"
        if one.key == "StartLimitInterval":
            effect = "is read"
        yield Finding(
            state.name,
            "broken",
            f"{one.place}: {one.key} stands in [{one.section}], where it {effect}.",
            f"Remove it, or move it to {right}, then type: {_RELOAD}",
        )

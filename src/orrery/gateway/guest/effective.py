"""Whether systemd's values of a unit are those that our files set, and which other files set them. Pure."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from orrery.gateway.guest.files import HostFile
from orrery.gateway.guest.observed import UnitState
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

_SECONDS = {"": 1, "s": 1, "sec": 1, "min": 60, "h": 3600}
_TIME = re.compile(r"([0-9]+)([a-z]*)")
_TIMER = re.compile(r"\{ (\w+)=(.*?) ; .*\}")
_RELOAD = "systemctl daemon-reload"


@dataclass(frozen=True, slots=True)
class _Expected:
    """`key=text` in our file, and the property and value that systemd shows for it."""

    key: str
    text: str
    property: str
    value: str


def unit_findings(state: UnitState, ours: HostFile) -> list[Finding]:
    """Return what is wrong with a unit's values, or the one finding that all are as `ours` sets them."""
    if found := _unusable(state, ours):
        return [found]
    expected = [*_expected(ours)]
    wrong = [*_reload(state), *_deviations(state, expected, ours.path)]
    if wrong:
        return wrong
    values = ", ".join(f"{one.key}={one.text}" for one in expected if one.property != "ExecStart")
    return [Finding(state.name, "ok", f"systemd has our values: {values}", essential=False)]


def _unusable(state: UnitState, ours: HostFile) -> Finding | None:
    load = state.one("LoadState")
    if load == "masked":
        runtime = " --runtime" if state.one("UnitFileState") == "masked-runtime" else ""
        place = state.one("FragmentPath")
        why = f"It is masked by {place}: nothing can start it." if place else "It is masked: nothing can start it."
        return Finding(state.name, "broken", why, f"Type: systemctl unmask{runtime} {state.name}", essential=False)
    if load != "loaded":
        is_ours = ours.path.endswith(f"/{state.name}")
        todo = "Install again." if is_ours else f"See why: systemctl status {state.name}"
        return Finding(
            state.name, "broken", f"systemd cannot use it ({load or 'no answer'}).", todo, essential=False
        )
    return None


def _reload(state: UnitState) -> Iterator[Finding]:
    if state.one("NeedDaemonReload") == "yes":
        which = f": {', '.join(state.unread)}" if state.unread else ""
        why = f"Its files were changed, and systemd has not read them since{which}."
        yield Finding(state.name, "broken", why, f"Type: {_RELOAD}", essential=False)


def _expected(ours: HostFile) -> Iterator[_Expected]:
    for line in ours.text.splitlines():
        key, _, text = line.partition("=")
        if key in _WORDS:
            yield _Expected(key, text, key, text)
        elif key in _TIMES:
            yield _Expected(key, text, _TIMES[key], shown_time(text))
        elif key == "ExecStart":
            yield _Expected(key, text, key, " ".join(shlex.split(text)))


def shown_time(text: str) -> str:
    """Return a time of our files as `systemctl show` prints it: `1800` is `30min`."""
    found = _TIME.fullmatch(text)
    seconds = int(found[1]) * _SECONDS[found[2]] if found else 0
    parts = ((seconds // 3600, "h"), (seconds // 60 % 60, "min"), (seconds % 60, "s"))
    return " ".join(f"{number}{unit}" for number, unit in parts if number) or "0"


def _deviations(state: UnitState, expected: Sequence[_Expected], ours: str) -> Iterator[Finding]:
    later = _later(state, ours)
    unread = [path for path, text in later if text is None]
    for one in expected:
        if _is_so(state, one):
            continue
        # No file can take a failure hook away: systemd adds them up.
        places = [] if one.property == "OnFailure" else [*_places(later, one.key)]
        if unread or places or state.one("NeedDaemonReload") != "yes":
            yield _deviation(state, one, unread, places, ours)


def _later(state: UnitState, ours: str) -> Sequence[tuple[str, str | None]]:
    """Return the files that systemd reads after ours; all where it does not read ours."""
    paths = [path for path, _ in state.sources]
    return state.sources[paths.index(ours) + 1 :] if ours in paths else state.sources


def _places(sources: Sequence[tuple[str, str | None]], key: str) -> Iterator[str]:
    """Yield the lines that set a key, in any section, in systemd's order."""
    keys = _OLDER.get(key, (key,))
    for path, text in sources:
        for number, line in enumerate((text or "").splitlines(), 1):
            if line.partition("=")[0].strip() in keys:
                yield f"{path}, line {number} ({line.strip()})"


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


def _deviation(
    state: UnitState, expected: _Expected, unread: Sequence[str], places: Sequence[str], ours: str
) -> Finding:
    is_now = "another" if expected.property == "ExecStart" else state.one(expected.property) or "missing"
    why = f"{expected.key} is {is_now} instead of {expected.value}"
    if unread:
        return Finding(
            state.name, "broken", f"{why}; {unread[0]} cannot be read.", "Look at it as root.", essential=False
        )
    if places:
        todo = f"Remove what overrides it, then type: {_RELOAD}"
        return Finding(
            state.name, "broken", f"{why}. Other files set it: {', '.join(places)}.", todo, essential=False
        )
    return Finding(state.name, "broken", f"{why}: systemd does not use {ours}.", "Install again.", essential=False)

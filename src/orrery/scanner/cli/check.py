"""`orrery tenants scan --check`: each part of the scanner, how it is, and why."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from orrery.errors import NotConfigured, OrreryError
from orrery.ports.scanner import NO_NAMES
from orrery.scanner.cli.arguments import put
from orrery.scanner.deployment import Loaded, ScanDeployment
from orrery.scanner.protection import gaps
from orrery.scanner.pushed import PushedFindings
from orrery.scanner.scanning import Scan
from orrery.syntax.lines import visible

LATE = timedelta(hours=3)
"""How long after the last round of the destinations their timer counts as broken; it runs each hour."""

State = Literal["ok", "broken", "off"]


@dataclass(frozen=True, slots=True)
class ScannerPart:
    """One part of the scanner, in the states of `orrery doctor`."""

    part: str
    state: State
    why: str


def check(
    config: Path | None, deployment: ScanDeployment, compose: Callable[[Loaded], Scan], *, as_json: bool
) -> int:
    """Print each part; return 1 when one is broken."""
    parts = [
        *_of_search(config, deployment, compose),
        *_of_hooks(config, deployment),
        *_of_rounds(config, deployment),
    ]
    if as_json:
        put(json.dumps([asdict(one) for one in parts], indent=2))
    else:
        for one in parts:
            put(f"{one.state:<8}{one.part:<14}{visible(one.why)}")
    return int(any(one.state == "broken" for one in parts))


def _of_search(
    config: Path | None, deployment: ScanDeployment, compose: Callable[[Loaded], Scan]
) -> Iterator[ScannerPart]:
    try:
        loaded = deployment.load(config)
    except OrreryError as error:
        yield ScannerPart("settings", "broken", str(error))
        return
    terms = len(loaded.policy.terms)
    if loaded.policy.is_blind:
        yield ScannerPart("watch-list", "broken", NO_NAMES)
    else:
        why = f"It has {terms:,} terms." if terms else "There is no watch-list."
        yield ScannerPart("watch-list", "ok" if terms else "off", why)
    yield from (ScannerPart("note", "off", one) for one in loaded.notes)
    yield from (ScannerPart("baseline", "broken", one.why) for one in loaded.allowances.baseline.refused)
    try:
        _ = compose(loaded)
    except OrreryError as error:
        yield ScannerPart("rules", "broken", str(error))
    else:
        yield ScannerPart("rules", "ok", "They can be searched for.")


def _of_hooks(config: Path | None, deployment: ScanDeployment) -> Iterator[ScannerPart]:
    try:
        number = len(deployment.protected().all(config))
        trouble = next(one.trouble for one in gaps(config, deployment) if one.name == "hooks")
    except OrreryError as error:
        yield ScannerPart("hooks", "broken", str(error))
        return
    state: State = "broken" if trouble else "ok" if number else "off"
    yield ScannerPart("hooks", state, trouble or f"Protected repositories: {number}.")


def _of_rounds(config: Path | None, deployment: ScanDeployment) -> Iterator[ScannerPart]:
    rounds = deployment.rounds()
    try:
        places = rounds.places(config)
        missing = [one.name for one in places if not one.folder.is_dir()]
        yield ScannerPart(
            "destinations", "broken" if missing else "ok" if places else "off", _named(len(places), missing)
        )
        _ = rounds.push(config)
        yield ScannerPart("push", "ok", "It is configured.")
    except NotConfigured as error:
        yield ScannerPart("push", "off", str(error))
    except OrreryError as error:
        yield ScannerPart("destinations", "broken", str(error))
        return
    try:
        yield _last(PushedFindings.of(rounds.pushed(config).read()).ended, rounds.now())
    except OrreryError as error:
        yield ScannerPart("timer", "broken", str(error))


def _named(number: int, missing: list[str]) -> str:
    return f"The folder is missing of {', '.join(missing)}." if missing else f"{number} with a folder."


def _last(ended: str, now: datetime) -> ScannerPart:
    if not ended:
        return ScannerPart("timer", "off", "No round of the destinations with --notify has ended yet.")
    late = now - datetime.fromisoformat(ended) > LATE
    why = f"The last round of the destinations ended at {ended[:16].replace('T', ' ')} UTC."
    return ScannerPart("timer", "broken" if late else "ok", why)

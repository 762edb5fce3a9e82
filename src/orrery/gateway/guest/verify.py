"""Whether the recovery on a host is as installed, and what is wrong with the gateway (spec 3, Errors). Pure."""

from collections.abc import Iterator
from datetime import timedelta

from orrery.gateway.causes import CREDENTIALS, Ping, diagnosis
from orrery.gateway.guest.effective import unit_findings
from orrery.gateway.guest.observed import Observed, UnitState
from orrery.gateway.guest.options import Options
from orrery.gateway.guest.surroundings import (
    feature_findings,
    file_findings,
    patience_finding,
    progress_findings,
    tool_findings,
)
from orrery.gateway.guest.unit_name import UnitName
from orrery.ports.health import Finding

GATEWAY = "gateway"
"""The part of the service itself."""


def verified(unit: UnitName, options: Options, observed: Observed) -> list[Finding]:
    """Return every finding: the service, systemd's values, files, features, tools, and what was done lately."""
    return [
        _gateway(options, observed),
        *_units(unit, observed),
        *file_findings(observed.files),
        *feature_findings(options, observed.secrets),
        patience_finding(options),
        *tool_findings(observed, options),
        *progress_findings(observed, options),
    ]


def _gateway(options: Options, observed: Observed) -> Finding:
    ping, judgement = _ping(observed), observed.judgement
    if judgement.finding == "starting":
        todo = f"Wait, then type: sudo orrery gateway guest verify --unit {options.unit}"
        return Finding(GATEWAY, "off", f"It is not there yet: {judgement.why}.", todo, essential=False)
    found = diagnosis(ping, timedelta(seconds=_down_seconds(observed)), options.token_script)
    if found.cause:
        return Finding(GATEWAY, "broken", found.cause, found.fix.replace("UNIT", options.unit), essential=False)
    if ping.state == "paused":
        return Finding(GATEWAY, "off", "It is stopped, and the recovery is paused.", essential=False)
    answer = f", probe: {judgement.answer}" if judgement.answer else ""
    if judgement.finding == "slow":
        todo = "Look at its log. If it usually takes so long, install with a longer --answer-within."
        return Finding(GATEWAY, "ok", f"{ping.state} and slow: {judgement.why}{answer}", todo, essential=False)
    return Finding(GATEWAY, "ok", f"{ping.state} ({ping.sub_state}){answer}", essential=False)


def _ping(observed: Observed) -> Ping:
    state = observed.unit
    load, active = state.one("LoadState"), state.one("ActiveState")
    shown = {"masked": "masked", "not-found": "missing"}.get(load, active)
    if active != "active" and observed.progress and observed.progress.pause_left(observed.now):
        shown = "paused"
    status = state.one("ExecMainStatus")
    return Ping(
        state=shown,
        probe=observed.judgement.answer,
        judgement=observed.judgement.finding,
        sub_state=state.one("SubState"),
        result=state.one("Result"),
        exec_main_status=int(status) if status.isdecimal() else 0,
        restarts=int(state.one("NRestarts")) if state.one("NRestarts").isdecimal() else 0,
    )


def _down_seconds(observed: Observed) -> int:
    """Return for how long the unit has not run, as far as this can be known.

    A service without its credential counts as active for a moment at each try, and a reported outage lasts longer.
    """
    left = observed.unit.one("ActiveExitTimestampMonotonic")
    since_exit = observed.up_seconds - int(left) // 1_000_000 if left.isdecimal() else 0
    progress = observed.progress
    if observed.unit.one("ExecMainStatus") == str(CREDENTIALS) and progress and progress.outage_since is not None:
        return min(max(since_exit, observed.now - progress.outage_since), observed.up_seconds)
    return since_exit


def _units(unit: UnitName, observed: Observed) -> Iterator[Finding]:
    drop_in = f"{unit.drop_in_folder}/cold-boot-retry.conf"
    ours = {file.path.rpartition("/")[2]: file for file, _ in observed.files}
    files = {file.path: file for file, _ in observed.files}
    yield from unit_findings(observed.unit, files[drop_in])
    yield from _refusals(observed.unit)
    for name in unit.own_units:
        yield from unit_findings(observed.own[name], ours[name])
    for name in (unit.timer, unit.watch):
        yield from _not_started(observed.own[name])
    if observed.stale_watch:
        why = "It runs what was installed before."
        yield Finding(unit.watch, "broken", why, f"Type: systemctl restart {unit.watch}", essential=False)
    if observed.own[unit.recover_service].one("ActiveState") == "failed":
        why = f"Its last run failed ({observed.own[unit.recover_service].one('Result')})."
        yield Finding(
            unit.recover_service, "broken", why, f"Look at: journalctl -u {unit.recover_service}", essential=False
        )


def _refusals(state: UnitState) -> Iterator[Finding]:
    for name in ("RefuseManualStart", "RefuseManualStop"):
        if state.one(name) == "yes":
            why = f"{name}=yes: systemd refuses to restart it for the recovery."
            yield Finding(
                state.name,
                "broken",
                why,
                f"Remove {name} from its files: systemctl cat {state.name}",
                essential=False,
            )


def _not_started(state: UnitState) -> Iterator[Finding]:
    if state.one("LoadState") != "loaded":
        return
    enabled, active = state.one("UnitFileState"), state.one("ActiveState")
    if enabled != "enabled":
        why = f"It is {enabled or 'not enabled'}: it does not start with the machine."
        yield Finding(state.name, "broken", why, f"Type: systemctl enable {state.name}", essential=False)
    if active != "active":
        yield Finding(
            state.name, "broken", f"It is {active}.", f"Type: systemctl start {state.name}", essential=False
        )

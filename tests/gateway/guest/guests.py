"""A gateway's host as `verify` reads it: whole, to be broken by a test."""

from dataclasses import replace

from orrery.gateway.guest.files import HostFile, host_files
from orrery.gateway.guest.observed import (
    HostTools,
    Judgement,
    Observed,
    RecoveryState,
    SecretFile,
    StoredFile,
    UnitState,
)
from orrery.gateway.guest.options import Options
from orrery.gateway.guest.unit_name import unit_name
from orrery.gateway.guest.verify import verified
from orrery.ports.health import Finding

UNIT = unit_name("gateway.service")
OPTIONS = Options(
    unit=UNIT.unit,
    probe="http://127.0.0.1:9/healthz",
    push="https://ntfy.example.org",
    topic_file="/etc/gateway/topic",
    ping="https://shop.example.org/ping",
    ping_token_file="/etc/gateway/ping_token",  # noqa: S106  a path, no password
    token_script="/usr/local/bin/fetch-token",  # noqa: S106  a path, no password
    start_within="120",
    answer_within="3",
    stop_within="5",
)
NOW = 1_800_000_000
DROP_IN = f"{UNIT.drop_in_folder}/cold-boot-retry.conf"
OTHER = f"{UNIT.drop_in_folder}/zz-other.conf"

_ACTIVE = {"LoadState": "loaded", "ActiveState": "active", "SubState": "running", "NeedDaemonReload": "no"}
_SHOWN = {
    UNIT.unit: {
        "StartLimitBurst": "20",
        "StartLimitIntervalUSec": "30min",
        "Restart": "on-failure",
        "RestartUSec": "1min",
        "OnFailure": "x.service gateway-alert.service",
        "RefuseManualStart": "no",
        "RefuseManualStop": "no",
        "Result": "success",
        "ExecMainStatus": "0",
    },
    UNIT.timer: {"AccuracyUSec": "1s", "UnitFileState": "enabled"},
    UNIT.watch: {
        "StartLimitIntervalUSec": "0",
        "Restart": "always",
        "RestartUSec": "2s",
        "UnitFileState": "enabled",
        "Type": "simple",
    },
    UNIT.recover_service: {
        "StartLimitIntervalUSec": "0",
        "Type": "oneshot",
        "TimeoutStartUSec": "14min",
        "OnFailure": "gateway-alert.service",
        "ActiveState": "inactive",
    },
    UNIT.alert: {
        "StartLimitIntervalUSec": "0",
        "Type": "oneshot",
        "TimeoutStartUSec": "2min",
        "Restart": "on-failure",
        "RestartUSec": "1min",
        "ActiveState": "inactive",
    },
}
"""What systemd 252 shows of the units as they are installed."""


def whole() -> Observed:
    """Return what is read of a host on which all is well."""
    files = host_files(UNIT, OPTIONS)
    sources = {file.path.rpartition("/")[2]: (file.path, file.text) for file in files}
    states = {name: _state(name, sources) for name in _SHOWN}
    return Observed(
        now=NOW,
        is_root=True,
        files=tuple((file, as_stored(file)) for file in files),
        unit=replace(
            states.pop(UNIT.unit), sources=(("/etc/systemd/system/gateway.service", ""), _drop_in(files))
        ),
        own=states,
        tools=HostTools(curl=True, wget=""),
        secrets={path: secret(path) for path in (OPTIONS.topic_file, OPTIONS.ping_token_file)},
        progress=RecoveryState(),
        judgement=Judgement("good", "200"),
        up_seconds=100_000,
        own_name=UNIT.name,
    )


def as_stored(file: HostFile) -> StoredFile:
    return StoredFile(file.text.encode(), file.mode, is_roots=True)


def secret(path: str, mode: int = 0o600, *, filled: bool | None = True) -> SecretFile:
    return SecretFile(path, exists=True, is_roots=True, mode=mode, is_filled=filled)


def with_unit(observed: Observed, **properties: str) -> Observed:
    """Return the same host, on which systemd shows other properties of the gateway's unit."""
    changed = {**observed.unit.properties, **{name: (value,) for name, value in properties.items()}}
    return replace(observed, unit=replace(observed.unit, properties=changed))


def with_own(observed: Observed, name: str, **properties: str) -> Observed:
    """Return the same host, on which systemd shows other properties of one of our units."""
    state = observed.own[name]
    changed = {**state.properties, **{key: (value,) for key, value in properties.items()}}
    return replace(observed, own={**observed.own, name: replace(state, properties=changed)})


def with_source(observed: Observed, text: str, path: str = OTHER) -> Observed:
    """Return the same host with another drop-in of the gateway's unit, which systemd reads last."""
    return replace(observed, unit=replace(observed.unit, sources=(*observed.unit.sources, (path, text))))


def faults(observed: Observed, options: Options = OPTIONS) -> list[Finding]:
    """Return what `verify` finds broken."""
    return [finding for finding in verified(UNIT, options, observed) if finding.state == "broken"]


def _state(name: str, sources: dict[str, tuple[str, str]]) -> UnitState:
    shown: dict[str, tuple[str, ...]] = {key: (value,) for key, value in (_ACTIVE | _SHOWN[name]).items()}
    if name == UNIT.timer:
        timers = ("{ OnBootUSec=30s ; next_elapse=30s }", "{ OnUnitActiveUSec=15min ; next_elapse=16min }")
        shown["TimersMonotonic"] = timers
    if name in (UNIT.watch, UNIT.recover_service, UNIT.alert):
        what = name.removeprefix(f"{UNIT.name}-").removesuffix(".service")
        argv = f"argv[]=/bin/sh {UNIT.script}-{what}.sh"
        shown["ExecStart"] = (f"{{ path=/bin/sh ; {argv} ; ignore_errors=no }}",)
    return UnitState(name, shown, (sources[name],) if name in sources else ())


def _drop_in(files: tuple[HostFile, ...]) -> tuple[str, str]:
    return next((file.path, file.text) for file in files if file.path == DROP_IN)

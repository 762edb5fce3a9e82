"""Reading the gateway's host for `verify`."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from orrery.errors import Invalid
from orrery.gateway.guest.effective import READ
from orrery.gateway.guest.files import host_files
from orrery.gateway.guest.host import Host
from orrery.gateway.guest.installation import kept_options, watch_is_older
from orrery.gateway.guest.judgement import judged
from orrery.gateway.guest.observed import HostTools, Observed, RecoveryState, SecretFile, UnitState
from orrery.gateway.guest.options import Options
from orrery.gateway.guest.surroundings import file_findings
from orrery.gateway.guest.unit_name import UnitName
from orrery.gateway.guest.verify import verified
from orrery.ports.health import Finding
from orrery.syntax.lines import one_line

_PLACES = tuple(f"{one}/systemd/system" for one in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
"""Where the drop-ins of a unit are."""

_CLOCK = re.compile(r"(?P<boot>\S+) (?P<base>[0-9]+) (?P<noted>[0-9]+)")

_NEEDED = ("flock", "timeout", "busctl")


def examined(host: Host, unit: UnitName, options: Options) -> list[Finding]:
    """Return the findings about a host; of a folder only those about its files."""
    if host.root is not None:
        return [*file_findings([(file, host.stored(file.path)) for file in host_files(unit, options)])]
    return verified(unit, options, observed(host, unit, options))


def require_answer(host: Host, unit: UnitName, options: Options) -> None:
    """Raise `Invalid` for a new probe that calls the running service dead: the guest would restart it.

    The probe of an installation that knows no patience is a new one, too: it was judged by other rules.
    """
    kept = kept_options(host, unit)
    if not options.probe or (kept and kept.probe == options.probe and kept.answer_within):
        return
    found = judged(host, unit, options)
    if found.finding in {"hanging", "dead"} and found.answer:
        raise Invalid(
            f"{unit.unit} runs, and --probe calls it dead ({found.answer}): the guest would restart it again and "
            "again. "
            f"Correct --probe, or give a longer --answer-within; if the service does hang, first type: "
            f"systemctl restart {unit.unit}"
        )


def observed(host: Host, unit: UnitName, options: Options) -> Observed:
    """Read everything that `verify` judges."""
    files = host_files(unit, options)
    return Observed(
        now=clock_of(host, unit),
        is_root=host.is_root,
        files=tuple((file, host.stored(file.path)) for file in files),
        unit=unit_state(host, unit.unit),
        own={name: unit_state(host, name) for name in unit.own_units},
        tools=_tools(host),
        secrets=_secrets(host, options),
        progress=progress(host, unit),
        judgement=judged(host, unit, options),
        up_seconds=int(host.awake()),
        stale_watch=watch_is_older(host, unit),
        own_name=unit.name,
    )


def unit_state(host: Host, name: str) -> UnitState:
    """Return a unit's properties and the files that systemd has read for it."""
    bare = host.show(name, READ)
    paths = [bare.one("FragmentPath"), *shlex.split(bare.one("DropInPaths"))]
    sources = tuple((path, host.text(path)) for path in paths if path)
    unread = _unread(host, bare, paths) if bare.one("NeedDaemonReload") == "yes" else ()
    return replace(bare, sources=sources, unread=unread)


def _unread(host: Host, state: UnitState, known: Sequence[str]) -> tuple[str, ...]:
    """Return the files of a unit that were written, or removed, since systemd last read all units."""
    # Two readings of the wall clock, each of its moment, as systemd compares them too: a clock that was put back
    # between can leave a file unnamed here, and changes nothing in what is found.
    if not (since := host.units_read_at()):
        return ()
    there = [
        f"{folder}/{name}"
        for folder in (f"{place}/{state.name}.d" for place in _PLACES)
        for name in host.entries(folder) or []
        if name.endswith(".conf")
    ]
    paths = dict.fromkeys([*(path for path in known if path), *there])
    return tuple(path for path in paths if not 0 < host.modified_at(path) <= since)


def clock_of(host: Host, unit: UnitName) -> int:
    """Return the seconds that the machine has run since the recovery came to it, as the scripts count them.

    They note their clock as the boot, what the boots before it came to, and the time when they noted that.
    """
    kept = _CLOCK.fullmatch(_kept(host, unit, "clock"))
    before = kept["base" if kept["boot"] == host.boot() else "noted"] if kept else 0
    return int(host.uptime()) + int(before)


def _kept(host: Host, unit: UnitName, name: str) -> str:
    """Return a text that the scripts keep; on a full disk that is in /run."""
    return (host.text(f"{unit.run_folder}/{name}") or host.text(f"{unit.state_folder}/{name}") or "").strip()


def progress(host: Host, unit: UnitName) -> RecoveryState | None:
    """Return what the recovery keeps, or None for who may not read it."""
    folder = unit.state_folder
    names = host.entries(folder)
    waiting, in_memory = host.entries(f"{folder}/outbox"), host.entries(f"{unit.run_folder}/outbox") or []
    if names is None or waiting is None:
        return None

    def number(name: str) -> int | None:
        first = _kept(host, unit, name).partition(" ")[0]
        return int(first) if first.isdecimal() else None

    fires = _kept(host, unit, "fires").split()
    return RecoveryState(
        fires=tuple(int(one) for one in fires if one.isdecimal()),
        outage_since=number("outage"),
        flap_since=number("flap"),
        paused_until=number("paused-until"),
        waiting_pushes=sum(not name.endswith(".new") for name in [*waiting, *in_memory]),
        ping_refusal=one_line(host.text(f"{unit.run_folder}/ping-refused") or ""),
    )


def _tools(host: Host) -> HostTools:
    wget = host.program("wget")
    kind = "busybox" if wget and wget.endswith("/busybox") else "gnu" if wget else ""
    missing = tuple(name for name in _NEEDED if host.program(name) is None)
    return HostTools(host.program("curl") is not None, kind, missing)


def _secrets(host: Host, options: Options) -> Mapping[str, SecretFile]:
    return {path: host.secret(path) for path in (options.topic_file, options.ping_token_file) if path}

"""How soon the gateway's service answers after a fault, on a real systemd, and what watching it costs.

Beside it are the units of the specification, whose timer comes each 15 min: it is measured at `SCALE` of that.
Asserts nothing.
"""

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rich.table import Table

from bench.against import CURRENT, Version, in_turns
from orrery.runtime.console.terminal import new_console
from tests.support.waiting import eventually
from tests.systemd.gateway import Gateway, Machine, machine

RUNS = 20
RUNS_AGAINST = 10
"""Runs of each version, where two are compared."""
AT_ONCE = 5
"""How many units hang at the same time: a hang takes half a minute to notice."""
SCALE = 30
LONGEST = 100
"""Seconds after which a fault counts as not noticed."""
IDLE = 60
"""Seconds for which the cost at rest is measured."""
HEADLINE = 8.56
"""Seconds: the recovery of a stopped gateway that the specification reports (spec 3, Limits)."""

AIMS = {"clean stop": (2.0, 5.0), "crash": (5.0, 5.0), "exhausted budget": (10.0, 10.0), "hang": (30.0, 30.0)}
"""Seconds from the fault to the first answer: of the median, and at most."""

_SPECIFIED = {
    "{unit}.d/cold-boot-retry.conf": "[Unit]\nStartLimitBurst=20\nStartLimitIntervalSec=1800\n"
    "[Service]\nRestart=on-failure\nRestartSec=60\n",
    "{name}-recover.service": "[Service]\nType=oneshot\nExecStart=/bin/sh -c "
    "'systemctl is-active -q {unit} || {{ systemctl reset-failed {unit}; systemctl start {unit}; }}'\n",
    "{name}-recover.timer": f"[Timer]\nOnBootSec=30s\nOnUnitActiveSec={15 * 60 // SCALE}s\n"
    "[Install]\nWantedBy=timers.target\n",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: what is done before it, and what makes it, as commands of the shell."""

    name: str
    makes: str
    before: str = ""


FAULTS = (
    Fault("clean stop", "systemctl stop {unit}"),
    Fault("crash", "systemctl kill --signal=KILL {unit}"),
    Fault(
        "exhausted budget",
        "echo token > /run/{name}-token",
        "rm /run/{name}-token; for i in $(seq 25); do systemctl stop {unit}; systemctl start {unit}; done; true",
    ),
    Fault("hang", "systemctl kill --signal=STOP {unit}"),
)


def until_answered(gateway: Gateway, fault: Fault) -> float | None:
    """Make a fault, and return the seconds until the first answer after it, or None when none came."""
    names = {"unit": gateway.unit, "name": gateway.name}
    gateway.machine.run(f"{{ {fault.before.format(**names) or 'true'}; }} >/dev/null 2>&1")
    asked = f"curl -s -o /dev/null -m 1 -w '%{{http_code}}' {gateway.address}"
    printed = gateway.machine.run(
        f"began=$(date +%s%N); {fault.makes.format(**names)}; "
        f'while [ "$({asked})" != 200 ] && [ $(($(date +%s%N) - began)) -lt {LONGEST}000000000 ]; '
        "do sleep 0.02; done; echo $(($(date +%s%N) - began))"
    )
    seconds = int(printed) / 1e9
    return seconds if seconds < LONGEST else None


def measured(host: Machine, versions: Sequence[Version], runs: int) -> dict[str, list[list[float | None]]]:
    """Measure each fault for each version, in turns.

    Each run has its own unit, so that no recovery is the second of the unit.
    """
    found: dict[str, list[list[float | None]]] = {}
    for fault in FAULTS:
        sides = [
            [_watched(host, f"{fault.name.split()[-1]}-{run}-{side}", version) for run in range(runs)]
            for side, version in enumerate(versions)
        ]
        gateways = list(in_turns(sides))
        for gateway in gateways:
            eventually(gateway.seen_to_answer)
        measure = _measured(fault)
        if fault.name == "hang":
            with ThreadPoolExecutor(AT_ONCE) as pool:
                taken = list(pool.map(measure, gateways))
        else:
            taken = [measure(gateway) for gateway in gateways]
        found[fault.name] = [taken[side :: len(versions)] for side in range(len(versions))]
        host.run("systemctl stop " + " ".join(f"{g.name}-watch.service {g.name}-recover.timer" for g in gateways))
        host.run("systemctl stop " + " ".join(gateway.unit for gateway in gateways))
        sys.stdout.write(f"{fault.name}: {len(gateways)} runs\n")
    return found


def _measured(fault: Fault) -> Callable[[Gateway], float | None]:
    return lambda gateway: until_answered(gateway, fault)


def _watched(host: Machine, name: str, version: Version = CURRENT) -> Gateway:
    host.run(f"echo token > /run/{name}-token")
    gateway = host.gateway(name, f"LoadCredential=token:/run/{name}-token")
    gateway.older = () if version is CURRENT else version.command
    gateway.install()
    return gateway


def specified(host: Machine) -> dict[str, list[float | None]]:
    """Measure each fault once with the units of the specification, all at the same time."""
    gateways: list[Gateway] = []
    for fault in FAULTS:
        name = f"specified-{fault.name.split()[-1]}"
        host.run(f"echo token > /run/{name}-token")
        gateway = host.gateway(name, f"LoadCredential=token:/run/{name}-token")
        names = {"unit": gateway.unit, "name": gateway.name}
        for path, text in _SPECIFIED.items():
            file = f"/etc/systemd/system/{path.format(**names)}"
            host.run(f"mkdir -p $(dirname {file}); cat > {file} <<'EOF'\n{text.format(**names)}EOF")
        host.run(f"systemctl daemon-reload; systemctl restart {name}; systemctl enable --now {name}-recover.timer")
        gateways.append(gateway)
    with ThreadPoolExecutor(len(FAULTS)) as pool:
        times = pool.map(until_answered, gateways, FAULTS)
    return {fault.name: [taken] for fault, taken in zip(FAULTS, times, strict=True)}


@dataclass(frozen=True, slots=True)
class Rest:
    """The cost at rest: percent of a core, and the most memory of all processes at one time, in MB."""

    percent: float
    megabytes: float


def at_rest(host: Machine, version: Version | None) -> Rest:
    """Measure the machine with one gateway, watched by the guest of a version, or not."""
    gateway = _watched(host, "rest", version) if version else host.gateway("rest")
    if version:
        eventually(gateway.seen_to_answer)
        eventually(gateway.settled)
    used = "awk '/usage_usec/ {print $2}' /sys/fs/cgroup/cpu.stat"
    weight = (
        "for process in $(cat /sys/fs/cgroup/system.slice/rest-watch.service/cgroup.procs 2>/dev/null); do "
        "awk '/^Pss:/ {print $2}' /proc/$process/smaps_rollup 2>/dev/null; done | "
        "awk '{all += $1} END {print all + 0}'"
    )
    began, before = time.monotonic(), int(host.run(used))
    heaviest = 0
    while time.monotonic() - began < IDLE:
        heaviest = max(heaviest, int(host.run(weight)))
    seconds = time.monotonic() - began
    return Rest(100 * (int(host.run(used)) - before) / 1e6 / seconds, heaviest / 1024)


def main() -> None:
    """Boot machines, break what runs on them, and print the tables."""
    with machine() as host:
        spec = specified(host)
    with machine() as host:
        mine = {fault: sides[0] for fault, sides in measured(host, [CURRENT], RUNS).items()}
    new_console(soft_wrap=False).print(_table(mine, spec))
    with machine() as host:
        alone = at_rest(host, None)
    with machine() as host:
        watched = at_rest(host, CURRENT)
    sys.stdout.write(
        f"At rest the watch takes {watched.percent - alone.percent:.2f} % of a core (aim: under 0.5) and at most "
        f"{watched.megabytes:.1f} MB (PSS; aim: under 10), over {IDLE} s and with a probe over HTTP.\n"
    )


def compare(older: Version) -> None:
    """Measure this version's guest beside an older one's, on the same machines and in turns."""
    versions = (older, CURRENT)
    with machine() as host:
        found = measured(host, versions, RUNS_AGAINST)
    made = Table(title=f"seconds from the fault to the first answer, {RUNS_AGAINST} runs of each")
    for heading in ("fault", *(f"{one.name}, {what}" for one in versions for what in ("median", "max"))):
        made.add_column(heading, justify="left" if heading == "fault" else "right")
    for fault, sides in found.items():
        taken = [[LONGEST if one is None else one for one in side] for side in sides]
        made.add_row(fault, *(f"{of(side):.2f}" for side in taken for of in (statistics.median, max)))
    new_console(soft_wrap=False).print(made)
    for version in (None, older, CURRENT) * 2:
        with machine() as host:
            rest = at_rest(host, version)
        name = version.name if version else "unwatched"
        sys.stdout.write(f"At rest, {name}: {rest.percent:.2f} % of a core, {rest.megabytes:.1f} MB\n")


AGAINST = compare


def _table(mine: dict[str, list[float | None]], spec: dict[str, list[float | None]]) -> Table:
    made = Table(
        title="seconds from the fault to the first answer",
        caption=f"{RUNS} runs of ours; the specification's units once, their timer at 1/{SCALE} of 15 min. "
        f"The specification's own figure for a stopped gateway: {HEADLINE} s.",
    )
    for heading in ("fault", "median", "max", "aim", "specification's units"):
        made.add_column(heading, justify="left" if heading == "fault" else "right")
    for fault in FAULTS:
        usual, most = AIMS[fault.name]
        aim = f"{most:g}" if usual == most else f"{usual:g}, at most {most:g}"
        taken = [LONGEST if one is None else one for one in mine[fault.name]]
        made.add_row(
            fault.name, f"{statistics.median(taken):.2f}", f"{max(taken):.2f}", aim, _printed(spec[fault.name])
        )
    return made


def _printed(times: Sequence[float | None]) -> str:
    return ", ".join(f"not within {LONGEST}" if one is None else f"{one:.1f}" for one in times)


if __name__ == "__main__":
    main()

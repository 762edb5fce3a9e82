"""How soon the gateway's service answers after a fault, on a real systemd, and what watching it costs.

Beside it are the units of the specification, whose timer comes each 15 minutes, here at 1/30 of that. 100 s say
that no answer came. The specification reports 8.56 s for a stopped gateway.
A hang takes long because a probe may fail once by accident: three must fail in a row, ten seconds apart.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from bench.measurement import Figure, Measurement, Round
from tests.support.waiting import eventually
from tests.systemd.gateway import Gateway, Machine, machine
from tests.systemd.host import refused

SCALE = 30
LONGEST = 100
"""Seconds after which a fault counts as not noticed."""

AIMS = {"clean stop": 2.0, "crash": 5.0, "exhausted budget": 10.0, "hang": 30.0}
"""Seconds from the fault to the first answer."""
LIMITS = {"clean stop": 5.0}

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


def until_answered(gateway: Gateway, fault: Fault) -> float:
    """Make a fault, and return the seconds until the first answer after it, `LONGEST` when none came."""
    names = {"unit": gateway.unit, "name": gateway.name}
    gateway.machine.run(f"{{ {fault.before.format(**names) or 'true'}; }} >/dev/null 2>&1")
    asked = f"curl -s -o /dev/null -m 1 -w '%{{http_code}}' {gateway.address}"
    printed = gateway.machine.run(
        f"began=$(date +%s%N); {fault.makes.format(**names)}; "
        f'while [ "$({asked})" != 200 ] && [ $(($(date +%s%N) - began)) -lt {LONGEST}000000000 ]; '
        "do sleep 0.02; done; echo $(($(date +%s%N) - began))"
    )
    return min(int(printed) / 1e9, LONGEST)


def recovered(host: Machine, faults: Sequence[Fault]) -> Round:
    """Make each fault once, each on a unit of its own, so that no recovery is the second of the unit."""
    gateways = [_watched(host, fault.name.split()[-1]) for fault in faults]
    for gateway in gateways:
        eventually(gateway.seen_to_answer)
    found = list[Figure]()
    for gateway, fault in zip(gateways, faults, strict=True):
        took, limit = until_answered(gateway, fault), LIMITS.get(fault.name)
        found.append(Figure(f"{fault.name} until it answers", took, "s", aim=AIMS[fault.name], limit=limit))
    return found


def _watched(host: Machine, name: str) -> Gateway:
    host.run(f"echo token > /run/{name}-token")
    gateway = host.gateway(name, f"LoadCredential=token:/run/{name}-token")
    gateway.install()
    return gateway


def specified(host: Machine, faults: Sequence[Fault]) -> Round:
    """Measure each fault once with the units of the specification, all at the same time."""
    gateways: list[Gateway] = []
    for fault in faults:
        name = f"specified-{fault.name.split()[-1]}"
        host.run(f"echo token > /run/{name}-token")
        gateway = host.gateway(name, f"LoadCredential=token:/run/{name}-token")
        names = {"unit": gateway.unit, "name": gateway.name}
        for path, text in _SPECIFIED.items():
            file = f"/etc/systemd/system/{path.format(**names)}"
            host.run(f"mkdir -p $(dirname {file}); cat > {file} <<'EOF'\n{text.format(**names)}EOF")
        host.run(f"systemctl daemon-reload; systemctl restart {name}; systemctl enable --now {name}-recover.timer")
        gateways.append(gateway)
    with ThreadPoolExecutor(max(len(faults), 1)) as pool:
        times = [*pool.map(until_answered, gateways, faults)]
    named = (f"the specification's units, {fault.name} until it answers" for fault in faults)
    return [Figure(name, took, "s") for name, took in zip(named, times, strict=True)]


def at_rest(host: Machine, *, is_watched: bool, seconds: float) -> tuple[float, float]:
    """Return the percent of a core of a machine with one gateway, and its guest's memory at most, in MB."""
    gateway = _watched(host, "rest") if is_watched else host.gateway("rest")
    if is_watched:
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
    while time.monotonic() - began < seconds or not (heaviest or not is_watched):
        heaviest = max(heaviest, int(host.run(weight)))
    passed = time.monotonic() - began
    return 100 * (int(host.run(used)) - before) / 1e6 / passed, heaviest / 1024


def cost(seconds: float) -> Round:
    """Return what the guest costs at rest, with a probe over HTTP: two machines, one without it."""
    with machine() as host:
        alone, _ = at_rest(host, is_watched=False, seconds=seconds)
    with machine() as host:
        watched, weight = at_rest(host, is_watched=True, seconds=seconds)
    return [
        Figure("the watch at rest", watched - alone, "% of a core", aim=0.5),
        Figure("the watch at rest, memory at most, PSS", weight, "MB", aim=10),
    ]


def measure(
    faults: Sequence[Fault] = FAULTS, specified_faults: Sequence[Fault] = FAULTS, rest: float = 60.0
) -> Round:
    """Break what runs on a machine of its own; then measure a machine on which nothing happens."""
    with machine() as host:
        spec = specified(host, specified_faults)
    with machine() as host:
        ours = recovered(host, faults)
    return [*ours, *spec, *(cost(rest) if rest else ())]


_SHORT = {"faults": FAULTS[:1], "specified_faults": (), "rest": 0.0}
MEASUREMENT = Measurement(measure, short=_SHORT, rounds=10, refused=refused)

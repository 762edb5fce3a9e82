"""The public read of the live counter beside what the same machine does at best.

The servers are on one core and the load on another, all with the same answer and over 64 connections. The latency
is from when a read was due to its whole answer, whether or not the load was late itself.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from bench.load import Throughput, as_many_as_possible, at_a_fixed_rate
from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import LOAD_CORE, bound_to
from bench.sides import BARE, EDGE, INTERVAL, NGINX, READ, SERVICE, Side, all_sides, asked
from tests.support.nginx import NAME

AIMS = {SERVICE: 0.40, EDGE: 0.66}
SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


def throughput(side: Side, seconds: float) -> Throughput:
    """Measure one side."""
    return as_many_as_possible(side.url, NAME, seconds, LOAD_CORE, side.process)


def owners_cost(service: Side, seconds: float, reads: int) -> float:
    """Return by what share the reads are fewer in the seconds of a refresh and of the owner's reads."""
    quiet = throughput(service, seconds).speed
    time.sleep(INTERVAL - time.time() % INTERVAL)  # noqa: TID251  the next refresh asks the provider again
    with ThreadPoolExecutor(1) as owner:
        work = owner.submit(_owners_work, service, reads)
        busy = throughput(service, seconds).speed
        work.result()
    return 1 - busy / quiet


def _owners_work(service: Side, reads: int) -> None:
    refreshed = asked(service, "POST", "/api/stats?refresh=realtime")
    answers = [asked(service, "GET", "/api/stats?realtime=cosmos&intel=1") for _ in range(reads)]
    if bad := [answer for answer in (refreshed, *answers) if '"error"' in answer]:
        raise RuntimeError(f"The owner was refused: {bad[0]}")


def latencies(sides: Mapping[str, Side], rate: int, seconds: float) -> Round:
    """Return the percentiles of each side."""
    found = list[Figure]()
    for name, side in sides.items():
        times = at_a_fixed_rate(side.port, NAME, READ, rate, seconds)
        for which, share in SHARES.items():
            took = times[min(int(len(times) * share), len(times) - 1)] * 1000
            limit = 1.0 if (name, which) == (SERVICE, "p99") else None
            beside = "" if name == BARE else _latency(BARE, which, rate)
            found.append(Figure(_latency(name, which, rate), took, "ms", beside, limit=limit))
    return found


def _latency(name: str, which: str, rate: int) -> str:
    return f"{name}: {which} at {rate:,} a second"


def _reads(name: str) -> str:
    return f"{name}: reads"


def measure(seconds: float = 2.0, rate: int = 5_000, latency_seconds: float = 3.0, owners: int = 5) -> Round:
    """Measure every side, after it has answered for a while; `owners` reads are the owner's, within the quota."""
    with scratch() as folder, all_sides(folder) as sides:
        for side in sides.values():
            throughput(side, seconds / 4)
        found = {name: throughput(side, seconds) for name, side in sides.items()}
        cost = owners_cost(sides[SERVICE], seconds, owners)
        with bound_to(LOAD_CORE):
            times = latencies({name: sides[name] for name in (BARE, NGINX, SERVICE, EDGE)}, rate, latency_seconds)
    best = {name: "" if name == NGINX else _reads(NGINX) for name in found}
    return [
        *(Figure(_reads(name), one.speed, "a second", best[name], AIMS.get(name)) for name, one in found.items()),
        *(Figure(f"{name}: processor time of a read", one.cost, "µs") for name, one in found.items()),
        Figure(f"reads beside a refresh and {owners} of the owner's reads", cost * 100, "% fewer", limit=10),
        *times,
    ]


MEASUREMENT = Measurement(
    measure,
    short={"seconds": 0.1, "rate": 50, "latency_seconds": 0.1, "owners": 1},
    programs=("nginx", "wrk"),
)

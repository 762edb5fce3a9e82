"""The public read of the live counter beside what the same machine does at best.

One run, the servers on one core and the load on another, everything in turn; each share is the median of the
rounds' ratios to nginx's `return 200` of the same bytes. Prints tables, draws charts, asserts nothing.
"""

import os
import shutil
import statistics
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from bench.chart import Bar, chart, write
from bench.load import Latencies, Throughput, as_many_as_possible, at_a_fixed_rate, undisturbed
from bench.service import LOAD_CORE, bind_to
from bench.sides import BARE, EDGE, INTERVAL, NGINX, READ, SERVICE, Side, all_sides, asked
from orrery.runtime.console.terminal import new_console
from tests.support.nginx import find_nginx

ROUNDS = 9
SECONDS = 2
"""Seconds of one measurement of the throughput."""

RATE = 5_000
"""Reads a second for the latency."""
LATENCY_ROUNDS, LATENCY_SECONDS = 5, 6.0
SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}

ADMIN_READS, OWNER_ROUNDS = 10, 7
AIMS = {SERVICE: 0.27, EDGE: 0.55}

_DUE = f"from when a read was due to its whole answer; the quietest of {LATENCY_ROUNDS} rounds"

Rounds = dict[str, list[Throughput]]


def throughput(sides: Mapping[str, Side]) -> Rounds:
    """Measure each side in each round."""
    found: Rounds = {name: [] for name in sides}
    for number in range(ROUNDS + 1):
        for name, side in sides.items():
            measured = undisturbed(side.url, SECONDS, LOAD_CORE, side.process)
            found[name] += [measured] if number else []  # the first round warms up
        _progress(f"throughput {number} of {ROUNDS}")
    return found


def share(found: Rounds, name: str) -> float:
    """Return the median of a side's ratios to nginx: the two of a round ran on the same machine."""
    pairs = zip(found[name], found[NGINX], strict=True)
    return statistics.median(one.speed / other.speed for one, other in pairs)


def latency(sides: Mapping[str, Side]) -> dict[str, dict[str, float]]:
    """Return each side's percentiles in ms, of the round that the rest of the machine disturbed least."""
    found: dict[str, list[Latencies]] = {name: [] for name in sides}
    for number in range(LATENCY_ROUNDS):
        for name, side in sides.items():
            found[name].append(at_a_fixed_rate(side.port, READ, RATE, LATENCY_SECONDS))
        _progress(f"latency {number + 1} of {LATENCY_ROUNDS}")
    return {name: _percentiles(rounds) for name, rounds in found.items()}


def _percentiles(rounds: list[Latencies]) -> dict[str, float]:
    # Whatever else runs on this machine delays the load's own clock too, whichever side is being measured.
    quietest = min(rounds, key=lambda one: one.delay_at(SHARES["p99.9"]))
    found = {name: quietest.at(share) for name, share in SHARES.items()}
    return found | {"late": quietest.delay_at(SHARES["p99.9"])}


def owners_cost(service: Side) -> float:
    """Return by what share the reads are fewer in the `SECONDS` of a refresh and of the owner's reads."""
    ratios, refreshed = list[float](), set[str]()
    with ThreadPoolExecutor(1) as owner:
        for number in range(OWNER_ROUNDS):
            time.sleep(INTERVAL - time.time() % INTERVAL)  # noqa: TID251  the next refresh asks the provider again
            quiet = undisturbed(service.url, SECONDS, LOAD_CORE, service.process).speed
            work = owner.submit(_owners_work, service)
            busy = as_many_as_possible(service.url, SECONDS, LOAD_CORE, service.process).speed
            refreshed.add(work.result())
            ratios.append(busy / quiet)
            _progress(f"owner's work {number + 1} of {OWNER_ROUNDS}")
    if len(refreshed) != OWNER_ROUNDS:
        raise RuntimeError("A refresh has not asked the provider.")
    return 1 - statistics.median(ratios)


def _owners_work(service: Side) -> str:
    """Refresh, and read as the owner; return what the refresh printed."""
    refreshed = asked(service, "POST", "/api/stats?refresh=realtime")
    answers = [asked(service, "GET", "/api/stats?realtime=cosmos&intel=1") for _ in range(ADMIN_READS)]
    if bad := [answer for answer in (refreshed, *answers) if '"error"' in answer]:
        raise RuntimeError(f"The owner was refused: {bad[0]}")
    return refreshed


def throughput_table(found: Rounds, busy: float) -> Table:
    """Return speeds, shares and processor times."""
    made = Table(
        title="The public read", caption=f"median of {ROUNDS} rounds; owner's work: {busy:.1%} fewer reads"
    )
    for heading in ("side", "reads a second", "share", "aim", "processor time"):
        made.add_column(heading, justify="left" if heading == "side" else "right")
    for name, rounds in found.items():
        speed, cost = (
            statistics.median(values) for values in zip(*((r.speed, r.cost) for r in rounds), strict=True)
        )
        aim = f"{AIMS[name]:.2f}" if name in AIMS else ""
        made.add_row(name, f"{speed:,.0f}", f"{share(found, name):.2f}", aim, f"{cost:.1f} µs")
    return made


def latency_table(found: Mapping[str, Mapping[str, float]]) -> Table:
    """Return percentiles."""
    made = Table(title=f"Latency at {RATE:,} reads a second", caption=_DUE)
    for heading in ("side", *(f"{name}, ms" for name in SHARES), "of it the load's own, p99.9"):
        made.add_column(heading, justify="left" if heading == "side" else "right")
    for name, figures in found.items():
        made.add_row(name, *(f"{figures[one]:.2f}" for one in (*SHARES, "late")))
    return made


def draw(found: Rounds, times: Mapping[str, Mapping[str, float]]) -> list[Path]:
    """Draw both tables."""
    ours = {SERVICE, EDGE}
    shares = [
        Bar(name, share(found, name), f"{share(found, name):.2f}", name in ours, AIMS.get(name)) for name in found
    ]
    slow = [Bar(name, figures["p99"], f"{figures['p99']:.2f} ms", name in ours) for name, figures in times.items()]
    return [
        write(
            "reads", chart("Reads a second, as a share of nginx's return 200", "the lines are the aims", shares)
        ),
        write("latency", chart(f"99 of 100 reads at {RATE:,} a second", "shorter is better", slow)),
    ]


def main() -> None:
    """Measure and draw; without nginx, wrk and two cores, name what is missing."""
    missing = [name for name, there in (("nginx", find_nginx()), ("wrk", shutil.which("wrk"))) if not there]
    if missing or len(os.sched_getaffinity(0)) < 2:  # noqa: PLR2004  a core for the server, one for the load
        sys.stdout.write(f"Skipped: this needs {' and '.join(missing) or 'two cores'}.\n")
        return
    cores = os.sched_getaffinity(0)
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory, all_sides(Path(directory)) as sides:
        found = throughput(sides)
        busy = owners_cost(sides[SERVICE])
        bind_to(LOAD_CORE)
        times = latency({name: sides[name] for name in (NGINX, BARE, SERVICE, EDGE)})
        os.sched_setaffinity(0, cores)
    new_console(soft_wrap=False).print(throughput_table(found, busy), latency_table(times))
    draw(found, times)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{text}   ")


if __name__ == "__main__":
    main()

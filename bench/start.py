"""How soon `orrery serve` answers, and what it weighs at rest, beside the import of the web framework alone."""

import os
import subprocess
import sys
import time

from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import megabytes, prepare, processor_seconds, serving

IMPORT = "import of the web framework alone"
FIRST = "orrery serve: start to the first 200"


def bare_start() -> tuple[float, float]:
    """Return the seconds in which the interpreter alone imports the web framework, and those of the processor."""
    begin, command = time.perf_counter(), [sys.executable, "-c", "import fastapi, uvicorn, uvloop, httptools"]
    process = subprocess.Popen(command)  # noqa: S603  our own command
    _, _, used = os.wait4(process.pid, 0)
    return time.perf_counter() - begin, used.ru_utime + used.ru_stime


def measure(rest: float = 3.0) -> Round:
    """Start the service over a new store, and read its memory after `rest` seconds."""
    with scratch() as folder:
        settings = prepare(folder / "service")
        bare, bare_cost = bare_start()
        with serving(settings) as service:
            cost = processor_seconds(service.process.pid)
            time.sleep(rest)  # noqa: TID251  at rest means left alone
            weight = megabytes(service.process.pid)
    return [
        Figure(IMPORT, bare, "s"),
        Figure(FIRST, service.started_in, "s", IMPORT, aim=2.0),
        Figure(f"{IMPORT}, processor time", bare_cost, "s"),
        Figure(f"{FIRST}, processor time", cost, "s", f"{IMPORT}, processor time", aim=2.0),
        Figure("memory at rest, PSS", weight, "MB", aim=65, limit=100),
    ]


MEASUREMENT = Measurement(measure, short={"rest": 0.0}, rounds=7)

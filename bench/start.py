"""How soon `orrery serve` answers, and what it weighs at rest, beside the import of the web framework alone."""

import subprocess
import sys
import time

from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import megabytes, prepare, serving

IMPORT = "import of the web framework alone"
FIRST = "orrery serve: start to the first 200"


def bare_start() -> float:
    """Return the seconds in which the interpreter alone starts and imports the web framework."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import fastapi, uvicorn, uvloop, httptools"], check=True)
    return time.perf_counter() - begin


def measure(rest: float = 3.0) -> Round:
    """Start the service over a new store, and read its memory after `rest` seconds."""
    with scratch() as folder:
        settings = prepare(folder / "service")
        bare = bare_start()
        with serving(settings) as service:
            time.sleep(rest)  # noqa: TID251  at rest means left alone
            weight = megabytes(service.process.pid)
    return [
        Figure(IMPORT, bare, "s"),
        Figure(FIRST, service.started_in, "s", IMPORT, aim=2.0),
        Figure("memory at rest, PSS", weight, "MB", aim=65, limit=100),
    ]


MEASUREMENT = Measurement(measure, short={"rest": 0.0}, rounds=7)

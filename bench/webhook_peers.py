"""What webhooks are measured beside, each a server of its own."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench import handwritten as site
from bench.service import LOAD_CORE, Service, free_port, pinned, started

ENDPOINT = "7e5b9d3c-6a41-4c6e-9d1c-0d3f8b0c2a11"
"""The name of dj-stripe's endpoint, which is in its address."""

DJANGO_WEBHOOK = f"/stripe/webhook/{ENDPOINT}/"


@contextmanager
def handwritten(file: Path, sessions: Sequence[str]) -> Generator[Service]:
    """Run the hand-written handler over a new database, in which these sessions were offered."""
    site.prepare(str(file), sessions)
    port = free_port()
    with started([sys.executable, "-m", "bench.handwritten", str(port), str(file)], port, "/healthz") as service:
        yield service


@contextmanager
def django_site(folder: Path) -> Generator[Service]:
    """Run the Django site, with its processor beside the load."""
    folder.mkdir()
    port, processor = free_port(), free_port()
    beside_the_load = [*pinned(LOAD_CORE), sys.executable, "-m", "bench.processor", str(processor)]
    command = [sys.executable, "-m", "bench.django_site", str(port), str(folder), str(processor)]
    with started(beside_the_load, processor, "/v1/account"), started(command, port, "/healthz") as service:
        yield service

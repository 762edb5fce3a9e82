"""The sandbox with the quotas that the analytics provider publishes today: ten of the owner's reads at any time.

usage: python -m bench.provider PORT FOLDER
"""

import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.service import free_port, wait_for
from orrery.app.cli.sandbox import API_KEY, KEY_FILE, PUBLISHED, SIGNING_SECRET, SandboxPlan, prepare, stored_key

UNREACHABLE = "http://127.0.0.1:9/"


@contextmanager
def provider(folder: Path, before: Sequence[str]) -> Generator[int]:
    """Run it until the end of the block, `before` ahead of the command; yield its port."""
    folder.mkdir()
    port = free_port()
    command = [*before, sys.executable, "-m", "bench.provider", str(port), str(folder)]
    process = subprocess.Popen(command)  # noqa: S603  our own command
    try:
        wait_for(f"http://127.0.0.1:{port}/_clock", time.perf_counter())
        yield port
    finally:
        process.terminate()
        process.wait(20)


def serve(port: int, folder: Path) -> None:
    """Serve until ended."""
    key = stored_key(folder / KEY_FILE, port)
    plan = SandboxPlan(folder, port, free_port(), API_KEY, UNREACHABLE, SIGNING_SECRET, key, tokens=PUBLISHED)
    server, listener = prepare(plan)
    server.run(sockets=[listener])


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]))

"""Run the suites for long and under load, and list every test that ever failed.

usage: ./run soak [part ...]
"""

import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from tools.outcomes import Outcome, run, show

ROUNDS = 3
LOAD = "load"
GROWTH = "growth"
PYTHONS = "pythons"
NEWER = ("3.12", "3.13")
LOCKS = ("requirements-demo.lock", "requirements-postgres.lock", "requirements-azure.lock")

BUSY = f"import os\nwhile os.getppid() == {os.getpid()}:\n    for _ in range(1_000_000): pass"
"""Keeps a core busy for as long as this process lives."""

Failures = Iterator[str]
"""Yields each test that failed, with the round that it failed in."""


LONG: dict[str, tuple[str, tuple[str, ...]]] = {
    "kills": (
        "Ten times the kills and examples; a process frozen for two minutes; a copy ended after each step; races",
        (
            *("tests/crash", "tests/journeys"),
            *("tests/conformance/test_store_woken.py", "tests/conformance/test_store_copy.py"),
            *("tests/conformance/test_store_races.py", "tests/checkout/selling/test_preflight_kills.py"),
        ),
    ),
    "nodes": (
        "Two nodes behind nginx, restarted, upgraded and rolled back by turns while visitors buy",
        ("tests/journeys/test_rolling_restart.py",),
    ),
    "chaos": (
        "A shop on two nodes under load: 200 kills, failovers, cuts, freezes, and a checker of the ledgers",
        ("tests/chaos",),
    ),
    "strangers": (
        "Buyers among 800 bodies that drip, 1,200 silent connections and 400 readers that do not read",
        ("tests/journeys/test_strangers.py",),
    ),
    "guards": (
        "Each check that guards money, approvals and the live count, taken out of a copy of the source once",
        ("tests/guards",),
    ),
    "simulations": (
        "Weeks of failures of the analytics provider, minute by minute; months of the gateway's shutdowns",
        (
            *("tests/live/test_quota_days.py", "tests/live/test_budget.py", "tests/live/test_refresh.py"),
            "tests/gateway/test_simulation.py",
        ),
    ),
    "sites": (
        "Every spelling of a practice page by every method and header, on nginx, five Caddys and a worker",
        ("tests/nginx/test_gated_sites.py", "tests/nginx/test_gated_sites_loading.py"),
    ),
    "rehearsal": (
        "docs/how-to/go-live.md and set-up-by-hand.md, typed on a fresh Debian; an image",
        ("tests/rehearsal/test_go_live.py", "tests/rehearsal/test_container.py"),
    ),
    "patroni": (
        "docs/how-to/two-machines-and-a-witness.md, typed on three machines, of which two fail in turn",
        ("tests/rehearsal/test_two_machines.py",),
    ),
    "gateway": (
        "A credential that is missing for 20 minutes, and a whole drill of all faults, on a real systemd",
        ("tests/systemd",),
    ),
    "cloud": (
        "apply, rotate-webhook and destroy, killed at each request; plan, status and doctor, answered by half",
        ("tests/crash/test_cloud_apply.py", "tests/conformance/cloud/test_half_answers.py"),
    ),
    "inputs": (
        "Ten times the generated inputs, all hostile mails, all orders at the gate, all mutants of the runbook",
        (
            *("tests/adapters/test_stripe_objects.py", "tests/adapters/test_stripe_owner_objects.py"),
            *("tests/cockpit/test_plain_text_hostile.py", "tests/gateway/cloud/test_restart.py"),
            *("tests/scanner/unpack/test_decoders.py", "tests/scanner/unpack/test_carriers.py"),
            *("tests/checkout/site/test_opening.py", "tests/conformance/cloud/test_secrets_stay_hidden.py"),
        ),
    ),
    "written": (
        "A domain and an adapter that `./run new` writes: their style, and the tests that they come with",
        ("tests/architecture/test_new_domain.py",),
    ),
    "looks": ("Every page in every width and both colour schemes", ("tests/browser",)),
    "browsers": (
        "The buy button and the live pill in Firefox and WebKit",
        ("tests/browser/test_other_browsers.py",),
    ),
}
"""The parts that run some tests in their long form: what is printed, and which tests."""


def load() -> Failures:
    """Run every suite three times while all cores are kept busy."""
    cores = os.cpu_count() or 1
    for number in range(1, ROUNDS + 1):
        show(f"\nRound {number} of {ROUNDS}: every suite, while {cores} busy processes share the {cores} cores.\n")
        with busy(cores):
            outcome = run("./run", "test")
        yield from failures(f"load, round {number}", outcome)


def growth() -> Failures:
    """Measure stores of up to a million sales, and draw the curves of what grows."""
    show("\nWhat grows with the sales in the store, up to a million:\n")
    measured = subprocess.run(["./run", "bench", GROWTH, "--write"], check=False)  # noqa: S603  our own command
    if measured.returncode:
        yield f"{GROWTH}: it could not be measured"


def pythons() -> Failures:
    """Resolve what a user installs, and check the types, for each newer version of Python."""
    wheels = ("--dry-run", "--target", ".venv/none", "--only-binary=:all:", "--require-hashes")
    locks = [word for lock in LOCKS for word in ("-r", lock)]
    for version in NEWER:
        show(f"\nThe locks and the types for Python {version}:\n")
        resolved = (".venv/bin/uv", "pip", "install", "--python-version", version, *wheels, *locks)
        for command in (resolved, (".venv/bin/basedpyright", "--pythonversion", version, "src")):
            if subprocess.run(command, check=False).returncode:  # noqa: S603  our own command
                yield f"{PYTHONS}: {version}, {command[0]}"


def ran(part: str) -> Failures:
    """Run one part."""
    if part == LOAD:
        yield from load()
        return
    if part == GROWTH:
        yield from growth()
        return
    if part == PYTHONS:
        yield from pythons()
        return
    what, files = LONG[part]
    show(f"{what}:\n")
    yield from failures(part, run("./run", "test", *files, SOAK="1"))


def failures(where: str, outcome: Outcome | None) -> Failures:
    """Yield what failed in one run of suites; a run that did not come to its end is a failure itself."""
    if outcome is None:
        yield f"{where}: the run did not come to its end"
        return
    yield from (f"{where}: {test}" for test in outcome.failed)


@contextmanager
def busy(count: int) -> Generator[None]:
    """Keep so many cores busy, at the usual priority, until the end of the block."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]  # noqa: S603  our own loop
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main(*names: str) -> int:
    """Run the named parts, or all, and list what failed in any of them."""
    parts = [*LONG, PYTHONS, GROWTH, LOAD]
    unknown = [name for name in names if name not in parts]
    if unknown:
        sys.stderr.write(f"The soak has no part {unknown[0]!r}; its parts are {', '.join(parts)}.\n")
        return 2
    failed = [each for name in names or parts for each in ran(name)]
    show(f"\nFailed in the soak: {len(failed)}")
    for each in failed:
        show(f"  {each}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""The watch-list while a scan of hostile input runs and after it was killed: nothing of it stands anywhere."""

import os
import resource
import secrets
import signal
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.scanner.unpack.pdfs import pdf
from tests.support.exposed import cores, holding, kept, session, shown
from tests.support.program import Program
from tests.support.scanned import SYLLABLES, config_with_terms
from tests.support.waiting import PATIENCE, eventually

UNLIMITED = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
KILLS = (signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT)
MEMORY = "out of memory"
KEY = "ORRERY_WATCH_LIST_KEY"


def made_up() -> str:
    """Return a name that nothing else on this machine holds."""
    return " ".join("".join(secrets.choice(SYLLABLES) for _ in range(4)).title() for _ in range(2))


@pytest.fixture(scope="module", name="terms")
def some_terms() -> list[str]:
    """Return the terms of the list; the hostile input has the last one, hidden."""
    return [made_up() for _ in range(4)]


@pytest.fixture(scope="module", name="config")
def settings(tmp_path_factory: pytest.TempPathFactory, terms: list[str]) -> Path:
    return config_with_terms(tmp_path_factory.mktemp("user") / "config", terms)


@pytest.fixture(scope="module", name="hostile")
def hostile_input(tmp_path_factory: pytest.TempPathFactory, terms: list[str]) -> Path:
    """Return a folder: a hidden term, a PDF in an archive that is read for a minute, and a file without an end."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "a.txt").write_bytes(b64encode(f"for {terms[-1]} alone, and for no other".encode()))
    with ZipFile(folder / "b.zip", "w") as packed:
        packed.writestr("slow.pdf", pdf(") Tj (".join("x" * 2_000_000)))
    with (folder / "c.bin").open("wb") as endless:
        endless.truncate(1 << 40)
    return folder


@contextmanager
def caught(config: Path, hostile: Path, output: Path) -> Iterator[Program]:
    """Have a scan that has its list, and now waits for the process that reads the PDF."""
    program = Program(["tenants", "scan", str(hostile), "--config", str(config)], output)
    try:
        eventually(lambda: _expect_two(program))
        with suppress(PermissionError):  # only root raises a limit: the flag alone must do
            resource.prlimit(program.process.pid, resource.RLIMIT_CORE, UNLIMITED)
        yield program
    finally:
        with suppress(ProcessLookupError):
            os.killpg(program.process.pid, signal.SIGKILL)
        program.process.wait(PATIENCE)


def _expect_two(program: Program) -> None:
    program.require_alive()
    assert len(session(program.process.pid)) == 2


def end(program: Program, how: signal.Signals | str) -> int:
    """Kill a scan, or let it go on without further memory."""
    leader = program.process.pid
    if isinstance(how, signal.Signals):
        return program.end(how)
    pages = int(Path(f"/proc/{leader}/statm").read_text().split()[0])
    size = pages * resource.getpagesize()
    resource.prlimit(leader, resource.RLIMIT_AS, (size, size))
    for one in set(session(leader)) - {leader}:
        os.kill(one, signal.SIGKILL)
    return program.process.wait(PATIENCE)


@pytest.mark.parametrize("how", [*KILLS, MEMORY], ids=str)
def test_nothing_of_the_list_is_seen_or_left(
    how: signal.Signals | str, config: Path, hostile: Path, terms: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Not in the list of processes, an environment, a file, a core or what the journal gets, in no form."""
    here, temporary, output = (tmp_path / name for name in ("here", "temporary", "output"))
    for folder in (here, temporary):
        folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.chdir(here)
    since, before = time.time(), cores(here)
    with caught(config, hostile, output) as program:
        assert holding(shown(session(program.process.pid)), terms) == []
        assert holding(kept(tmp_path, config.parent, since=since), terms) == []
        code = end(program, how)
    assert code == (1 if how == MEMORY else -int(how))
    assert cores(here) - before == set()
    assert holding(kept(tmp_path, config.parent, since=since), terms) == []
    if how == MEMORY:
        assert "It ended unexpectedly: MemoryError at " in program.printed()

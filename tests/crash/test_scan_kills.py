"""The watch-list while a scan of hostile input runs and after it was killed: nothing of it stands anywhere."""

import io
import math
import os
import resource
import secrets
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from zipfile import ZipFile

import pexpect
import pytest

from tests.scanner.unpack.pdfs import pdf
from tests.support.exposed import cores, holding, kept, session, shown
from tests.support.program import Program
from tests.support.scanned import SYLLABLES, config_with_terms
from tests.support.waiting import PATIENCE, eventually

KILLS = (signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT)
PR_GET_DUMPABLE = 3
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
def caught(config: Path, hostile: Path, output: Path) -> Generator[Program]:
    """Have a scan that has its list, and now waits for the process that reads the PDF."""
    program = Program(["tenants", "scan", str(hostile), "--config", str(config)], output)
    try:
        eventually(lambda: _expect_two(program))
        assert resource.prlimit(program.process.pid, resource.RLIMIT_CORE) == (0, 0)
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
    monkeypatch.setenv(KEY, (config.parent / "secrets/watch_list_key").read_text())
    since, before = here.stat().st_mtime, cores(here)
    with caught(config, hostile, output) as program:
        leader = program.process.pid
        assert holding(shown(session(leader)), terms) == []
        assert holding(shown({*session(leader)} - {leader}), [os.environ[KEY].strip()]) == []  # noqa: TID251  as set above
        assert holding(kept(tmp_path, config.parent, since=since), terms) == []
        code = end(program, how)
    assert code == (1 if how == MEMORY else -int(how))
    assert cores(here) - before == set()
    assert holding(kept(tmp_path, config.parent, since=since), terms) == []
    if how == MEMORY:
        assert "It ended unexpectedly: MemoryError at " in program.printed()


def test_the_words_of_a_crash_are_left_out(terms: list[str]) -> None:
    """An error may quote a term, and so may the one behind it, that of a thread, and that of an object's end.

    The kernel hands a core to a program, where there is one, in spite of the limit: only the flag keeps it.
    """
    program = f"""
import ctypes, sys, threading
from orrery.app.scan.own_memory import keep_memory_private
class Ending:
    def __del__(self): raise KeyError({terms[0]!r})
def fail():
    try: {{}}[{terms[1]!r}]
    except KeyError: raise ValueError({terms[2]!r})
keep_memory_private()
sys.stdout.write(str(ctypes.CDLL(None).prctl({PR_GET_DUMPABLE})))
Ending()
threading.Thread(target=fail, name={terms[3]!r}).start()
fail()
"""
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-"], input=program, capture_output=True, text=True, check=False
    )
    said = run.stderr.splitlines()
    assert (run.returncode, run.stdout) == (1, "0")
    assert [line.split(" at ")[0].split()[-1] for line in said] == ["KeyError", "ValueError", "ValueError"]
    assert holding([("stderr", run.stderr.encode())], terms) == []


def test_a_typed_term_is_in_no_history(config: Path, terms: list[str], tmp_path: Path) -> None:
    """Nor on the screen, which terminals and recorders keep; of a paste, each line is taken."""
    history, new = tmp_path / "history", [made_up() for _ in range(3)]
    shell: pexpect.spawn[str] = pexpect.spawn(
        "bash", ["--norc", "--noprofile", "--noediting", "-i"],
        env={"PATH": os.defpath, "TERM": "dumb", "HISTFILE": str(history), "PS1": "ready "},
        encoding="utf-8", timeout=PATIENCE, dimensions=(50, 400),
    )  # fmt: skip
    recorded = shell.logfile_read = io.StringIO()
    try:
        shell.expect_exact("ready ")
        shell.sendline(f"{sys.executable} -P -m orrery tenants watch add --kind person -c {config}; echo ended $?")
        shell.expect_exact("ends): ")
        shell.send("".join(f"{one}\n" for one in [*new, ""]))
        shell.expect("ended ([0-9])")
        assert "ended 0" in recorded.getvalue()
        shell.expect_exact("ready ")
        shell.sendline("exit")
        shell.expect(pexpect.EOF)
    finally:
        shell.close(force=True)
    assert "Added 3 of 3" in recorded.getvalue()
    assert "watch add" in history.read_text()
    left = [("screen", recorded.getvalue().encode()), *kept(tmp_path, since=math.inf)]
    assert holding(left, [*terms, *new]) == []

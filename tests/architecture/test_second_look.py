"""What continuous integration and the soak make of test runs, by a `run` that only says what came of them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

RUN = """\
#!{python}
import json, os, pathlib, sys
asked = pathlib.Path("asked.jsonl")
with asked.open("a") as log:
    children = pathlib.Path("/proc/{{0}}/task/{{0}}/children".format(os.getppid())).read_text().split()
    log.write(json.dumps([sys.argv[1:], os.environ.get("SOAK"), len(children) - 1]) + chr(10))
answers = json.loads(pathlib.Path("answers.json").read_text())
answer = answers[min(len(asked.read_text().splitlines()), len(answers)) - 1]
if answer is None:
    sys.exit(3)
pathlib.Path(os.environ["TEST_OUTCOMES"]).write_text(json.dumps(answer))
sys.exit(1 if answer["failed"] else 0)
"""
"""Keeps what it was asked, whether for a soak, and how many processes ran beside it; answers from a list."""

UNIT, KILLS = "tests/owner/test_x.py::test_a[1]", "tests/crash/test_y.py::test_b"


def outcome(passed: int, *failed: str) -> dict[str, object]:
    """Return what a run writes."""
    repeatable = [test for test in failed if "crash" in test]
    return {"passed": passed, "skipped": 2, "failed": failed, "repeatable": repeatable}


class Checkout:
    """A folder with our tools and a `run` that gives these answers, the last of them again and again."""

    def __init__(self, folder: Path, *answers: dict[str, object] | None) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "tools", folder / "tools")
        (folder / "answers.json").write_text(json.dumps(answers))
        (folder / "run").write_text(RUN.format(python=sys.executable))
        (folder / "run").chmod(0o755)

    def does(self, *words: str) -> tuple[int, list[str]]:
        """Run one of the tools; return its exit code and the lines that it printed."""
        done = subprocess.run(  # noqa: S603  our own tools
            [sys.executable, "-m", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        return done.returncode, (done.stdout + done.stderr).splitlines()

    @property
    def asked(self) -> list[tuple[list[str], str | None, int]]:
        """What `run` was asked for."""
        lines = (self.folder / "asked.jsonl").read_text().splitlines()
        return [tuple(json.loads(line)) for line in lines]


def looked(folder: Path, *answers: dict[str, object] | None) -> tuple[int, list[str], list[list[str]]]:
    """Return the second look's exit code, its lines, and what it ran."""
    checkout = Checkout(folder, *answers)
    code, lines = checkout.does("tools.second_look")
    return code, lines, [words for words, _, _ in checkout.asked]


def test_nothing_failed(tmp_path: Path) -> None:
    """Where all passes nothing is looked at again, and that is said, ahead of the counts."""
    code, lines, asked = looked(tmp_path, outcome(7))
    assert (code, asked) == (0, [["test"]])
    assert lines[-2:] == ["0 tests needed a second look.", "0 failed, 7 passed, 2 skipped"]


def test_a_test_with_real_processes_gets_a_second_look(tmp_path: Path) -> None:
    """What passes when it is run again is named and counted, and fails nothing."""
    code, lines, asked = looked(tmp_path, outcome(7, KILLS), outcome(1))
    assert (code, asked) == (0, [["test"], ["test", KILLS]])
    assert lines[-3:] == [
        "1 test needed a second look.",
        f"  passed then   {KILLS}",
        "0 failed, 8 passed, 2 skipped",
    ]


def test_what_fails_twice_fails(tmp_path: Path) -> None:
    """What fails again fails the whole."""
    code, lines, _ = looked(tmp_path, outcome(7, KILLS), outcome(0, KILLS))
    assert (code, lines[-1]) == (1, "1 failed, 7 passed, 2 skipped")


def test_a_unit_test_gets_no_second_look(tmp_path: Path) -> None:
    """A unit test that fails fails the whole, and is not run again."""
    code, lines, asked = looked(tmp_path, outcome(7, UNIT, KILLS), outcome(1))
    assert (code, asked) == (1, [["test"], ["test", KILLS]])
    assert lines[-1] == "1 failed, 8 passed, 2 skipped"


@pytest.mark.parametrize("answers", [[None], [outcome(7, KILLS), None]])
def test_a_run_that_breaks_fails(tmp_path: Path, answers: list[dict[str, object] | None]) -> None:
    """A run that does not come to its end is no success, the first nor the second."""
    assert looked(tmp_path, *answers)[0] == 1


def test_the_soak_loads_every_core(tmp_path: Path) -> None:
    """In each of three rounds a busy process a core runs beside the suites, and none is left afterwards."""
    checkout = Checkout(tmp_path, outcome(7))
    code, lines = checkout.does("tools.soak", "load")
    busy = int(next(line for line in lines if "busy processes" in line).partition("while ")[2].split()[0])
    assert (code, checkout.asked) == (0, [(["test"], None, busy)] * 3)
    assert lines[-1] == "Failed in the soak: 0"


def test_the_soak_lists_what_ever_failed(tmp_path: Path) -> None:
    """What failed in one round of three is listed with its round, and so is a round that broke."""
    code, lines = Checkout(tmp_path, outcome(7), outcome(6, UNIT), None).does("tools.soak", "load")
    assert code == 1
    assert lines[-3:] == [
        "Failed in the soak: 2",
        f"  load, round 2: {UNIT}",
        "  load, round 3: the run did not come to its end",
    ]


def test_the_soak_kills_more(tmp_path: Path) -> None:
    """The part `kills` runs the suites that kill, for longer."""
    checkout = Checkout(tmp_path, outcome(7))
    assert checkout.does("tools.soak", "kills")[0] == 0
    assert checkout.asked == [(["test", "tests/crash", "tests/journeys"], "1", 0)]


def test_the_soak_has_no_such_part(tmp_path: Path) -> None:
    """A part that there is not is refused in one sentence, and nothing runs."""
    code, lines = Checkout(tmp_path, outcome(7)).does("tools.soak", "loud")
    parts = "kills, load, strangers, guards, simulations, rehearsal, gateway, cloud"
    assert (code, lines) == (2, [f"There is no part 'loud' of the soak; there are {parts}."])

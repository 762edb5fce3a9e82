"""The house rules hold in every tracked file, and each is seen to find what it is for."""

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tests.architecture import house_rules as rules
from tests.support.modules import folders

ROOT = Path(__file__).resolve().parents[2]
Rule = Callable[[str], Iterator[str]]

PYTHON: list[Rule] = [
    rules.long_functions,
    rules.vague_classes,
    rules.unexplained_exceptions,
    rules.swallowed_exceptions,
]
PRODUCT: list[Rule] = [rules.unwritten_methods, rules.own_exit_codes]
TESTS: list[Rule] = [rules.untold_tests, rules.patching, rules.sleeping, rules.timing]
WITH_RECORDS: list[Rule] = [rules.direct_store_calls]
EVERY_FILE: list[Rule] = [rules.machine_paths, rules.registry_hosts]

THE_STORE_ITSELF = {
    PurePosixPath("src/orrery/runtime", name)
    for name in ("collection.py", "index_key.py", "raw_values.py", "store_probe.py")
}
"""The collections, and what reads or writes what is no record."""

HOST = "pypi" + ".org"  # in two halves, so that the rule does not find it here
HOME = "/home" + "/somebody"

PLANTED: dict[Rule, list[str]] = {
    rules.long_functions: ["def long():\n" + "    pass\n" * 50, "async def long():\n" + "    pass\n" * 50],
    rules.long_files: ["#\n" * 401],
    rules.vague_classes: ["class StoreManager: ...", "class Helpers: ...", "class CommandBase: ..."],
    rules.unwritten_methods: [
        "def base(self):\n    raise NotImplementedError",
        "def base(self):\n    raise NotImplementedError('at') from None",
    ],
    rules.own_exit_codes: ["raise typer.Exit(1)", "sys.exit(2 if refused else code)", "raise SystemExit(1)"],
    rules.untold_tests: ["def test_x():\n    assert True", "async def test_x():\n    assert True"],
    rules.patching: [
        "def test_x(monkeypatch):\n    monkeypatch.setattr('a.b', 1)",
        "from unittest import mock as m\nimport unittest.mock",
        "from unittest.mock import Mock",
    ],
    rules.sleeping: ["import time\ntime.sleep(1)", "import asyncio\nasyncio.sleep(0.1)", "from time import sleep"],
    rules.timing: [
        "import time\nbegun = time.monotonic()",
        "from time import perf_counter\nbegun = perf_counter()",
        "assert answer.elapsed.total_seconds() < 1",
        "httpx2.get(address, timeout=5)",
        "httpx2.get(address)",
        "eventually(look, within=2)",
        "thread.join(10)",
        "asyncio.wait_for(task, 5)",
        "@settings(deadline=200)\ndef test_x(): ...",
        "@settings(suppress_health_check=[HealthCheck.filter_too_much])\ndef test_x(): ...",
    ],
    rules.direct_store_calls: [
        "await self._store.get(key)",
        "found = await store.scan(prefix)",
        "store.commit([])",
    ],
    rules.machine_paths: [f"see {HOME}/notes", f"DATA = '{HOME}'"],
    rules.registry_hosts: [f"https://{HOST}/simple", "files." + "pythonhosted" + ".org"],
    rules.unexplained_exceptions: [
        "x = 1  # no" + "qa",
        "x = 1  # no" + "qa: S105",
        "x = 1  # pyright" + ": ignore",
        "x = 1  # pyright" + ": ignore[reportUnknownVariableType]",
        "# ruff: no" + "qa",
        "x = 1  # type" + ": ignore",
    ],
    rules.swallowed_exceptions: [
        "try:\n    x()\nexcept Exception:\n    log()",
        "try:\n    x()\nexcept:\n    pass",
        "try:\n    x()\nexcept Exception:  # no" + "qa: BLE001\n    pass",
        "try:\n    x()\nexcept (ValueError, BaseException) as error:\n    log(error)",
    ],
}
INNOCENT: dict[Rule, str] = {
    rules.long_functions: "def short():\n" + "    pass\n" * 49,
    rules.long_files: "#\n" * 400,
    rules.vague_classes: "class Database: ...",
    rules.unwritten_methods: "@abstractmethod\ndef base(self): ...\ntry:\n    loop.add_reader(1, x)\n"
    "except NotImplementedError:\n    raise",
    rules.own_exit_codes: "raise typer.Exit(BROKEN)\nraise typer.Exit\nsys.exit(error.exit_code)",
    rules.untold_tests: 'def test_x():\n    """A fact."""\ndef a_step(): ...',
    rules.patching: "def test_x(monkeypatch):\n    monkeypatch.setenv('A', 'b')",
    rules.sleeping: "import asyncio\nasyncio.sleep(0)\nclock.sleep(5)",
    rules.timing: "subprocess.run(command, timeout=PATIENCE)\nclock.monotonic()\n', '.join(names)\n"
    "sqlite3.connect(path, timeout=0)\nasyncio.wait_for(task, PATIENCE)\n"
    "@settings(max_examples=9)\ndef test_x(): ...\nbegun = time.monotonic()  # nothing is asserted of it",
    rules.direct_store_calls: "await commit(self._store, changes)\nself._stored.get()\nCollection(store, clock)",
    rules.machine_paths: "GET /workers/1, https://example.test/home/page, ~/work/x",
    rules.registry_hosts: "https://pypi.example.test/simple",
    rules.unexplained_exceptions: "x = 1  # no" + "qa: S105 - it opens nothing",
    rules.swallowed_exceptions: "try:\n    x()\nexcept Exception as error:\n    raise Invalid('no') from error\n"
    "try:\n    x()\nexcept Exception:  # the next caller is served all the same\n    log()",
}


@cache
def tracked() -> dict[PurePosixPath, str]:
    """Return the text of every file that git tracks; of every file of the project where there is no git."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607 - git from the path
    names = listing.stdout.split("\0")[:-1] if listing.returncode == 0 else _walked()
    paths = [PurePosixPath(name) for name in names]
    return {path: text for path in paths if (text := _text(ROOT / path)) is not None}


def _walked() -> list[str]:
    folders = ["src", "tests", "bench", "tools", "docs", "deploy"]
    return [str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*.*")]


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return None


def found(rule: Rule, paths: Iterator[PurePosixPath]) -> list[str]:
    """Return what a rule finds in the files given, as `path:line: what`."""
    return [f"{path}:{each}" for path in paths for each in rule(tracked()[path])]


@pytest.mark.parametrize("rule", PYTHON, ids=lambda rule: rule.__name__)
def test_python_keeps_the_rule(rule: Rule) -> None:
    """Every Python file keeps the rules for code."""
    assert found(rule, (path for path in tracked() if path.suffix == ".py")) == []


@pytest.mark.parametrize("rule", PRODUCT, ids=lambda rule: rule.__name__)
def test_the_product_keeps_the_rule(rule: Rule) -> None:
    """Every module of the package keeps the rules for it."""
    assert found(rule, (path for path in tracked() if path.suffix == ".py" and path.parts[0] == "src")) == []


@pytest.mark.parametrize("rule", TESTS, ids=lambda rule: rule.__name__)
def test_tests_keep_the_rule(rule: Rule) -> None:
    """Every test file keeps the rules for tests."""
    assert found(rule, (path for path in tracked() if path.suffix == ".py" and path.parts[0] == "tests")) == []


@pytest.mark.parametrize("rule", WITH_RECORDS, ids=lambda rule: rule.__name__)
def test_records_keep_the_rule(rule: Rule) -> None:
    """Every module that holds records keeps the rules for them."""
    modules = (path for path in tracked() if path.suffix == ".py" and path.parts[:2] == ("src", "orrery"))
    holders = (path for path in modules if path.parts[2] in folders() and path not in THE_STORE_ITSELF)
    assert found(rule, holders) == []


@pytest.mark.parametrize("rule", EVERY_FILE, ids=lambda rule: rule.__name__)
def test_every_file_keeps_the_rule(rule: Rule) -> None:
    """Every tracked file keeps the rules on what may not be named."""
    assert found(rule, (path for path in tracked())) == []


def test_code_files_are_short() -> None:
    """No file of code is over 400 lines."""
    assert found(rules.long_files, (path for path in tracked() if path.suffix in rules.CODE)) == []


def test_code_files_are_named_after_what_they_hold() -> None:
    """No module and no folder is called utils, helpers, common, manager or base."""
    code = [path for path in tracked() if path.suffix in {".py", ".js", ".sh"}]
    assert [f"{path}: {each}" for path in code for each in rules.vague_paths(path)] == []


@pytest.mark.parametrize(
    "path", ["src/orrery/utils.py", "src/orrery/common/text.py", "tests/helpers.py", "web/base.js"]
)
def test_a_vague_path_is_found(path: str) -> None:
    """The rule on names can fail."""
    assert list(rules.vague_paths(PurePosixPath(path))) != []


PLANTED_CASES = [(rule, text) for rule, texts in PLANTED.items() for text in texts]


@pytest.mark.parametrize(("rule", "text"), PLANTED_CASES, ids=[rule.__name__ for rule, _ in PLANTED_CASES])
def test_a_planted_violation_is_found(rule: Rule, text: str) -> None:
    """Each rule can fail."""
    assert list(rule(text)) != []


@pytest.mark.parametrize("rule", INNOCENT, ids=lambda rule: rule.__name__)
def test_what_is_innocent_is_left_alone(rule: Rule) -> None:
    """Each rule leaves alone what only looks like a violation."""
    assert list(rule(INNOCENT[rule])) == []


def test_every_rule_is_applied_and_has_been_seen_to_fail() -> None:
    """No rule is written down that is not applied or that nothing here has seen fail."""
    assert (
        {*PYTHON, *PRODUCT, *TESTS, *WITH_RECORDS, *EVERY_FILE, rules.long_files} == set(PLANTED) == set(INNOCENT)
    )

"""The house rules hold in every tracked file, and each is seen to find what it is for."""

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

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
PRODUCT: list[Rule] = [rules.unwritten_methods, rules.own_exit_codes, rules.class_names_in_sentences]
TESTS: list[Rule] = [rules.untold_tests, rules.patching, rules.sleeping, rules.timing]
WITH_RECORDS: list[Rule] = [rules.direct_store_calls]
EVERY_FILE: list[Rule] = [rules.machine_paths, rules.registry_hosts]

THE_STORE_ITSELF = {
    PurePosixPath("src/orrery/runtime", name)
    for name in (
        "collection.py",
        "fence.py",
        "index_key.py",
        "lost_answer.py",
        "own_store.py",
        "raw_values.py",
        "store_probe.py",
    )
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
    rules.class_names_in_sentences: ['f"It cannot be read ({type(error).__name__})."'],
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
    rules.class_names_in_sentences: 'f"unexpected {type(error).__name__}"\nlog(kind=type(error).__name__)',
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


def rules_of(path: PurePosixPath) -> Iterator[Rule]:
    """Yield the rules for a file."""
    yield from EVERY_FILE
    if path.suffix in rules.CODE:
        yield rules.long_files
    if path.suffix != ".py":
        return
    yield from PYTHON
    yield from {"src": PRODUCT, "tests": TESTS}.get(path.parts[0], [])
    if path.parts[:2] == ("src", "orrery") and path.parts[2] in folders() and path not in THE_STORE_ITSELF:
        yield from WITH_RECORDS


def test_every_file_keeps_its_rules() -> None:
    """Each tracked file keeps those on names of machines, code those for code, the package and tests theirs."""
    applied = {path: [*rules_of(path)] for path in tracked()}
    found = [
        f"{path}:{each}" for path, those in applied.items() for rule in those for each in rule(tracked()[path])
    ]
    assert found == []
    assert {rule for those in applied.values() for rule in those} == set(PLANTED) == set(INNOCENT)


def test_code_files_are_named_after_what_they_hold() -> None:
    """No module and no folder is called utils, helpers, common, manager or base."""
    code = [path for path in tracked() if path.suffix in {".py", ".js", ".sh"}]
    assert [f"{path}: {each}" for path in code for each in rules.vague_paths(path)] == []


def test_each_rule_finds_what_it_is_for() -> None:
    """Each rule can fail, and leaves alone what only looks like a violation."""
    paths = ("src/orrery/utils.py", "src/orrery/common/text.py", "tests/helpers.py", "web/base.js")
    assert [path for path in paths if not [*rules.vague_paths(PurePosixPath(path))]] == []
    assert [(rule, text) for rule, texts in PLANTED.items() for text in texts if not [*rule(text)]] == []
    assert {rule: found for rule, text in INNOCENT.items() if (found := [*rule(text)])} == {}

"""The house's own rules, as small linters: each takes a file's text and yields what it finds, `line: what`."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TypeVar, cast

LONGEST_FUNCTION = 50
LONGEST_FILE = 400
CODE = frozenset({".py", ".js", ".css", ".html", ".sh"})
FORBIDDEN_NAMES = re.compile(r"(utils?|helpers?|common|manager|misc|base)")
FORBIDDEN_CLASSES = re.compile(r"(Utils?|Helpers?|Manager|Base)$")
SLEEPERS = frozenset({"time", "asyncio", "anyio"})
STOPWATCHES = frozenset({"monotonic", "perf_counter", "elapsed"})
LIMITED = frozenset({"wait", "join", "result", "communicate", "settimeout", "wait_for", "fail_after", "select"})
UNLIMITED = frozenset({"0", "None"})
FIVE_SECONDS = frozenset({"Client", "delete", "get", "head", "patch", "post", "put", "request", "stream"})
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home|Users)/\w")
REGISTRY = re.compile(
    r"\b(?:pypi|pythonhosted|npmjs|yarnpkg|crates|rubygems)\.(?:org|com|io)\b|\b(?:deb|ftp)\.debian\.org\b"
)
EXCEPTION = re.compile(r"#\s*(?:ruff:\s*)?(noqa|pyright: ignore|type: ignore)(.*)")
NAMED_WITH_REASON = re.compile(r"(?:: ?[A-Z]+\d+(?:, ?[A-Z]+\d+)*|\[[\w, ]+\])\W+\w+\W+\w+.*")
REASON = re.compile(r"#(?: noqa: \w+)?\W+(?:\w+\W+){2,}\w+")
EXIT = re.compile(r"(?:typer\.Exit|sys\.exit|SystemExit)\(.*\b\d+\b.*\)")
EXIT_CALLS = frozenset({"Exit", "exit", "SystemExit"})
STORE_CALLS = frozenset({"get", "scan", "commit"})

type_of_function = (ast.FunctionDef, ast.AsyncFunctionDef)
N = TypeVar("N", bound=ast.AST)


@lru_cache(maxsize=1)  # the nodes of all files would be the half of a gigabyte that the garbage collector walks
def _nodes(text: str) -> Mapping[type[ast.AST], Sequence[ast.AST]]:
    """Return every node of a file by its kind, parsed once for all rules of that file."""
    found = defaultdict[type[ast.AST], list[ast.AST]](list)
    ahead: list[ast.AST] = [ast.parse(text)]
    while ahead:
        node = ahead.pop()
        found[type(node)].append(node)
        for value in vars(node).values():  # `ast.walk` takes three times as long for a million nodes
            if isinstance(value, ast.AST):
                ahead.append(value)
            elif isinstance(value, list):
                ahead += [one for one in cast("list[object]", value) if isinstance(one, ast.AST)]
    return found


def _of(text: str, *kinds: type[N]) -> Iterator[N]:
    """Yield the nodes of some kinds."""
    for kind in kinds:
        yield from cast("Sequence[N]", _nodes(text).get(kind, ()))


def long_functions(text: str) -> Iterator[str]:
    """A function has at most 50 lines."""
    for node in _of(text, *type_of_function):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > LONGEST_FUNCTION:
            yield f"{node.lineno}: {node.name} has {lines} lines"


def long_files(text: str) -> Iterator[str]:
    """A file has at most 400 lines."""
    lines = text.count("\n")
    if lines > LONGEST_FILE:
        yield f"{lines}: the file has {lines} lines"


def vague_paths(path: PurePosixPath) -> Iterator[str]:
    """A module or folder is named after what it is about."""
    for part in [*path.parent.parts, path.stem]:
        if FORBIDDEN_NAMES.fullmatch(part):
            yield f"1: {part} says nothing about what is in it"


def vague_classes(text: str) -> Iterator[str]:
    """A class is named after what it is."""
    for node in _of(text, ast.ClassDef):
        if FORBIDDEN_CLASSES.search(node.name):
            yield f"{node.lineno}: {node.name} says nothing about what it is"


def unwritten_methods(text: str) -> Iterator[str]:
    """A method that each subclass must write is an `abc.abstractmethod`: a class without it cannot be made."""
    for node in _of(text, ast.Raise):
        if node.exc and "NotImplementedError" in ast.unparse(node.exc):
            yield f"{node.lineno}: raises NotImplementedError"


def untold_tests(text: str) -> Iterator[str]:
    """A test states its one fact in its docstring."""
    for node in _of(text, *type_of_function):
        if node.name.startswith("test_") and not ast.get_docstring(node):
            yield f"{node.lineno}: {node.name} has no docstring"


def patching(text: str) -> Iterator[str]:
    """A test replaces nothing in our own modules: a fake is an adapter of the port."""
    for node in _of(text, ast.Attribute):
        if node.attr == "setattr" and ast.unparse(node.value) == "monkeypatch":
            yield f"{node.lineno}: patches with monkeypatch.setattr"
    for node in _of(text, ast.Import, ast.ImportFrom):
        if "unittest.mock" in _imported(node):
            yield f"{node.lineno}: imports unittest.mock"


def sleeping(text: str) -> Iterator[str]:
    """A test waits on a condition; sleep(0), which only yields, is no wait."""
    for node in _of(text, ast.ImportFrom):
        if node.module in SLEEPERS and "sleep" in {n.name for n in node.names}:
            yield f"{node.lineno}: imports sleep"
    for node in _of(text, ast.Call):
        if _sleeps(node):
            yield f"{node.lineno}: {ast.unparse(node)}"


def timing(text: str) -> Iterator[str]:
    """A test measures no time and sets no time-out of its own: `PATIENCE` ends what would hang."""
    lines = text.splitlines()
    for node in _of(text, ast.Attribute, ast.Name, ast.Call):
        what = _measures(node) or _limits(node) or _checks_speed(node, text)
        if what and not REASON.search(lines[node.lineno - 1]):
            yield f"{node.lineno}: {what}"


def direct_store_calls(text: str) -> Iterator[str]:
    """Records are read and written through `orrery.runtime.collection`."""
    for node in _of(text, ast.Call):
        if _name(node.func) in STORE_CALLS:
            called = ast.unparse(node.func)
            if called.rpartition(".")[0].endswith("store"):
                yield f"{node.lineno}: {called}"


def own_exit_codes(text: str) -> Iterator[str]:
    """A command ends by an error, whose class carries the exit code, or by `orrery.runtime.console.ending`."""
    for node in _of(text, ast.Call):
        if _name(node.func) in EXIT_CALLS and EXIT.fullmatch(call := ast.unparse(node)):
            yield f"{node.lineno}: {call}"


def class_names_in_sentences(text: str) -> Iterator[str]:
    """A sentence has no name of an error's class: `words_of` has words. Only a bug is an "unexpected KeyError"."""
    for node in _of(text, ast.JoinedStr):
        if "type(error)" in (sentence := ast.unparse(node)) and "nexpected" not in sentence:
            yield f"{node.lineno}: {sentence}"


def machine_paths(text: str) -> Iterator[str]:
    """No file names a folder of somebody's machine."""
    yield from _lines_with(MACHINE_PATH, text)


def registry_hosts(text: str) -> Iterator[str]:
    """No file names a package registry's host: which one is used is a fact about a machine."""
    yield from _lines_with(REGISTRY, text)


def unexplained_exceptions(text: str) -> Iterator[str]:
    """A lint or type exception names its rule and gives its reason."""
    lines = text.splitlines() if EXCEPTION.search(text) else []
    for number, line in enumerate(lines, 1):
        found = EXCEPTION.search(line)
        if found and not NAMED_WITH_REASON.fullmatch(found[2]):
            yield f"{number}: {found[0].strip()}"


def swallowed_exceptions(text: str) -> Iterator[str]:
    """Anyone who catches everything raises again, or says on that line why not."""
    lines = text.splitlines()
    for node in _of(text, ast.ExceptHandler):
        if _catches_all(node) and not (_raises(node) or REASON.search(lines[node.lineno - 1])):
            yield f"{node.lineno}: catches everything and goes on"


def _imported(node: ast.Import | ast.ImportFrom) -> str:
    names = [each.name for each in node.names]
    return " ".join(names if isinstance(node, ast.Import) else [f"{node.module}.{name}" for name in names])


def _sleeps(node: ast.Call) -> bool:
    function = node.func
    if not (
        isinstance(function, ast.Attribute) and function.attr == "sleep" and isinstance(function.value, ast.Name)
    ):
        return False
    only_yields = len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    return function.value.id in SLEEPERS and not only_yields


def _name(node: ast.AST) -> str:
    """Return the last part of a dotted name: to unparse every node takes seconds."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _measures(node: ast.AST) -> str:
    name = _name(node)
    of_a_clock = isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("clock")
    return ast.unparse(node) if name in STOPWATCHES and not of_a_clock else ""


def _limits(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    given = [each.value for each in node.keywords if each.arg in {"timeout", "within"}]
    if not given and _name(node.func) in FIVE_SECONDS and ast.unparse(node.func).startswith("httpx2."):
        return "gives up after five seconds, as httpx2 does by itself"
    if isinstance(node.func, ast.Attribute) and node.func.attr in LIMITED:
        given += [
            each for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, int | float)
        ]
    own = [text for each in given if "PATIENCE" not in (text := ast.unparse(each)) and text not in UNLIMITED]
    return f"gives up after {own[0]}" if own else ""


def _checks_speed(node: ast.AST, text: str) -> str:
    if not (isinstance(node, ast.Call) and _name(node.func).endswith("settings")):
        return ""
    given = {each.arg: ast.unparse(each.value) for each in node.keywords}
    checked = "suppress_health_check" in given and "too_slow" not in text
    return "lets a generator's speed decide" if checked or given.get("deadline", "None") != "None" else ""


def _lines_with(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    lines = text.splitlines() if pattern.search(text) else []  # a search a line of all files takes seconds
    for number, line in enumerate(lines, 1):
        if found := pattern.search(line):
            yield f"{number}: {found[0]}"


def _catches_all(node: ast.ExceptHandler) -> bool:
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(each is None or ast.unparse(each) in {"Exception", "BaseException"} for each in caught)


def _raises(node: ast.ExceptHandler) -> bool:
    return any(isinstance(each, ast.Raise) for each in ast.walk(node))

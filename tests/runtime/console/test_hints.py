"""Each command of ours in a message stands where `visible` finds it, which shows it as it is typed here."""

import ast
import re
from collections.abc import Iterator

from orrery.runtime.console.terminal import COMMAND
from tests.docs.documents import ROOT

ANY = re.compile(r"(?<![\w/.[-])orrery (?=[a-z])")
ELSEWHERE: dict[str, str] = {
    "orrery (store|cockpit store) create$": "it goes between backticks",
    "orrery (checkout reconcile|doctor)$": "the same",
    "^orrery tenants sign-in --account $": "the same",
    "^orrery checkout preflight: $": "a name of what failed",
    r"^orrery approvals sign \(": "a pattern",
    "(group|-u) orrery (and|has)": "the user, or the unit",
    "^orrery approval 1": "the first line of what is signed",
    "sudo orrery gateway ": "root types it on the gateway's machine, which has a package of ours",
    "^orrery tenants ": "an example of `--help`, which is of a developer's machine",
    r"\| orrery tenants scan --stdin": "the same",
}
"""What is no such command, as a pattern, with its reason."""


def sentences() -> Iterator[str]:
    """Yield each text of the program but the docstrings."""
    for file in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docstrings = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
        for one in ast.walk(tree):
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and id(one) not in docstrings:
                yield one.value


def test_each_command_is_found() -> None:
    """A new one is written as the others are, or has its reason above, and no reason is left over."""
    used: set[str] = set()
    for text in sentences():
        rest = "\n".join(COMMAND.sub("", line) for line in text.split("\n"))
        if ANY.search(rest):
            reasons = {one for one in ELSEWHERE if re.search(one, text)}
            assert reasons, text
            used |= reasons
    assert used == ELSEWHERE.keys()

"""What a user reads cites no rule by a number that the documentation does not explain.

The specification, its decisions and the issues are for those who build Orrery; a user has none of them.
"""

import ast
import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.documents import LINK, ROOT, anchors, documents
from tests.docs.test_reference import openapi
from tests.support.commands import help_texts
from tests.support.tables import each_case

CITATION = re.compile(r"\b(?:decisions?|change rules?|spec|issue(?: item)?)\s+\d+", re.IGNORECASE)
CHANGE_RULE = re.compile(r"\bchange rules? (?P<number>\d+)", re.IGNORECASE)
RULES = ROOT / "docs/explanation/the-change-rules.md"
PRODUCT = ROOT / "src/orrery"
HANDED_OUT = [
    path
    for folder in (PRODUCT / "web", *PRODUCT.glob("*/init"), ROOT / "deploy")
    for path in folder.rglob("*")
    if path.is_file()
]


def literals(source: str) -> Iterator[str]:
    """Yield each text in a module's code that is no docstring: messages are made of these."""
    tree = ast.parse(source)
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.value


def cited(text: str) -> list[str]:
    """Return what a text cites by number."""
    return CITATION.findall(text)


def test_help_cites_nothing() -> None:
    """No help text of any command, group or option cites a rule by its number."""
    told = dict(help_texts())
    assert {"orrery store create", "orrery checkout verify", "orrery fraud"} <= set(told)
    assert {typed: cited(text) for typed, text in told.items() if cited(text)} == {}


def test_help_shows_no_mark_up() -> None:
    """What keeps the lines of an example apart in a docstring is not printed, as it is of a raw docstring."""
    assert [typed for typed, text in help_texts() if "\\b" in text] == []


def test_messages_cite_nothing() -> None:
    """No text in the code that could be printed, pushed or answered cites a rule by its number."""
    sources = {path: [*literals(path.read_text(encoding="utf-8"))] for path in PRODUCT.rglob("*.py")}
    found = {(str(path), text) for path, texts in sources.items() for text in texts if cited(text)}
    assert found == set()


def test_the_description_of_the_operations_cites_nothing(tmp_path: Path) -> None:
    """The OpenAPI document, which takes its texts from docstrings, cites no rule by its number."""
    assert cited(json.dumps(asyncio.run(openapi(tmp_path)))) == []


def test_files_that_are_handed_out_cite_nothing() -> None:
    """Neither the settings that `init` writes, nor a page, script or unit, cites a rule by its number."""
    assert {PRODUCT / "web/init/head.toml", PRODUCT / "runtime/init/server.toml"} <= {*HANDED_OUT}
    assert [path for path in HANDED_OUT if cited(path.read_text(encoding="utf-8"))] == []


@each_case("page", documents())
def test_pages_cite_what_they_explain(page: Path) -> None:
    """A page cites one of its own decisions by a link, a change rule beside a link to the rules, and no other."""
    text = page.read_text(encoding="utf-8")
    unlinked = LINK.sub("", text)
    rules = CHANGE_RULE.findall(unlinked)
    assert len(cited(unlinked)) == len(rules), cited(unlinked)
    assert not rules or page == RULES or "the-change-rules.md" in text
    assert {f"change-rule-{number}" for number in rules} <= {name[:13] for name in anchors(RULES)}

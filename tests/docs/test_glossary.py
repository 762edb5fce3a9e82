"""The documentation and the texts of the source use the words of the glossary."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.docs.documents import FENCE, ROOT, documents
from tests.support.tables import each_case

GLOSSARY = ROOT / "docs/reference/glossary.md"
SOURCE = ROOT / "src/orrery"
_CODE = re.compile(r"`[^`\n]*`")
_LAST_CELL = re.compile(r"^\|.*\|(?P<cell>[^|]*)\|$", re.MULTILINE)


def avoided() -> list[str]:
    """Return what the last column of the glossary's tables says not to write."""
    cells = (found["cell"] for found in _LAST_CELL.finditer(GLOSSARY.read_text(encoding="utf-8")))
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def names(path: Path) -> Iterator[str]:
    """Yield the names that a module gives and uses, its own among them, as words with low lines between."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("name", "id", "attr", "arg"):
            if isinstance(name := getattr(node, field, None), str):
                yield re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@cache
def pattern() -> re.Pattern[str]:
    """Return what finds one of these words."""
    words = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in avoided())
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


def found(text: str) -> list[str]:
    """Return the words in a text, outside of its code, that the glossary says not to write."""
    return pattern().findall(_CODE.sub("", FENCE.sub("", text)))


def texts(path: Path) -> Iterator[str]:
    """Yield the comments and the string literals, docstrings among them, of a module; else the whole file."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield source
        return
    # Behind a `#` in a literal there is a text, too; a tokenizer that knows the difference takes seconds.
    yield "\n".join(line.partition("#")[2] for line in source.splitlines() if "#" in line)
    for node in ast.walk(ast.parse(source)):
        # A literal of one word is a key or another name, on which others depend.
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 1:
            yield node.value


TEXT = frozenset(
    [".conf", ".css", ".html", ".js", ".lib", ".mjs", ".ps1", ".py", ".service", ".sh", ".timer", ".toml", ".yml"]
)
STRANGERS = SOURCE / "adapters/sample_mailbox"
"""The sample mailbox has mails as strangers write them."""

KEPT = {"src/orrery/scanner/init/scan.toml": {"told"}}
"""The name of a setting, and of a file that users have."""

KEPT_NAMES = {
    "runtime/problems.py": {"told_at"},
    "runtime/watch.py": {"told_at"},
    "scanner/settings.py": {"told"},
    "app/scan/files.py": {"told"},
    "live/monitor.py": {"told"},
    "live/quota.py": {"told"},
    "live/tokens.py": {"told"},
}
"""Names of settings and of what is stored."""

SOURCES = [
    path
    for path in sorted(SOURCE.rglob("*"))
    if path.suffix in TEXT and (path.suffix == ".py" or not path.is_relative_to(STRANGERS))
]
PAGES = [page for page in documents() if page != GLOSSARY]


def test_the_glossary_has_words_to_avoid() -> None:
    """The table is read."""
    assert {"can not", "whoever", "is told"} <= set(avoided())


@each_case("page", PAGES)
def test_a_page_uses_the_glossarys_words(page: Path) -> None:
    """No page has a word that the glossary says not to write."""
    assert found(page.read_text(encoding="utf-8")) == []


def test_the_source_uses_the_glossarys_words() -> None:
    """No comment, docstring or literal of the source has a word that the glossary says not to write."""
    words = {
        str(path.relative_to(ROOT)): {word for text in texts(path) for word in found(text)} for path in SOURCES
    }
    assert {path: avoid for path, avoid in words.items() if avoid} == KEPT


def test_the_names_in_the_source_use_the_glossarys_words() -> None:
    """No function, class, argument or module is named by a word that the glossary says not to write."""
    avoided_words = {word for word in avoided() if word.isalpha()}
    wrong = {
        str(path.relative_to(SOURCE)): {name for name in names(path) if avoided_words & set(name.split("_"))}
        for path in SOURCES
        if path.suffix == ".py"
    }
    assert {path: avoid for path, avoid in wrong.items() if avoid} == KEPT_NAMES

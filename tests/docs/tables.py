"""What a reference page says in its sections and tables."""

import re
from collections.abc import Iterator

from tests.docs.documents import FENCE, ROOT

REFERENCE = ROOT / "docs" / "reference"

_HEADING = re.compile(r"^(?P<level>#{2,4})\s+(?P<title>.+)$", re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"`([^`]+)`")
_RULE = re.compile(r"[\s|:-]+")

Row = list[str]


def sections(page: str) -> dict[str, str]:
    """Return the text under each heading of a reference page, up to the next heading, by the heading's words."""
    text = FENCE.sub("", (REFERENCE / page).read_text())
    found = list(_HEADING.finditer(text))
    ends = [each.start() for each in found[1:]] + [len(text)]
    return {each["title"].replace("`", ""): text[each.end() : end] for each, end in zip(found, ends, strict=True)}


def rows(section: str) -> Iterator[Row]:
    """Yield the cells of the rows of every table in a section, without the tables' heads."""
    lines = section.splitlines()
    for number, line in enumerate(lines):
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        is_head = follows.startswith("|") and _RULE.fullmatch(follows)
        if line.startswith("|") and not _RULE.fullmatch(line) and not is_head:
            yield [cell.strip() for cell in _CELL.split(line.strip().strip("|"))]


def names(section: str) -> set[str]:
    """Return what stands as code in the first cells of a section's tables."""
    return {name for row in rows(section) for name in code(row[0])}


def code(cell: str) -> list[str]:
    """Return what stands as code in a cell."""
    return _CODE.findall(cell)

"""What a page of the documentation asks its reader to do, in the order in which it stands there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

_PIECE = re.compile(
    r"^(?P<fence>\ *`{3,})(?P<info>\w*)[^\n]*\n(?P<body>.*?)^(?P=fence)\s*$"
    r"|^\|\ type\ \|[^\n]*\n\|[-|]+\n(?P<rows>(?:\|[^\n]*\n)+)"
    r"|\*\*You\ see\*\*(?P<seen>(?:`[^`]+`|[^`])*?(?:\.(?=\s)|(?=\n\n)))",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_FIRST_CELL = re.compile(r"^\| `(.+?)` \|", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Typed:
    """Lines to type at a terminal: a block without a language, or a row of a table of what to type."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edited:
    """Keys to set in a settings file, in TOML."""

    text: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What shall be there to see: each text as it stands in backquotes, with `…` for what differs."""

    texts: tuple[str, ...]

    def missing_from(self, shown: str) -> list[str]:
        """Return the texts that are not in what a terminal showed."""
        return [text for text in self.texts if not re.search(_pattern(text), shown)]


Piece = Typed | Edited | Seen


def pieces(page: Path) -> Iterator[Piece]:
    """Yield what a page asks for, from top to bottom."""
    yield from _pieces(page.read_text(encoding="utf-8"))


def section(page: Path, title: str) -> list[Piece]:
    """Return what one section of a page asks for, up to the next heading of any level."""
    text = page.read_text(encoding="utf-8")
    _, heading, rest = text.partition(f"# {title}\n")
    assert heading, f"{page.name} has no heading {title!r}"
    return list(_pieces(re.split(r"(?m)^#+ (?=[A-Z])", rest, maxsplit=1)[0]))


def _pieces(text: str) -> Iterator[Piece]:
    for found in _PIECE.finditer(text):
        if found["rows"]:
            yield from (Typed((row.replace(r"\|", "|"),)) for row in _FIRST_CELL.findall(found["rows"]))
        elif found["seen"]:
            yield Seen(tuple(_CODE.findall(found["seen"])))
        elif found["info"] == "toml":
            yield Edited(dedent(found["body"]))
        elif not found["info"]:
            yield Typed(tuple(dedent(found["body"]).splitlines()))


def _pattern(text: str) -> str:
    parts = [r"\s+".join(map(re.escape, part.split(" "))) for part in text.split("…")]
    return r"\S*".join(parts)


def steps(page: Path) -> dict[str, list[Piece]]:
    """Return what each step asks for, by its title; what comes before the first one has the title ""."""
    parts = re.split(r"(?m)^## (.+)$", page.read_text(encoding="utf-8"))
    return {title: list(_pieces(text)) for title, text in zip(["", *parts[1::2]], parts[::2], strict=True)}

"""Which line of which file sets a setting of a unit last, by the syntax of systemd's files. Pure."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

_SECTION = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Assignment:
    """`key=value` in a section, and where it stands."""

    path: str
    line: int
    section: str
    key: str
    value: str

    @property
    def place(self) -> str:
        return f"{self.path}, line {self.line}"


def assignments(sources: Sequence[tuple[str, str | None]]) -> list[Assignment]:
    """Return every assignment, in the order in which systemd reads them; an unreadable file has none."""
    return [one for path, text in sources if text is not None for one in _in_file(path, text)]


def last_assignment(
    found: Sequence[Assignment], sections: Collection[str], keys: Collection[str]
) -> Assignment | None:
    """Return the one that counts: the last of these keys in these sections."""
    fitting = (one for one in reversed(found) if one.section in sections and one.key in keys)
    return next(fitting, None)


def _in_file(path: str, text: str) -> Iterator[Assignment]:
    section = ""
    for number, line in _joined(text):
        if header := _SECTION.fullmatch(line.strip()):
            section = header[1]
        elif "=" in line:
            key, _, value = line.partition("=")
            yield Assignment(path, number, section, key.strip(), value.strip())


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number; a backslash at the end continues it, and comments are left out."""
    begun, whole = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("#", ";")):
            continue
        begun = begun or number
        if line.endswith("\\"):
            whole += line[:-1] + " "
            continue
        yield begun, whole + line
        begun, whole = 0, ""
    if whole:
        yield begun, whole

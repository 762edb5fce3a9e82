"""A file of items for the action ledger: one JSON object a line."""

from collections.abc import Iterator
from datetime import date

from pydantic import BaseModel, ConfigDict, ValidationError

from orrery.cockpit.ledger import NewItem
from orrery.errors import Invalid
from orrery.ports.comms.messages import Priority
from orrery.syntax.track import Track


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    track: Track
    title: str
    person: str = ""
    until: date | None = None
    priority: Priority = "normal"


def read_items(content: bytes) -> list[NewItem]:
    """Return the items of a file; raise `Invalid` for the first wrong line, by its number and without its text."""
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise Invalid("The file is not UTF-8; nothing was added.") from None
    found = list(_items(lines))
    if not found:
        raise Invalid("The file has no items; nothing was added.")
    return found


def _items(lines: list[str]) -> Iterator[NewItem]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            read = _Line.model_validate_json(line)
            yield NewItem(read.track, read.title, read.person, read.until, read.priority)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "it"
            raise Invalid(f"Line {number}: {where}: {first['msg']}; nothing was added.") from None
        except Invalid as error:
            raise Invalid(f"Line {number}: {error} Nothing was added.") from None

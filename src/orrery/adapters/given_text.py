"""One text as a source of the scanner: what came by standard input."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO

from orrery.ports.scanned import Item, NotRead


@dataclass(frozen=True, slots=True)
class GivenText:
    """See `Source`."""

    place: str
    text: bytes = field(repr=False)
    notes: tuple[str, ...] = ()

    @property
    def bytes(self) -> int | None:
        return len(self.text)

    def items(self) -> Iterator[Item | NotRead]:
        yield Item(self.place, "", len(self.text), BytesIO(self.text))

    def since(self, object_id: str) -> str:
        del object_id
        return ""

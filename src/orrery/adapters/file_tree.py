"""Files and folders as a source of the scanner."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from orrery.ports.scanned import Item, NotRead


class FileTree:
    """See `Source`."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    @property
    def bytes(self) -> int | None:
        return None

    def items(self) -> Iterator[Item | NotRead]:
        for path in self._paths:
            for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
                if one.is_file():
                    with one.open("rb") as content:
                        yield Item(str(one), str(one), one.stat().st_size, content)

    def since(self, object_id: str) -> str:
        del object_id
        return ""

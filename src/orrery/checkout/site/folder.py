"""The folder of a site on this machine: the paths of its practice pages, and copies of these elsewhere in it."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, unquote

from orrery.checkout.site.practice import PracticePages


class SiteFolder:
    """What a web server hands out from a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def paths(self, pages: PracticePages) -> Iterator[str]:
        """Yield the path of each file of the practice pages, and of the folder of an index page."""
        for path, file in self._below(pages.path):
            yield path
            if file.name == "index.html":
                yield path.removesuffix("index.html")

    def copies(self, pages: PracticePages, closed: Sequence[PracticePages]) -> dict[str, str]:
        """Return the paths outside of all practice pages where the bytes of one are, with the path of that one."""
        filled = [(path, file) for path, file in self._below(pages.path) if file.stat().st_size]
        own, sizes = {_digest(file): path for path, file in filled}, {file.stat().st_size for _, file in filled}
        same = {
            path: own.get(_digest(file), "")
            for path, file in self._below("/")
            if file.stat().st_size in sizes and not any(one.has(path) for one in closed)
        }
        return {path: original for path, original in same.items() if original}

    def _below(self, path: str) -> Iterator[tuple[str, Path]]:
        place = self._root / unquote(path).strip("/")
        for file in [place] if place.is_file() else sorted(_files(place)):
            yield quote(f"/{file.relative_to(self._root).as_posix()}"), file


def _files(place: Path, *, follow: bool = True) -> Iterator[Path]:
    """Yield the files in a folder, and those in folders that links lead to, whose own links are not followed."""
    for one in place.rglob("*"):
        if one.is_file():
            yield one
        elif follow and one.is_symlink():
            yield from _files(one, follow=False)


def _digest(file: Path) -> bytes:
    return sha256(file.read_bytes()).digest()

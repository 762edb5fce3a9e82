"""The file of the watch-list: opened with its key, and changed as a whole."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from orrery.errors import NotConfigured
from orrery.ports.private_file import PrivateFile
from orrery.scanner.watch_list import WatchList, WatchListKeys, opened, sealed


@dataclass(frozen=True, slots=True)
class WatchListFile:
    """The file and the text of its key, if there is one; `key_place` names in words where the key belongs.

    Every method raises `NotConfigured` for a list that cannot be opened.
    """

    file: PrivateFile
    key: str | None = field(repr=False)
    key_place: str

    @property
    def path(self) -> Path:
        return self.file.path

    def keys(self) -> WatchListKeys:
        """Return what the key is made into."""
        if self.key is None:
            raise NotConfigured(
                f"The watch-list needs its key, and {self.key_place} is missing. "
                "Where there is no list yet, type: orrery tenants watch new-key"
            )
        return WatchListKeys.of(self.key)

    def require_key(self) -> None:
        """Return when the list can be opened, or begun."""
        if self.read() is None:
            _ = self.keys()

    def read(self) -> WatchList | None:
        """Return the list, or None when its file is missing."""
        content = self.file.read()
        return None if content is None else self._opened(content)

    def change(self, change: Callable[[WatchList], WatchList]) -> None:
        """Replace the list, or begin one, by what `change` makes of it."""

        def work(content: bytes | None) -> bytes:
            before = WatchList() if content is None else self._opened(content)
            return sealed(change(before), self.keys())

        self.file.change(work)

    def _opened(self, content: bytes) -> WatchList:
        if self.key is None:
            raise NotConfigured(
                f"The watch-list {self.path} cannot be opened: its key, {self.key_place}, is missing. "
                "Restore that from where you keep your passwords. If it is lost, move the list away, "
                "and begin a new one with: orrery tenants watch new-key"
            )
        try:
            return opened(content, self.keys())
        except NotConfigured as error:
            raise type(error)(f"The watch-list {self.path} {error}.") from None

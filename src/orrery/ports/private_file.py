"""One private file, as a port: read and replaced as a whole."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from orrery.errors import OrreryError


class SignInFileUnusable(OrreryError):
    """The file of a track's sign-ins is cut, another user's or another track's, or others may read it."""


class PrivateFile(Protocol):
    """A file of this user that no other user may use. Every method raises `NotConfigured` for one that is not."""

    @property
    def path(self) -> Path:
        """Its path."""
        ...

    def read(self) -> bytes | None:
        """Return what it holds, or None when it is not there."""
        ...

    def change(self, change: Callable[[bytes | None], bytes]) -> None:
        """Replace it by what `change` makes of it, under a lock; raise what `change` raises."""
        ...

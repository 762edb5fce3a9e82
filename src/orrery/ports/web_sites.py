"""A web site as a visitor reaches it, as a port: what `orrery site check` asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from orrery.errors import OrreryError


class SiteNotReached(OrreryError):
    """The site gave no answer to a request, or none in time."""


@dataclass(frozen=True, slots=True)
class SiteRequest:
    """One request. `path` goes out letter by letter: nothing in it is joined, resolved or decoded."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class SiteAnswer:
    """An answer of any status; no redirection is followed.

    Names of headers are in lower case, several of one name are joined by a comma. `body` is its beginning.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


class WebSites(Protocol):
    """The sites that can be asked."""

    async def ask(self, origin: str, request: SiteRequest) -> SiteAnswer:
        """Return a site's answer; raise `SiteNotReached`."""
        ...

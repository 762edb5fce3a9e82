"""A request to the API with the token of one account."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from orrery.errors import OrreryError


class ApiUnreachable(OrreryError):
    """No usable answer to a direct request within the deadline; what it was to change may be changed."""


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """The API's answer; `headers` by lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class DelegatedApi(Protocol):
    """Asks the API of the settings. Raises `ApiUnreachable`; every status is an answer."""

    def ask(self, method: str, path: str, token: str, body: bytes | None, media_type: str) -> ApiAnswer:
        """Send one request, and follow no redirection. `path` begins with a slash and may have a query."""
        ...

"""One request of a signed-in person, with what its address and headers ask for."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from orrery.sandbox.graph.errors import Created, bad_query, bad_request
from orrery.sandbox.identity.registry import Issued
from orrery.sandbox.state import Document

_PREFERENCE = re.compile(r'\s*([\w.-]+)\s*(?:=\s*(?:"([^"]*)"|([^,;]*)))?\s*(?:[,;]|$)')


@dataclass(frozen=True, slots=True)
class Call:
    """`ids` are those in the path, `query` has its names with their `$`, `preferences` are lower-case names."""

    issued: Issued
    template: str
    ids: tuple[str, ...]
    query: Mapping[str, str]
    preferences: Mapping[str, str]
    if_match: str
    given: object

    @property
    def account(self) -> str:
        return self.issued.account.username

    @property
    def immutable(self) -> bool:
        """Whether the answer has ids that stay when an item is moved."""
        return self.preferences.get("idtype", "").lower() == "immutableid"

    @property
    def body(self) -> Document:
        """Return the JSON object that came."""
        if not isinstance(self.given, dict):
            raise bad_request("Empty Payload. JSON content expected.")
        return cast("Document", self.given)

    def number(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number of the query within bounds."""
        text = self.query.get(name, "")
        if not text:
            return default
        if not text.isdecimal() or not low <= int(text) <= high:
            raise bad_query(f"The value '{text}' of {name} is not between {low} and {high}.")
        return int(text)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of a list such as `$select`."""
        return tuple(one for part in self.query.get(name, "").split(",") if (one := part.strip()))


Handler = Callable[[Call], Document | Created | None]
"""Answers a call: 200 with a document, 201, or 202 with nothing."""


def preferences_of(text: str) -> dict[str, str]:
    """Return the preferences of a header, by their names in lower case."""
    return {found[1].lower(): found[2] or found[3] or "" for found in _PREFERENCE.finditer(text) if found[1]}

"""What the headers of a request show: a form of ours, a page that a person looks at (facts, Gate and cookie)."""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from orrery.ports.clock import Clock
from orrery.syntax.form_token import FormTokens

_OURS = ("same-origin", "none")

Came = Literal["ours", "unknown", "elsewhere"]
"""From where the form of a button came: a page of a site, one that the browser does not name, or another one."""


def is_visit(headers: Mapping[str, str]) -> bool:
    """Return whether a browser shows the answer now: no program, and none that fetches what may be asked for.

    A browser that sends none of these headers, as Safari before 16.4, gets a page with a button.
    """
    return headers.get("sec-fetch-dest") == "document" and {"sec-purpose", "purpose"}.isdisjoint(headers)


@dataclass(frozen=True, slots=True)
class Forms:
    """Judges the forms of the hosted pages. `origins` are those of the sites."""

    clock: Clock
    origins: Collection[str]
    tokens: FormTokens

    @classmethod
    def of_store(cls, store_key: bytes, clock: Clock, origins: Collection[str]) -> "Forms":
        """Return those under a key derived from the store's own, which has other uses too."""
        return cls(clock, origins, FormTokens(hmac.digest(store_key, b"orrery tokens of forms", "sha256")))

    def token(self) -> str:
        """Return the token that forms have today, in UTC."""
        return self.tokens.of(self.clock.now())

    def are_own(self, headers: Mapping[str, str], token: str) -> bool:
        """Return whether a form came from a page of ours, by the headers of its request and its token.

        The browser decides by `Sec-Fetch-Site`. Where it sends none, and `null` as the origin, because our pages
        have no referrer, the token decides: it distinguishes a page of ours from any other, and not one reader of
        ours from another. What a form opens is decided by its own link.
        """
        origin = headers.get("origin", "null")
        if came := headers.get("sec-fetch-site"):
            return came in _OURS
        return self.tokens.have(token, self.clock.now()) if origin == "null" else origin in self.origins

    def came(self, headers: Mapping[str, str], token: str) -> Came:
        """Return from where a button's form came: it may be on any page of any site of ours.

        A page or frame without a referrer sends `null` as its origin. That is no reason to refuse it.
        """
        origin = headers.get("origin", "null")
        if origin in self.origins or self.are_own(headers, token):
            return "ours"
        return "unknown" if origin == "null" else "elsewhere"

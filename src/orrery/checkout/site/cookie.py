"""The cookie by which a site knows a browser again (decision 46): a random id with a proof that we made it."""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from orrery.checkout.catalogue import ProductKey
from orrery.checkout.sites import Site

LIFE = timedelta(days=400)
"""How long a browser keeps its cookie, and no browser keeps one longer (facts, Gate and cookie).

The store knows when an access ends. A cookie that ended with it would not do for one that is renewed elsewhere.
"""

PROBE_LIFE = timedelta(minutes=5)
"""How long a probe opens its product."""

ACCESS = b"orrery"
"""What the cookie of the access gate is named after."""

_BYTES = 16
_LENGTH = 43


@dataclass(frozen=True, slots=True)
class BrowserCookies:
    """Makes and reads the cookies of one store's sites."""

    _key: bytes = field(repr=False)

    @classmethod
    def of_store(cls, store_key: bytes) -> "BrowserCookies":
        """Return those under a key derived from the store's own, which has other uses too."""
        return cls(hmac.digest(store_key, b"orrery cookies of browsers", "sha256"))

    def new(self) -> bytes:
        """Return the value for a browser that has none."""
        browser = secrets.token_bytes(_BYTES)
        return urlsafe_b64encode(browser + self._proof(browser)).rstrip(b"=")

    def browser_of(self, value: bytes) -> str | None:
        """Return the digest of the browser that a value is of; None for one that we did not make."""
        if len(value) != _LENGTH:
            return None
        try:
            made = urlsafe_b64decode(value + b"=")
        except ValueError:
            return None
        browser, proof = made[:_BYTES], made[_BYTES:]
        if not hmac.compare_digest(proof, self._proof(browser)):
            return None
        return hmac.digest(self._key, b"browser " + browser, "sha256").hex()[:32]

    def new_probe(self, product: ProductKey, now: datetime) -> bytes:
        """Return the value by which `orrery site check` opens one product, of which nothing is stored."""
        named = b"%b:%d" % (product.name.encode(), int((now + PROBE_LIFE).timestamp()))
        return named + b":" + self._proof_of_probe(named)

    def probed(self, value: bytes, now: datetime) -> str | None:
        """Return the product that a probe opens, nothing for one that has expired; None for what is no probe."""
        named, _, proof = value.rpartition(b":")
        if not named or not hmac.compare_digest(proof, self._proof_of_probe(named)):
            return None
        product, _, until = named.rpartition(b":")
        return product.decode() if now.timestamp() < int(until) else ""

    def _proof_of_probe(self, named: bytes) -> bytes:
        return hmac.digest(self._key, b"probe " + named, "sha256").hex().encode()

    def _proof(self, browser: bytes) -> bytes:
        return hmac.digest(self._key, browser, "sha256")[:_BYTES]


def cookie_name(site: Site, named: bytes = ACCESS) -> bytes:
    """Return a cookie's name: a browser refuses the first one without https, and from any other host."""
    return b"__Host-" + named if site.is_encrypted else named + b"-local"


def sent_cookie(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes:
    """Return the value of a cookie in the headers of a request, or nothing."""
    for header, value in headers:
        if header == b"cookie":
            for one in value.split(b";"):
                key, _, found = one.strip().partition(b"=")
                if key == name:
                    return found
    return b""


def set_cookie(site: Site, value: bytes, named: bytes = ACCESS, life: timedelta = LIFE) -> str:
    """Return the header that gives a browser a cookie."""
    secure = "; Secure" if site.is_encrypted else ""
    seconds = int(life.total_seconds())
    given = f"{cookie_name(site, named).decode()}={value.decode()}"
    return f"{given}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"

"""Where the practice pages of each product are: one rule for what is printed and for what is checked. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote, urlsplit

from orrery.checkout.catalogue import Catalogue, ProductKey
from orrery.checkout.site.cookie import cookie_name
from orrery.checkout.sites import GATE, Site, origin_of
from orrery.errors import Invalid


@dataclass(frozen=True, slots=True)
class PracticePages:
    """The practice pages of one product: `path` at an origin, and all that is in it where it is a folder.

    Without an address in the settings both are empty; with a path alone, `origin` is.
    """

    product: ProductKey
    site: Site
    origin: str
    path: str

    @property
    def gate(self) -> str:
        """The path at which the web server asks the access gate."""
        return f"{GATE}{self.product.name}"

    @property
    def cookie_name(self) -> str:
        """The name of the cookie that opens them."""
        return cookie_name(self.site).decode()

    def is_at(self, url: str) -> bool:
        """Return whether an address is that of the site, or of these pages."""
        return origin_of(url) == self.origin and (self.folder or self.path).startswith(urlsplit(url).path or "/")

    @property
    def folder(self) -> str:
        """The path as that of a folder, which begins and ends with a slash; nothing where it is that of a file."""
        is_file = not self.path or (PurePosixPath(self.path).suffix and not self.path.endswith("/"))
        return "" if is_file else f"{self.path.rstrip('/')}/"

    def has(self, path: str) -> bool:
        """Return whether a path is one of these pages."""
        return path == self.path or (self.folder != "" and path.startswith(self.folder))


def other_addresses(origin: str) -> list[str]:
    """Return where else a web server may show the pages of an origin: unencrypted, and with or without www."""
    parts = urlsplit(origin)
    host = parts.hostname or ""
    if parts.scheme != "https" or "." not in host or host.replace(".", "").isdigit():
        return []  # a site on this machine, or by a bare address
    other = host.removeprefix("www.") if host.startswith("www.") else f"www.{host}"
    named = (f"{scheme}://{name}" for name in (host, other) for scheme in ("https", "http"))
    return [one for one in named if one != origin]


def practice_pages(catalogue: Catalogue, instead: str | None = None) -> list[PracticePages]:
    """Return those of all products that are sold at a site, without an address where the settings have none.

    `instead` is the address for all.
    """
    return [
        _at(product.key, product.site, product.key.within(instead or product.site.practice_url))
        for product in catalogue.listed
        if product.site
    ]


def _at(key: ProductKey, site: Site, address: str) -> PracticePages:
    path = quote(urlsplit(address).path, safe="/%") or ("/" if address else "")
    return PracticePages(key, site, origin_of(address), path)


def as_sent(path: str) -> str:
    """Return a path and its query as a browser sends them: with letters beyond ASCII encoded, else as typed."""
    return quote(path, safe="/%?&=+:;,@!$'()*~")


def pages_at(url: str | None, listed: Sequence[PracticePages]) -> list[PracticePages]:
    """Return those at an address, or all that have one; raise `Invalid` when no product has any."""
    if found := [one for one in listed if one.origin and (url is None or one.is_at(url))]:
        return found
    at = f" at {url}" if url else ""
    raise Invalid(f"No product has practice pages{at}: its site names them by practice_url.")


def name_of_questions(site: Site) -> str:
    """Return what the Caddy of a site calls the second site that asks Orrery, and its socket."""
    return f"orrery.{re.sub('[^a-z0-9.-]+', '-', urlsplit(site.origin).netloc) or 'site'}"

"""The sites that sell (decision 53): pure."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

GATE = "/guided/api/gate/"
"""Where the web server of a site asks whether a browser may see the pages of `vendor/cert`."""

SUCCESS, CANCELLED, ENDED = "/guided/success", "/guided/cancelled", "/guided/ended"
OPEN, LOST = "/guided/open", "/guided/lost"
"""The hosted pages, on each site's own origin."""

BUTTON = "/guided/buy.js"
"""The script of the buy button, on each site's own origin."""

CHECKOUT, PAY = "/guided/api/checkout", "/guided/pay"
"""Where a button's form goes, and the page that leads on to the payment page."""

Language = Literal["en", "de"]
"""What the hosted pages are written in: each has its words in `web/guided/words.toml`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SellerDetails:
    """Who sells, for the e-mails to buyers: what is empty is left out of them.

    `tax_line` is put below the amount as it is. `statement_name` is what a buyer's card statement calls the
    seller. Times are in `time_zone`. With a `number_series` its live sales are numbered without gaps.
    """

    seller: str = ""
    postal_address: tuple[str, ...] = ()
    tax_number: str = ""
    tax_line: str = ""
    statement_name: str = ""
    reply_to: str = ""
    sender: str = ""
    time_zone: str = "UTC"
    number_series: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site(SellerDetails):
    """One site, with who sells there. What is empty is that of `[checkout]`, whose addresses make the one default
    site; of the seller's details all are, where it names no seller.

    The addresses may hold {vendorSlug} and {certCode}.
    """

    origin: str = ""
    name: str = ""
    success_url: str = ""
    cancel_url: str = ""
    practice_url: str = ""
    language: Language = "en"
    colour: str = ""
    has_pages: bool = False
    """Whether the hosted pages are where buyers come back to, or may be: then an e-mail has a link to one."""

    @property
    def asks_gate(self) -> bool:
        """Whether its web server asks the access gate: the hosted pages are there where the practice pages are."""
        return self.has_pages and origin_of(self.practice_url) in ("", self.origin)

    @property
    def is_encrypted(self) -> bool:
        """Return whether a browser reaches the site by https: only a site on this machine may do without."""
        return not self.origin.startswith("http://")


DEFAULT = Site()
"""A site of which nothing is set."""


def origin_of(address: str) -> str:
    """Return the origin of a web address, or nothing."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""

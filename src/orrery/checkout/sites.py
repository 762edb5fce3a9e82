"""The sites that sell (decision 53): pure."""

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Site:
    """One site. What is empty is that of `[checkout]`, whose addresses make the one default site.

    The addresses may hold {vendorSlug} and {certCode}.
    """

    origin: str = ""
    name: str = ""
    success_url: str = ""
    cancel_url: str = ""
    practice_url: str = ""
    seller: str = ""

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

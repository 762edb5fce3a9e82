"""Whether a text contains something that a reader or a payment page would treat as a web address.

The list of top-level domains in `publicsuffixlist` distinguishes domains from other words with dots. No network is
used (docs/decisions/0024).
"""

import re
from collections.abc import Iterator
from functools import cache
from ipaddress import ip_address
from unicodedata import category, normalize

from publicsuffixlist import PublicSuffixList

PRODUCT_NAMES = frozenset({"ADO.NET", "ASP.NET", "ML.NET", "VB.NET"})
"""Names of products that are written like a domain, in exactly this form."""

RESERVED = frozenset({"alt", "example", "internal", "invalid", "local", "localhost", "test"})
"""Top-level domains that cannot be bought and that people write all the same (RFC 2606, 6761, 6762 and 9476)."""

_IDEOGRAPHIC_FULL_STOP = "\u3002"
"""A dot in a domain (RFC 3490, section 3.1); its half-width and full-width forms become it, or a dot, by NFKC."""

_ADDRESS = re.compile(
    r"\w*://\S*"
    r"|\b(?:www\.|mailto:)\S*"
    r"|\blocalhost[:/]\S*"
    r"|[^\s@]+@[^\W\d_]\S*",
    re.IGNORECASE,
)
_IPV4 = re.compile(r"(?<![\d.])\d+(?:\.\d+){3}(?!\.?\d)", re.ASCII)
_IPV6 = re.compile(r"(?<![\w.:])[\da-f:.]*:[\da-f]*:[\da-f:.]*(?![\w:])", re.IGNORECASE)
_PARTS = "LNM"
"""The Unicode categories of what domains are made of: letters, digits, and the marks on them."""


def find_web_address(text: str) -> str | None:
    """Return the first URL, domain, e-mail address or IP address in a text, or None.

    Characters that cannot be seen are left out first, and every kind of full stop counts as a dot.
    """
    plain = _plain(text)
    found = _ADDRESS.search(plain)
    return found.group() if found else next(_hosts(plain), None)


def organization_of(domain: str) -> str:
    """Return the registered domain, in lower case: `corp.co.uk` of `mail.corp.co.uk`.

    One organization gives out all addresses below it.
    """
    labels = domain.lower().strip(".").split(".")
    found = None if RESERVED & {labels[-1]} else _suffixes().privatesuffix(".".join(labels))
    return found or ".".join(labels[-2:])


def _plain(text: str) -> str:
    visible = "".join(one for one in text if category(one) != "Cf")
    return normalize("NFKC", visible).replace(_IDEOGRAPHIC_FULL_STOP, ".")


def _hosts(plain: str) -> Iterator[str]:
    for pattern in (_IPV4, _IPV6):
        yield from (found for found in pattern.findall(plain) if _is_ip_address(found))
    words = "".join(one if category(one)[0] in _PARTS or one in "-_." else " " for one in plain)
    for word in words.split():
        for run in re.split(r"\.{2,}|^\.", word):
            yield from _domain([label.strip("-_") for label in run.split(".")])


def _domain(labels: list[str]) -> Iterator[str]:
    """Yield the labels up to the last that is a top-level domain, unless that is a product's name."""
    ends = [number for number, label in enumerate(labels) if number and label and _is_top_level(label)]
    if ends:
        name = ".".join(labels[: ends[-1] + 1])
        if name not in PRODUCT_NAMES:
            yield name


def _is_ip_address(text: str) -> bool:
    try:
        # Two colons alone are an address, too, and more often the operator of a language.
        return not ip_address(text.rstrip(".")).is_unspecified
    except ValueError:
        return False


def _is_top_level(label: str) -> bool:
    """Return whether a label is a top-level domain; marks on it do not hide one."""
    lower = _decoded(label.lower())
    bare = "".join(one for one in normalize("NFKD", lower) if not category(one).startswith("M"))
    return bool({lower, bare} & RESERVED) or _suffixes().is_public(lower) or _suffixes().is_public(bare)


def _decoded(label: str) -> str:
    try:
        return label.encode("ascii").decode("idna") if label.startswith("xn--") else label
    except UnicodeError:
        return label


@cache
def _suffixes() -> PublicSuffixList:
    # Read when the first word with a dot comes: it takes some 40 ms.
    return PublicSuffixList(accept_unknown=False, accept_encoded_idn=False, only_icann=True)

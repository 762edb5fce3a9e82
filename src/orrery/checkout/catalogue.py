"""The products on sale (decision 4): pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import category, normalize

from orrery.errors import Invalid, NotFound

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Certification codes and vendor slugs (decision 2)."""

SLUG_MAXIMUM = 64
"""Longest slug in characters (decision 2)."""

CUSTOM_TEXT_MAXIMUM = 1200
"""Longest custom text message in Unicode code points (spec 1, Limits)."""

TRUST_COPY = (
    "Instant access after payment: one year of practice questions for {CERT}. "
    "One payment, no subscription, no auto-renewal."
)

_LINK = re.compile(r"://|\bwww\.|\bmailto:|\b[\w-]+(\.[\w-]+)*\.[^\W\d_]{2,}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProductKey:
    """What a visitor names to buy, and what the session's metadata repeats."""

    product_type: str
    cert_code: str
    vendor_slug: str

    @property
    def name(self) -> str:
        """Return what the owner calls it: `vendor/cert`. A certification code alone may be of two vendors."""
        return f"{self.vendor_slug}/{self.cert_code}"


@dataclass(frozen=True, slots=True)
class Product:
    """One certification's practice questions for one year, at one price; without a price it can not be sold."""

    vendor_slug: str
    cert_code: str
    title: str
    price_id: str | None = None
    trust_copy: str = TRUST_COPY

    @property
    def key(self) -> ProductKey:
        """Return what identifies this product. `cert` is the only type there is (spec 1, Resources)."""
        return ProductKey("cert", self.cert_code, self.vendor_slug)

    @property
    def name(self) -> str:
        """Return what the owner calls it: `vendor/cert`."""
        return self.key.name

    @property
    def submit_message(self) -> str:
        """Return the trust copy for this certification, as shown above the Pay button."""
        return self.trust_copy.replace("{CERT}", self.title)


def checked(product: Product) -> Product:
    """Return `product`, or raise `Invalid` saying what in it the processor or the spec would refuse."""
    for name, slug in (("vendor_slug", product.vendor_slug), ("cert_code", product.cert_code)):
        if not is_slug(slug):
            raise Invalid(f"{name} is not lower-case words joined by hyphens (at most {SLUG_MAXIMUM} characters).")
    if not product.title.strip() or (product.price_id is not None and not product.price_id.strip()):
        raise Invalid(f"Product {product.cert_code} needs a title, and a price_id that is not empty.")
    check_custom_text(product.submit_message, f"The trust copy of {product.cert_code}")
    return product


def is_slug(text: str) -> bool:
    """Return whether `text` is a slug as decision 2 defines it."""
    return len(text) <= SLUG_MAXIMUM and SLUG.fullmatch(text) is not None


def check_custom_text(text: str, what: str) -> None:
    """Raise `Invalid` unless `text` may be shown on the payment page (spec 1, Custom text slots; Errors)."""
    if not text.strip():
        raise Invalid(f"{what} is empty: the buyer must see it above the Pay button.")
    if len(text) > CUSTOM_TEXT_MAXIMUM:
        raise Invalid(f"{what} has {len(text)} characters; at most {CUSTOM_TEXT_MAXIMUM} are allowed.")
    if found := _LINK.search(_unmarked(text)):
        where = f"near character {found.start() + 1}"
        raise Invalid(f"{what} holds what looks like a web address, {where}; use plain text.")


def _unmarked(text: str) -> str:
    # Vowel signs are no letters to `re`, and would hide the domains of several scripts; a full-width dot is a dot.
    return "".join(one for one in normalize("NFKC", text) if not category(one).startswith("M"))


class Catalogue:
    """All products, found by what a visitor names."""

    def __init__(self, products: tuple[Product, ...] = ()) -> None:
        self._products = {checked(product).key: product for product in products}
        if len(self._products) != len(products):
            raise Invalid("Two products have the same vendor_slug and cert_code.")

    def find(self, key: ProductKey) -> Product | None:
        """Return the product, or None when it is not on sale."""
        return self._products.get(key)

    def vendors_of(self, cert_code: str) -> list[str]:
        """Return the vendors that sell a certification: one, unless the code is shared."""
        return [product.vendor_slug for product in self if product.cert_code == cert_code]

    def shared_codes(self) -> list[str]:
        """Return the certification codes that more than one vendor sells (decision 47)."""
        counted = Counter(product.cert_code for product in self)
        return [code for code, count in counted.items() if count > 1]

    def named(self, names: Sequence[str]) -> list[Product]:
        """Return the products that the owner names as `vendor/cert`, or all; raise `NotFound`."""
        known = {product.name: product for product in self}
        if unknown := [name for name in names if name not in known]:
            raise NotFound(f"{unknown[0]!r} is no product of the catalogue: name it as vendor/cert.")
        return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())

    def __iter__(self) -> Iterator[Product]:
        """Iterate over the products in the order of the settings."""
        return iter(self._products.values())

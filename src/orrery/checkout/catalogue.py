"""The products on sale (decision 4): pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orrery.checkout.sites import DEFAULT, Site
from orrery.errors import Invalid, NotConfigured, NotFound
from orrery.ports.processor import Parameter, Parameters
from orrery.syntax.lines import one_line
from orrery.syntax.web_address import find_web_address

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


class ProductKey(NamedTuple):
    """The product's name in a visitor's request, and in the session's metadata."""

    product_type: str
    cert_code: str
    vendor_slug: str

    @property
    def name(self) -> str:
        """Return what the owner calls it: `vendor/cert`. A certification code alone may be of two vendors."""
        return f"{self.vendor_slug}/{self.cert_code}"

    @property
    def fields(self) -> dict[str, str]:
        """Return it as a visitor's request and a session's metadata hold it."""
        return {
            "productType": self.product_type,
            "certCode": self.cert_code,
            "vendorSlug": self.vendor_slug,
        }

    @property
    def id(self) -> str:
        """Return its id among what is stored by product."""
        return f"{self.vendor_slug}:{self.cert_code}"

    def within(self, template: str) -> str:
        """Return an address of the settings with {vendorSlug} and {certCode} filled in."""
        return template.replace("{vendorSlug}", self.vendor_slug).replace("{certCode}", self.cert_code)


@dataclass(frozen=True, slots=True)
class Product:
    """One certification's practice questions for one year, at one price; without a price it cannot be sold.

    `site` is where it is sold, None where the settings name none that there is.
    """

    vendor_slug: str
    cert_code: str
    title: str
    price_id: str | None = None
    trust_copy: str = TRUST_COPY
    site: Site | None = DEFAULT

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


def mistake_in(product: Product) -> str:
    """Return why a product cannot be sold, naming the field that is refused, or nothing."""
    for name, slug in (("vendor_slug", product.vendor_slug), ("cert_code", product.cert_code)):
        if not is_slug(slug):
            return f"{name} is not lower-case words joined by hyphens (at most {SLUG_MAXIMUM} characters)."
    if not product.title.strip():
        return "title is empty."
    if product.price_id is not None and not product.price_id.strip():
        return "price_id is empty: leave it out until there is a price."
    if product.site is None:
        return "site must be the name or the origin of one of [[sites]]."
    return _message_mistake(product)


def _message_mistake(product: Product) -> str:
    """Return why the trust copy may not be shown (spec 1, Custom text slots; Errors), or nothing."""
    message = product.submit_message
    if not message.strip():
        return "trust_copy is empty: the buyer must see it above the Pay button."
    if len(message) > CUSTOM_TEXT_MAXIMUM:
        limit = f"at most {CUSTOM_TEXT_MAXIMUM} are allowed, with the title in it."
        return f"trust_copy has {len(message)} characters; {limit}"
    if found := find_web_address(message):
        by_title = "{CERT}" in product.trust_copy and find_web_address(product.title) is not None
        field = "title, which trust_copy shows," if by_title else "trust_copy"
        return (
            f"{field} holds {one_line(found, 60)!r}, which looks like a web address: the processor refuses those."
        )
    return ""


def is_slug(text: str) -> bool:
    """Return whether `text` is a slug as decision 2 defines it."""
    return len(text) <= SLUG_MAXIMUM and SLUG.fullmatch(text) is not None


def product_of(vendor: str, cert: str) -> ProductKey:
    """Return the product of a vendor's slug and a certification's code; raise `Invalid`."""
    if not is_slug(vendor) or not is_slug(cert):
        raise Invalid("The vendor slug and the certification code are lower-case words joined by hyphens.")
    return ProductKey("cert", cert, vendor)


class Catalogue:
    """All products, by their keys. What is written about a product with a mistake cannot be sold.

    `mistakes` has the reason, which names the field, by the product's name. Of two products with one key the first
    counts. `default` is the site of what is not listed.
    """

    def __init__(self, products: tuple[Product, ...] = (), default: Site = DEFAULT) -> None:
        self.default = default
        self._listed: dict[ProductKey, Product] = {}
        for product in products:
            _ = self._listed.setdefault(product.key, product)
        self.mistakes = {product.name: why for product in products if (why := mistake_in(product))}
        for key, count in Counter(product.key for product in products).items():
            if count > 1:
                self.mistakes[key.name] = "vendor_slug and cert_code are those of another product, too."

    def __bool__(self) -> bool:
        """Return whether any product is listed, sold or not."""
        return bool(self._listed)

    def find(self, key: ProductKey) -> Product | None:
        """Return the product, sold or not, or None when it is not listed."""
        return self._listed.get(key)

    def title_of(self, key: ProductKey) -> str | None:
        """Return the product's title, or None when it is not listed or has none."""
        known = self.find(key)
        return known.title if known and known.title.strip() else None

    def site_of(self, key: ProductKey) -> Site:
        """Return the site of a product, the default one where it is not listed or names none that there is."""
        known = self.find(key)
        return known.site if known and known.site else self.default

    @property
    def listed(self) -> list[Product]:
        """Every product, in the order of the settings."""
        return list(self._listed.values())

    def vendors_of(self, cert_code: str) -> list[str]:
        """Return the vendors that list a certification: one, unless the code is shared."""
        return [key.vendor_slug for key in self._listed if key.cert_code == cert_code]

    def shared_codes(self) -> list[str]:
        """Return the certification codes that more than one vendor lists (decision 47)."""
        counted = Counter(key.cert_code for key in self._listed)
        return [code for code, count in counted.items() if count > 1]

    def named(self, names: Sequence[str]) -> list[Product]:
        """Return the products that the owner names as `vendor/cert`, or all; raise `NotFound`."""
        known = {product.name: product for product in self.listed}
        for name in names:
            if name not in known:
                raise NotFound(f"{name!r} is no product of the catalogue: name it as vendor/cert.")
        return [known[name] for name in dict.fromkeys(names)] if names else list(known.values())

    def __iter__(self) -> Iterator[Product]:
        """Iterate over the products without a mistake, in the order of the settings."""
        return (product for product in self.listed if product.name not in self.mistakes)


QUANTITY = 1
"""The line item quantity (spec 1, Limits)."""

METHODS = ("card", "link")
"""The payment methods that change rule 2 demands (spec 1, Change rules)."""

THREE_D_SECURE = ("automatic", "any_3ds_required")
"""The permitted values (spec 1, change rule 3; decision 6)."""

CHANGE_RULE_3 = (
    "Automatic 3-D Secure must stay on. To reduce friction the only permitted direction is the value "
    "any_3ds_required; turning it off is not permitted. The value any is not used because it hurts conversion."
)


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """The parameters that all sessions of this deployment share; a site's own addresses go before these.

    `success_url` and `cancel_url` may hold {vendorSlug} and {certCode}; `success_url` must hold
    {CHECKOUT_SESSION_ID}, which the processor fills in.
    """

    success_url: str
    cancel_url: str
    payment_method_types: tuple[str, ...] = METHODS
    three_d_secure: str = "automatic"
    marketing_consent: bool = True
    terms_of_service: str | None = None
    promotions: str | None = None


def session_parameters(product: Product, terms: SessionTerms) -> Parameters:
    """Return exactly the parameters that are sent to the processor for `product` (spec 1, Session parameters).

    Raises `NotConfigured` for a product without a price.
    """
    if product.price_id is None:
        raise NotConfigured(f"{product.name} names no price: it cannot be sold.")
    site = product.site or DEFAULT
    parameters: Parameters = {
        "mode": "payment",
        "line_items": [{"price": product.price_id, "quantity": QUANTITY}],
        "payment_method_types": list(terms.payment_method_types),
        "payment_method_options": {"card": {"request_three_d_secure": terms.three_d_secure}},
        "custom_text": {"submit": {"message": product.submit_message}},
        "success_url": product.key.within(site.success_url or terms.success_url),
        "cancel_url": product.key.within(site.cancel_url or terms.cancel_url),
        "metadata": {**product.key.fields},
    }
    if terms.marketing_consent:
        parameters["custom_fields"] = [_marketing_consent()]
    if consents := _consents(terms):
        parameters["consent_collection"] = consents
    return parameters


def _marketing_consent() -> Parameter:
    return {
        "key": "marketing_consent",
        "label": {"type": "custom", "custom": "May we write to you about new practice questions?"},
        "type": "dropdown",
        "dropdown": {"options": [{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no"}]},
        "optional": True,
    }


def _consents(terms: SessionTerms) -> dict[str, Parameter]:
    asked = {"terms_of_service": terms.terms_of_service, "promotions": terms.promotions}
    return {name: value for name, value in asked.items() if value is not None}

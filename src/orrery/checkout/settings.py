"""The sections `[checkout]` and `[[sites]]` of `orrery.toml`, and what a checkout has beside them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, RootModel, model_validator

from orrery.checkout.catalogue import CHANGE_RULE_3, THREE_D_SECURE, TRUST_COPY, Catalogue, Product, SessionTerms
from orrery.checkout.sites import CANCELLED, DEFAULT, SUCCESS, Language, SellerDetails, Site, origin_of
from orrery.runtime.section import Address, Section, zone_name
from orrery.syntax.email_address import is_email_address

_TICKET = "{CHECKOUT_SESSION_ID}"


def _is_origin(address: str) -> str:
    if address != origin_of(address):
        raise ValueError("it must be an origin such as https://shop.example, without a path or a slash at its end")
    return address


_COLOUR = re.compile(r"#[0-9a-f]{6}")

_LEAST_CONTRAST = 4.5
"""Of text on its ground (WCAG 2.2, 1.4.3)."""


def _is_colour(colour: str) -> str:
    if not _COLOUR.fullmatch(colour):
        raise ValueError("it must be a colour such as #3f3ca6, in small letters")
    if contrast_with_white(colour) < _LEAST_CONTRAST:
        raise ValueError("it is too light: white text on it could not be read. Take a darker one")
    return colour


def contrast_with_white(colour: str) -> float:
    """Return the contrast of white text on a colour such as `#3f3ca6` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def _is_email(address: str) -> str:
    if address and not is_email_address(address):
        raise ValueError("it must be an e-mail address")
    return address


def _has_ticket(address: str) -> str:
    if _TICKET not in address:
        raise ValueError(f"it must contain {_TICKET}")
    return address


class SellerSettings(Section):
    """Who sells, as the e-mails to buyers name it: in `[checkout]`, or in a site of `[[sites]]`."""

    seller: str = ""
    postal_address: tuple[str, ...] = ()
    tax_number: str = ""
    tax_line: str = ""
    statement_name: str = ""
    reply_to: Annotated[str, AfterValidator(_is_email)] = ""
    sender: str = ""
    time_zone: Annotated[str, AfterValidator(zone_name)] = "UTC"
    number_series: str = Field(default="", pattern=r"^[A-Z0-9]{0,3}$")

    @model_validator(mode="after")
    def _names_who_sells(self) -> Self:
        keys = SellerSettings.model_fields
        given = [name for name, key in keys.items() if getattr(self, name) != key.default]
        if given and not self.seller:
            raise ValueError(f"{', '.join(given)}: needs seller, the name")
        return self

    def details(self) -> SellerDetails:
        """Return who sells."""
        return SellerDetails(**self.model_dump(include=set(SellerSettings.model_fields)))


class SiteSettings(SellerSettings):
    """One site that sells (decision 53)."""

    origin: Annotated[Address, AfterValidator(_is_origin)]
    name: str = Field(min_length=1)
    success_url: Annotated[str, AfterValidator(_has_ticket)] | None = None
    cancel_url: str | None = Field(default=None, min_length=1)
    practice_url: str = ""
    language: Language = "en"
    colour: Annotated[str, AfterValidator(_is_colour)] = "#3f3ca6"

    def site(self) -> Site:
        """Return the site, whose addresses are the hosted pages on its origin where it names no other."""
        own = self.model_dump()
        own["success_url"] = self.success_url or f"{self.origin}{SUCCESS}?session_id={_TICKET}"
        own["cancel_url"] = self.cancel_url or f"{self.origin}{CANCELLED}?product={{vendorSlug}}/{{certCode}}"
        return Site(**own, has_pages=True)


class SitesSettings(RootModel[tuple[SiteSettings, ...]]):
    """The sites that sell, beside the one whose addresses `[checkout]` has."""

    root: tuple[SiteSettings, ...] = ()

    @model_validator(mode="after")
    def _are_distinct(self) -> Self:
        named = Counter(name for one in self.root for name in {one.name, one.origin})
        if any(count > 1 for count in named.values()):
            raise ValueError("two sites have one name or one origin")
        return self

    def sites(self) -> tuple[Site, ...]:
        """Return the sites, in the order of the settings."""
        return tuple(one.site() for one in self.root)


class ProductSettings(Section):
    """One product of the catalogue (decision 4)."""

    vendor_slug: str
    cert_code: str
    title: str
    price_id: str | None = None
    trust_copy: str = TRUST_COPY
    site: str = ""

    def product(self, default: Site | None, sites: Sequence[Site]) -> Product:
        """Return the product, which may hold a mistake: the catalogue names it."""
        named = next((one for one in sites if self.site in (one.name, one.origin)), None)
        return Product(**self.model_dump(exclude={"site"}), site=named if self.site else default)


class CheckoutSettings(SellerSettings):
    """The paid checkout (spec 1)."""

    processor_url: Address = "https://api.stripe.com"
    api_version: str = "2026-08-26.dahlia"
    success_url: str | None = None
    cancel_url: str | None = None
    practice_url: str = ""
    payment_method_types: tuple[str, ...] = ("card", "link")
    three_d_secure: str = "automatic"
    marketing_consent: bool = True
    terms_of_service: Literal["none", "required"] | None = None
    promotions: Literal["auto", "none"] | None = None
    sessions_per_minute: int = Field(10, ge=1)
    sessions_per_hour: int = Field(60, ge=1)
    access_reads_per_minute: int = Field(300, ge=1)
    ipv6_site_factor: int = Field(4, ge=1, le=256)
    revoke_on_refund: bool = False
    products: tuple[ProductSettings, ...] = ()

    @model_validator(mode="after")
    def _can_be_sold(self) -> Self:
        if self.three_d_secure not in THREE_D_SECURE:
            raise ValueError(f"three_d_secure is neither {' nor '.join(THREE_D_SECURE)}. {CHANGE_RULE_3}")
        if self.success_url and "{CHECKOUT_SESSION_ID}" not in self.success_url:
            raise ValueError("success_url must contain {CHECKOUT_SESSION_ID}.")
        if not self.payment_method_types:
            raise ValueError("payment_method_types is empty: the processor would fall back to card only.")
        return self

    def seller_at(self, site: Site | None) -> SellerDetails:
        """Return who sells at a site: whom it names, else whom this section names."""
        return site if site and site.seller else self.details()

    def default_site(self, sites: Sequence[Site] = ()) -> Site | None:
        """Return the site of a product that names none: that of these addresses, or the only one there is."""
        if self.success_url or not sites:
            at = origin_of(self.success_url or "")
            hosted = (self.success_url or "").startswith(f"{at}{SUCCESS}?")
            name, practice = self.seller, self.practice_url
            return replace(DEFAULT, origin=at, name=name, practice_url=practice, has_pages=hosted)
        return sites[0] if len(sites) == 1 else None

    def catalogue(self, sites: Sequence[Site] = ()) -> Catalogue:
        """Return the products on sale; a site that names no practice address has that of this section."""
        sites = [replace(one, practice_url=one.practice_url or self.practice_url) for one in sites]
        default = self.default_site(sites)
        products = tuple(one.product(default, sites) for one in self.products)
        return Catalogue(products, default or replace(DEFAULT, practice_url=self.practice_url))

    def needs_access_check(self, sites: Sequence[Site] = ()) -> bool:
        """Return whether a product's practice pages are on a server that asks by itself who has access."""
        return any(one.site and not one.site.asks_gate for one in self.catalogue(sites).listed)

    def terms(self, sites: Sequence[Site] = ()) -> SessionTerms | None:
        """Return the parameters that all sessions share, or None while no site has the two addresses."""
        if not (self.success_url and self.cancel_url) and (self.success_url or not sites):
            return None
        return SessionTerms(
            success_url=self.success_url or "",
            cancel_url=self.cancel_url or "",
            payment_method_types=self.payment_method_types,
            three_d_secure=self.three_d_secure,
            marketing_consent=self.marketing_consent,
            terms_of_service=self.terms_of_service,
            promotions=self.promotions,
        )


@dataclass(frozen=True, slots=True)
class CheckoutPlan:
    """The section, the mode, and what of the secrets is there: a missing one is empty here (decision 41)."""

    settings: CheckoutSettings
    livemode: bool
    has_api_key: bool
    signing_secrets: Sequence[bytes] = field(repr=False)
    service_tokens: Sequence[bytes] = field(repr=False)
    trusted_proxies: Sequence[str]
    sites: Sequence[Site] = ()
    service: str = ""

    @property
    def zone(self) -> ZoneInfo:
        """The zone whose days the owner's figures are of."""
        return ZoneInfo(self.settings.time_zone)

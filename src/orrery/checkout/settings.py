"""The section `[checkout]` of `orrery.toml`, and what the checkout of a deployment has beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

from pydantic import Field, model_validator

from orrery.checkout.catalogue import CHANGE_RULE_3, THREE_D_SECURE, TRUST_COPY, Catalogue, Product, SessionTerms
from orrery.runtime.section import Address, Section


class ProductSettings(Section):
    """One product of the catalogue (decision 4)."""

    vendor_slug: str
    cert_code: str
    title: str
    price_id: str | None = None
    trust_copy: str = TRUST_COPY

    def product(self) -> Product:
        """Return the product, which may hold a mistake: the catalogue names it."""
        return Product(**self.model_dump())


class CheckoutSettings(Section):
    """The paid checkout (spec 1)."""

    processor_url: Address = "https://api.stripe.com"
    api_version: str = "2026-08-26.dahlia"
    success_url: str | None = None
    cancel_url: str | None = None
    practice_url: str = ""
    seller: str = "The practice team"
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

    def catalogue(self) -> Catalogue:
        """Return the products on sale."""
        return Catalogue(tuple(one.product() for one in self.products))

    def terms(self) -> SessionTerms | None:
        """Return the parameters that all sessions share, or None while the two addresses are missing."""
        if not (self.success_url and self.cancel_url):
            return None
        return SessionTerms(
            success_url=self.success_url,
            cancel_url=self.cancel_url,
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

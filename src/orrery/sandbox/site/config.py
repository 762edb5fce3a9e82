"""What the site is told: where Orrery is, its service token, and what is sold."""

from dataclasses import dataclass, field

from orrery.errors import Invalid

ACCESS_DEADLINE = 5.0
"""Seconds that the site waits for an answer about an access."""


@dataclass(frozen=True, slots=True)
class SiteProduct:
    """One certification in the shop: `price_text` and `trust_copy` are shown as they are."""

    vendor_slug: str
    cert_code: str
    title: str
    price_text: str
    trust_copy: str

    @property
    def shop_path(self) -> str:
        """Return the path of the product's shop page."""
        return f"/shop/{self.vendor_slug}/{self.cert_code}"

    @property
    def practice_path(self) -> str:
        """Return the path of the product's practice page."""
        return f"/practice/{self.vendor_slug}/{self.cert_code}"


@dataclass(frozen=True, slots=True)
class SiteConfig:
    """Where Orrery's operations are, the token for `access/check`, and what is sold (the front page's first).

    `payment_origin` is where the hosted payment page is, as `https://host`: a form may lead there and nowhere
    else. Without it the browser is not told where forms may lead.
    """

    base_url: str
    service_token: str = field(repr=False)
    products: tuple[SiteProduct, ...]
    payment_origin: str | None = None
    access_deadline: float = ACCESS_DEADLINE

    def __post_init__(self) -> None:
        if not self.products:
            raise Invalid("The shop needs at least one product.")

"""The site's configuration: Orrery's address, the service token, and the certifications on sale."""

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
    """Orrery's address, the token for `access/check`, and the certifications on sale (the front page's first).

    `payment_origin` is the origin of the hosted payment page, as `https://host`: the policy lets forms lead there
    and nowhere else. Without it the policy does not restrict forms.
    """

    base_url: str
    service_token: str = field(repr=False)
    products: tuple[SiteProduct, ...]
    payment_origin: str | None = None
    access_deadline: float = ACCESS_DEADLINE

    def __post_init__(self) -> None:
        if not self.products:
            raise Invalid("The shop needs at least one product.")

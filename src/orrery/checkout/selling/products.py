"""The products on sale, and their parameters (change rule 1).

In live mode a product is sold with the parameters of its last receipt: a changed setting does not reach a visitor
before the processor has accepted it, and one that Orrery itself refuses never does. In test and sandbox mode
today's parameters are sold.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from orrery.checkout.catalogue import Catalogue, Product, ProductKey, SessionTerms, is_slug, session_parameters
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import NotPreflighted, UnknownProduct
from orrery.checkout.records import Receipt
from orrery.checkout.selling.receipts import (
    ParameterChange,
    changes,
    digest_of,
    is_unaltered,
    parameters_of,
    price_of,
)
from orrery.errors import NotConfigured
from orrery.ports.processor import Parameters

ProductState = Literal["accepted", "pending", "never", "no price", "mistake"]
"""The settings' parameters are accepted, wait for a preflight, never had one, lack a price, or hold a mistake."""

_WORDS: dict[ProductState, str] = {
    "accepted": "accepted",
    "pending": "newer parameters wait for a preflight",
    "never": "never accepted",
    "no price": "names no price: it cannot be sold",
    "mistake": "a mistake in the settings: not sold",
}
_KEPT = "a mistake in the settings: what was accepted last is sold"

_NOT_ITS_OWN = "the account's first active price"
"""Replaces the price in the digest of a product without one, whose price is not known yet."""


@dataclass(frozen=True, slots=True)
class CurrentOffer:
    """The parameters that a visitor gets now; `digest` is over the parameters and their API version.

    `accepted` is the receipt of their acceptance; None where the settings' parameters are sold without one.
    """

    product: Product
    parameters: Parameters
    api_version: str
    price_id: str
    digest: str
    accepted: Receipt | None = None


@dataclass(frozen=True, slots=True)
class ProductStatus:
    """One product with its last receipt, and how the settings' parameters differ from it.

    `sold`: visitors can buy it, as `current_offer` decides. `digest` is of the settings' parameters; `mistake` is
    why these cannot be used, with the state of that name.
    """

    product: Product
    state: ProductState
    receipt: Receipt | None
    sold: bool
    changes: tuple[ParameterChange, ...] = ()
    mistake: str = ""
    digest: str = ""

    @property
    def words(self) -> str:
        return _KEPT if self.sold and self.mistake else _WORDS[self.state]


class Selling:
    """Chooses a product's parameters, from its receipt or from the settings."""

    def __init__(
        self,
        stored: CheckoutRecords,
        catalogue: Catalogue,
        terms: SessionTerms | None,
        *,
        api_version: str,
        livemode: bool,
        deployment: str,
    ) -> None:
        """`deployment` identifies this mode and this processor, as in an intent."""
        self._stored = stored
        self._deployment = deployment
        self.catalogue = catalogue
        self.terms = terms
        self.api_version = api_version
        self.livemode = livemode

    async def current_offer(self, key: ProductKey) -> CurrentOffer:
        """Return the parameters for a new visitor.

        Raises `UnknownProduct`, whatever receipts there are, `NotConfigured` (no price, whatever receipts there
        are; or without one no addresses, or a mistake in the product) and `NotPreflighted`.
        """
        product = self.catalogue.find(key)
        if product is None:
            raise UnknownProduct("There is no such product.")
        if not self.livemode:
            return _current_offer(product, self.configured_parameters(product), self.api_version)
        receipt = await self.receipt(product) if product.price_id is not None else None
        if receipt is None:
            _ = self.configured_parameters(product)  # it raises what is wrong with the settings
            raise NotPreflighted("The processor has not accepted this product's parameters yet.")
        return _current_offer(product, parameters_of(receipt), receipt.api_version, receipt)

    def configured_parameters(self, product: Product) -> Parameters:
        """Return the parameters of the settings; raise `NotConfigured` without a price or with a mistake."""
        why = self._mistake(product)
        if why or self.terms is None:
            raise NotConfigured(f"The settings of {product.name} cannot be used: {why}")
        return session_parameters(product, self.terms)

    def _mistake(self, product: Product) -> str:
        missing = "" if self.terms else "success_url or cancel_url is missing."
        return self.catalogue.mistakes.get(product.name, missing)

    async def receipt(self, product: Product) -> Receipt | None:
        """Return the product's last receipt, if it can be read, and is unaltered and of this product here."""
        if not (is_slug(product.vendor_slug) and is_slug(product.cert_code)):
            return None  # no visitor can ask for it, and its key may be one that the store refuses
        found = await self._stored.receipts.find(product.key.id)
        if found is None or not is_unaltered(found.record):
            return None
        receipt = found.record
        here = (product.vendor_slug, product.cert_code, self._deployment)
        return receipt if (receipt.vendor_slug, receipt.cert_code, receipt.deployment) == here else None

    async def status(self, product: Product) -> ProductStatus:
        """Return the state of a product from the store alone."""
        receipt = await self.receipt(product)
        sold = product.price_id is not None and (receipt is not None or not self.livemode)
        if why := self._mistake(product):
            return ProductStatus(product, "mistake", receipt, sold and self.livemode, mistake=why)
        priced = product if product.price_id else replace(product, price_id=_NOT_ITS_OWN)
        today = self.configured_parameters(priced)
        digest = digest_of(today, self.api_version)
        if product.price_id is None:
            return ProductStatus(product, "no price", receipt, sold, digest=digest)
        if receipt and receipt.digest == digest:
            return ProductStatus(product, "accepted", receipt, sold, digest=digest)
        differing = tuple(changes(receipt, today, self.api_version))
        return ProductStatus(product, "pending" if receipt else "never", receipt, sold, differing, digest=digest)

    async def statuses(self, products: Sequence[Product] | None = None) -> list[ProductStatus]:
        """Return the states of these products, or of all."""
        return [await self.status(one) for one in (self.catalogue.listed if products is None else products)]


def _current_offer(
    product: Product, parameters: Parameters, api_version: str, receipt: Receipt | None = None
) -> CurrentOffer:
    digest = digest_of(parameters, api_version)
    return CurrentOffer(product, parameters, api_version, price_of(parameters), digest, receipt)

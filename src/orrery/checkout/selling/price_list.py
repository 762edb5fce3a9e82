"""What a site's pages show of its products. However many visitors ask, it is looked up once a minute."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orrery.checkout.selling.products import ProductStatus, Selling
from orrery.errors import NotConfigured
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.processor import Price, ProcessorError, ProcessorReads
from orrery.syntax.money import decimals

KEPT = 60
"""Seconds for which a list is shown; a shared cache may keep it as long."""


@dataclass(frozen=True, slots=True)
class ListedProduct:
    """One product: whether it is sold, and for how much in the currency's smallest unit, where that is known."""

    vendor: str
    cert: str
    title: str
    site: str
    sold: bool
    price: int | None
    currency: str | None
    decimals: int | None
    """How many digits of the price are behind its point."""


class PriceList:
    """Lists the products with what visitors pay: in live mode as the receipts have it, else today's prices."""

    def __init__(self, clock: Clock, selling: Selling, reads: ProcessorReads) -> None:
        self._clock = clock
        self._selling = selling
        self._reads = reads
        self._looking = asyncio.Lock()
        self._listed: Sequence[ListedProduct] = ()
        self._until = float("-inf")

    async def read(self) -> Sequence[ListedProduct]:
        """Return the list; raise the store's errors."""
        async with self._looking:
            if self._clock.monotonic() >= self._until:
                todays = None if self._selling.livemode else await self._todays()
                self._listed = [_listed(status, todays) for status in await self._selling.statuses()]
                self._until = self._clock.monotonic() + KEPT
        return self._listed

    async def _todays(self) -> Mapping[str, Price]:
        """Return the processor's prices by their ids, or none of them while it cannot be asked."""
        try:
            found = [one async for one in self._reads.list_prices(active=True)]
        except (ProcessorError, NotConfigured) as error:
            log.warning("prices not read", kind=type(error).__name__, why=str(error))
            return {}
        return {one.id: one for one in found if isinstance(one, Price)}


def _listed(status: ProductStatus, todays: Mapping[str, Price] | None) -> ListedProduct:
    product, price, currency = status.product, None, None
    if status.sold and todays is None and status.receipt:
        price, currency = status.receipt.amount_total, status.receipt.currency
    elif status.sold and todays and (found := todays.get(product.price_id or "")):
        price, currency = found.amount, found.currency
    site = product.site.name if product.site else ""
    return ListedProduct(
        vendor=product.vendor_slug,
        cert=product.cert_code,
        title=product.title,
        site=site,
        sold=status.sold,
        price=price,
        currency=currency,
        decimals=decimals(currency) if currency else None,
    )

"""Whether products are sold, and as the settings say: for `readyz`, `doctor` and the owner's page."""

from collections.abc import Sequence
from contextlib import suppress

from orrery.checkout.catalogue import Product
from orrery.checkout.selling.products import ProductState, ProductStatus, Selling
from orrery.checkout.selling.trials import Trials
from orrery.errors import StoreError
from orrery.ports.health import Finding
from orrery.syntax.lines import one_line

MOST_NAMES = 5
"""How many products a finding names; `orrery checkout preflight --pending` names them all."""

_TODO = "Type `orrery checkout preflight`."

_CORRECT = "Correct it in the settings, type `orrery config check`, and restart."

_ADDRESSES = "checkout addresses"


class ReceiptHealth:
    """Checks the receipts, what the settings say beside them, and the unfinished preflights."""

    def __init__(self, selling: Selling, trials: Trials) -> None:
        self._selling = selling
        self._trials = trials

    async def unusable(self) -> list[Finding]:
        """Return the findings about settings that cannot be used, whatever the processor says.

        A store that fails is another part's finding; here it leaves open what is sold instead.
        """
        if not self._selling.catalogue:
            return []
        statuses: list[ProductStatus] | None = None
        with suppress(StoreError):
            statuses = await self._selling.statuses()
        catalogue = self._selling.catalogue
        mistaken = [product for product in catalogue.listed if product.name in catalogue.mistakes]
        return [*(self._mistake(product, statuses) for product in mistaken), self._addresses(statuses)]

    async def local(self) -> list[Finding]:
        """Return the findings from the store alone; none when the store fails, which the store's part reports."""
        try:
            statuses = await self._selling.statuses()
            interrupted = await self._trials.interrupted()
        except StoreError:
            return []
        found = [*_without_price(statuses), *(self._receipts(statuses) if self._selling.livemode else [])]
        if interrupted:
            why = f"A preflight was interrupted: {len(interrupted)} of its sessions may be open."
            todo = f"{_TODO} It takes up what was left."
            found.append(Finding("preflight", "broken", why, todo, essential=False))
        return found

    def _mistake(self, product: Product, statuses: Sequence[ProductStatus] | None) -> Finding:
        why = self._selling.catalogue.mistakes[product.name]
        if statuses is None:
            said, essential = f"{why} What is sold instead is not known: the store cannot be read.", False
        elif any(self._selling.sells(one) for one in statuses if one.product == product):
            said, essential = f"The settings cannot be used, and what was accepted last is sold: {why}", False
        else:
            said, essential = f"It is not sold: {why}", not any(map(self._selling.sells, statuses))
        part = f"product {one_line(product.name, 130)}"
        return Finding(part, "broken", said, _CORRECT, essential=essential, settled=True, of_settings=True)

    def _addresses(self, statuses: Sequence[ProductStatus] | None) -> Finding:
        if self._selling.terms:
            return Finding(_ADDRESSES, "ok")
        sold = [one for one in statuses or () if self._selling.sells(one)]
        instead = f"What was accepted last is sold: {_names(sold)}." if sold else "Nothing is sold."
        why = f"success_url or cancel_url is missing. {'' if statuses is None else instead}".rstrip()
        essential = statuses is not None and not sold
        return Finding(_ADDRESSES, "broken", why, _CORRECT, essential=essential, settled=True, of_settings=True)

    def _receipts(self, statuses: Sequence[ProductStatus]) -> list[Finding]:
        never, pending = _in(statuses, "never"), _in(statuses, "pending")
        found: list[Finding] = []
        if never:
            why = f"The processor has never accepted what would be sold, so it is not sold: {_names(never)}."
            found.append(_waiting("checkout receipts", why, essential=not any(map(self._selling.sells, statuses))))
        if pending:
            why = f"The last accepted parameters are sold; newer ones wait for a preflight: {_names(pending)}."
            found.append(_waiting("checkout parameters", why, essential=False))
        accepted = _in(statuses, "accepted")
        return found or ([Finding("checkout receipts", "ok", f"{len(accepted)} accepted")] if accepted else [])


def _waiting(part: str, why: str, *, essential: bool) -> Finding:
    return Finding(part, "broken", why, _TODO, essential=essential, settled=True, of_settings=True)


def _without_price(statuses: Sequence[ProductStatus]) -> list[Finding]:
    without = [one for one in statuses if one.product.price_id is None]
    if not without:
        return []
    why = f"Without a price it cannot be sold: {_names(without)}."
    return [
        Finding("checkout prices", "broken", why, "Set its price_id.", essential=False, of_settings=True),
    ]


def _in(statuses: Sequence[ProductStatus], state: ProductState) -> list[ProductStatus]:
    return [one for one in statuses if one.state == state]


def _names(statuses: Sequence[ProductStatus]) -> str:
    names = [one.product.name for one in statuses]
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

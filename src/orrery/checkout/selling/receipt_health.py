"""Whether products are sold with the parameters of the settings: for `readyz`, `doctor` and the owner's page."""

from collections.abc import Sequence

from orrery.checkout.selling.products import ProductState, ProductStatus, Selling
from orrery.checkout.selling.trials import Trials
from orrery.errors import StoreError
from orrery.ports.health import Finding

MOST_NAMES = 5
"""How many products a finding names; `orrery checkout preflight --pending` names them all."""

_TODO = "Type `orrery checkout preflight`."


class ReceiptHealth:
    """Checks the receipts and the unfinished preflights."""

    def __init__(self, selling: Selling, trials: Trials) -> None:
        self._selling = selling
        self._trials = trials

    async def local(self) -> list[Finding]:
        """Return the findings from the store alone; none when the store fails, which the store's part reports."""
        if self._selling.terms is None:
            return []
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

    def _receipts(self, statuses: Sequence[ProductStatus]) -> list[Finding]:
        never, pending = _in(statuses, "never"), _in(statuses, "pending")
        found: list[Finding] = []
        if never:
            why = f"The processor has never accepted what would be sold, so it is not sold: {_names(never)}."
            nothing_sold = not pending and not _in(statuses, "accepted")
            found.append(Finding("checkout receipts", "broken", why, _TODO, essential=nothing_sold))
        if pending:
            why = f"The last accepted parameters are sold; newer ones wait for a preflight: {_names(pending)}."
            found.append(Finding("checkout parameters", "broken", why, _TODO, essential=False))
        return found or [Finding("checkout receipts", "ok", f"{len(_in(statuses, 'accepted'))} accepted")]


def _without_price(statuses: Sequence[ProductStatus]) -> list[Finding]:
    without = _in(statuses, "no price")
    if not without:
        return []
    why = f"Without a price it cannot be sold: {_names(without)}."
    return [Finding("checkout prices", "broken", why, "Set its price_id.", essential=False)]


def _in(statuses: Sequence[ProductStatus], state: ProductState) -> list[ProductStatus]:
    return [one for one in statuses if one.state == state]


def _names(statuses: Sequence[ProductStatus]) -> str:
    names = [one.product.name for one in statuses]
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

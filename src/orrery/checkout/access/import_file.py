"""The lines of a file of access: of the owner's own columns, or the sales in an export that give any."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from orrery.checkout.access.desk import checked_email
from orrery.checkout.access.exports import Export, ForeignSale, NoAccess, Row, Table, sales_of
from orrery.checkout.access.imports import ImportedAccess, Imports
from orrery.checkout.access.rules import one_year_after
from orrery.checkout.catalogue import ProductKey, product_of
from orrery.errors import Invalid

OWN = frozenset({"email", "vendor_slug", "cert_code", "expires_at"})

Products = Mapping[str, ProductKey | None]
"""The product of each name in an export, and None for a name whose sales are left out."""


def own_lines(table: Table) -> list[ImportedAccess]:
    """Return the lines of a file with our own columns; raise `Invalid` for one that is wrong.

    Of several for one buyer and product the one that ends last counts.
    """
    found = dict[tuple[str, ProductKey], ImportedAccess]()
    for number, row in table.rows:
        line = _own(row, number)
        other = found.get((line.email, line.product), line)
        found[line.email, line.product] = max(line, other, key=lambda one: one.expires_at)
    return [*found.values()]


def _own(row: Row, number: int) -> ImportedAccess:
    try:
        email, product = checked_email(row["email"]), product_of(row["vendor_slug"], row["cert_code"])
        end = datetime.fromisoformat(row["expires_at"])
        end = end.astimezone(UTC) if end.tzinfo else end.replace(tzinfo=UTC)
    except (KeyError, ValueError, OverflowError, Invalid):
        what = "email, vendor_slug, cert_code and expires_at (like 2027-03-31)"
        raise Invalid(f"Line {number} needs a usable {what}; nothing was imported.") from None
    return ImportedAccess(email, product, end, end_is_chosen=True, line=number)


async def sold_elsewhere(
    export: Export, table: Table, named: Products, until: datetime | None, imports: Imports
) -> tuple[list[ImportedAccess], list[NoAccess]]:
    """Return the sales of an export that give access, and the others with why not; raise `Invalid`."""
    sales, left = sales_of(export, table)
    _refuse_unnamed(sales, named)
    here = await _sold_here(sales, imports) if export.name == "stripe" else frozenset[str]()
    now, lines = imports.clock.now(), list[ImportedAccess]()
    for sale in sales:
        product, end = named[sale.product], until or one_year_after(sale.paid_at)
        if product is None:
            left.append(NoAccess(sale.ids, "left out"))
        elif not here.isdisjoint(sale.ids):
            left.append(NoAccess(sale.ids, "sold here"))
        elif end <= now:
            left.append(NoAccess(sale.ids, "ended"))
        else:
            lines.append(
                ImportedAccess(_email_of(sale), product, end, sale.ids, until is not None, sale.line, sale.paid)
            )
    return lines, left


async def _sold_here(sales: Sequence[ForeignSale], imports: Imports) -> frozenset[str]:
    """Return which ids in the processor's own export are of sales of this shop."""
    if not sales:
        return frozenset()
    names = {name.removeprefix("stripe:"): name for sale in sales for name in sale.ids}
    found = await imports.sold_here(names, min(sale.paid_at for sale in sales))
    return frozenset(names[one] for one in found)


def _email_of(sale: ForeignSale) -> str:
    try:
        return checked_email(sale.email)
    except Invalid as error:
        raise Invalid(f"Line {sale.line}: {error} Nothing was imported.") from None


def _refuse_unnamed(sales: Sequence[ForeignSale], named: Products) -> None:
    counted = Counter(one.product for one in sales if one.product not in named)
    if counted:
        options = "\n".join(f"  --product {shlex.quote(f'{name}=VENDOR/CERT')}" for name in sorted(counted))
        raise Invalid(
            "Which product of yours is each of these? Nothing was imported. Add these options with a vendor and a "
            f"code, or with nothing after the = to leave the sales out:\n{options}"
        )

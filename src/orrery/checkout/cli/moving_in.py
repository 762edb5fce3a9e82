"""`orrery access import`: access that was sold elsewhere, from a seller's export or a file of the owner's own."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orrery.checkout.catalogue import ProductKey, is_slug
from orrery.checkout.cli import checkout_of
from orrery.errors import Invalid, words_of
from orrery.ports.clock import Clock
from orrery.runtime.console.options import Reason
from orrery.runtime.console.progress import progress_bar
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import Row, note, of_all, show
from orrery.runtime.references import References

if TYPE_CHECKING:
    from orrery.checkout.access.desk import Desk, ImportedAccess
    from orrery.checkout.access.exports import Export, ForeignSale, NoAccess, Table

Retired = Annotated[bool, typer.Option("--retired", help="Also for products that are not in the catalogue.")]

Source = Annotated[
    Literal["gumroad", "lemon-squeezy", "stripe"] | None,
    typer.Option("--from", help="Whose export it is; without it, the columns decide."),
]

ProductNames = Annotated[
    list[str] | None,
    typer.Option(
        "--product",
        metavar="NAME=VENDOR/CERT",
        help="The product of a name in the export, for each; NAME= leaves its sales out.",
    ),
]

Until = Annotated[
    datetime | None,
    typer.Option(formats=["%Y-%m-%d"], help="When the access of all ends, instead of a year after each sale."),
]

_OWN = frozenset({"email", "vendor_slug", "cert_code", "expires_at"})
_COLUMNS = ("line", "email", "product", "paid", "expires")

Products = Mapping[str, ProductKey | None]
"""The product of each name in an export, and None for a name whose sales are left out."""


@dataclass(frozen=True, slots=True)
class BroughtLine:
    """A line that gives access; `paid` is the amount in the other seller's export, for the owner to see."""

    line: int
    access: "ImportedAccess"
    paid: str = ""

    def row(self) -> Row:
        return {
            "line": self.line,
            "email": self.access.email,
            "product": self.access.product.name,
            "paid": self.paid or None,
            "expires": self.access.expires_at,
        }


def import_records(  # noqa: PLR0913  each is an option of the command
    file: Annotated[
        Path,
        typer.Argument(
            help="A CSV file: an export of Gumroad, Lemon Squeezy or Stripe, or the columns email, vendor_slug, "
            "cert_code, expires_at."
        ),
    ],
    *,
    reason: Reason,
    source: Source = None,
    products: ProductNames = None,
    until: Until = None,
    send: Annotated[bool, typer.Option("--send", help="Send each buyer the e-mail with the link.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report; change nothing.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="With --dry-run: how many lines are shown.")] = 50,
    retired: Retired = False,
    runner: Handed,
) -> None:
    """Bring access along from elsewhere; a second import of the same sales changes nothing."""
    from orrery.checkout.access.exports import export_of  # noqa: PLC0415  no other command reads an export

    table, named = _table(file), _products(products or [])
    export = None if source is None and table.columns >= _OWN else export_of(table.columns, source)
    ends = until.replace(tzinfo=UTC) if until else None

    async def write(services: Services) -> str:
        lines, left = await _sold_elsewhere(export, table, named, ends, services) if export else (_own(table), [])
        desk, found = checkout_of(services).desk, [one.access for one in lines]
        refuse_unknown([one.product for one in found], services, retired=retired)
        _refuse_unusable(lines, desk)
        if dry_run:
            return await _dry(lines, left, limit, desk)
        with progress_bar("sales", len(found)) as seen:
            new = await desk.bring_in(found, reason, send=send, seen=seen)
        said = f"{new} imported, {len(found) - new} were there already.{_left_out(left)}"
        return said + await _to_take_back(left, services)

    note(runner.run(write))


def product_of(vendor: str, cert: str) -> ProductKey:
    """Return the product of a vendor's slug and a certification's code; raise `Invalid`."""
    if not is_slug(vendor) or not is_slug(cert):
        raise Invalid("The vendor slug and the certification code are lower-case words joined by hyphens.")
    return ProductKey("cert", cert, vendor)


def refuse_unknown(products: Iterable[ProductKey], services: Services, *, retired: bool) -> None:
    """Raise `Invalid` for a product that is not in the catalogue."""
    for product in dict.fromkeys(products):
        if not retired and checkout_of(services).catalogue.find(product) is None:
            raise Invalid(f"{product.name} is not in the catalogue; add --retired to grant access to it anyway.")


def _table(file: Path) -> "Table":
    from orrery.checkout.access.exports import read_table  # noqa: PLC0415  the same

    try:
        return read_table(file.read_bytes())
    except OSError as error:
        raise Invalid(f"{file.name} cannot be read: {words_of(error)}.") from None


def _products(options: Sequence[str]) -> Products:
    found = dict[str, ProductKey | None]()
    for option in options:
        written, _, target = option.rpartition("=")
        name, (vendor, slash, cert) = " ".join(written.split()), target.partition("/")
        if not name or (target and not slash):
            raise Invalid("--product is a name in the export, =, and a product: 'Their name=vendor/cert'.")
        product = product_of(vendor, cert) if target else None
        if found.setdefault(name, product) != product:
            raise Invalid(f"--product names two products for {name!r}.")
    return found


def _own(table: "Table") -> list[BroughtLine]:
    """Return the lines of a file with our own columns."""
    return [BroughtLine(number, _access(row, number)) for number, row in table.rows]


def _access(row: Mapping[str, str], number: int) -> "ImportedAccess":
    from orrery.checkout.access.desk import ImportedAccess, checked_email  # noqa: PLC0415  it loads what reads the store

    try:
        email, product = checked_email(row["email"]), product_of(row["vendor_slug"], row["cert_code"])
        expires_at = datetime.fromisoformat(row["expires_at"])
    except (KeyError, ValueError, Invalid):
        what = "email, vendor_slug, cert_code and expires_at (like 2027-03-31)"
        raise Invalid(f"Line {number} needs a usable {what}; nothing was imported.") from None
    if expires_at.tzinfo is None:
        expires_at = expires_at.replace(tzinfo=UTC)
    return ImportedAccess(email, product, expires_at)


async def _sold_elsewhere(
    export: "Export", table: "Table", named: Products, until: datetime | None, services: Services
) -> "tuple[list[BroughtLine], list[NoAccess]]":
    """Return the sales of an export that give access, and the others with why not."""
    from orrery.checkout.access.desk import ImportedAccess  # noqa: PLC0415  it loads what reads the store
    from orrery.checkout.access.exports import NoAccess, sales_of  # noqa: PLC0415  no other command reads an export
    from orrery.checkout.access.rules import one_year_after  # noqa: PLC0415  the same

    sales, left = sales_of(export, table)
    _refuse_unnamed(sales, named)
    now, lines = services[Clock].now(), list[BroughtLine]()
    here = await checkout_of(services).desk.sold_here() if export.name == "stripe" else set[str]()
    for sale in sales:
        product, end = named[sale.product], until or one_year_after(sale.paid_at)
        if product is None:
            left.append(NoAccess(sale.id, "left out"))
        elif not here.isdisjoint(sale.names):
            left.append(NoAccess(sale.id, "sold here"))
        elif end <= now:
            left.append(NoAccess(sale.id, "ended"))
        else:
            access = ImportedAccess(sale.email, product, end, sale.id)
            lines.append(BroughtLine(sale.line, access, sale.paid))
    return lines, left


def _refuse_unnamed(sales: "Sequence[ForeignSale]", named: Products) -> None:
    counted = Counter(one.product for one in sales if one.product not in named)
    if counted:
        options = "\n".join(f"  --product {shlex.quote(f'{name}=VENDOR/CERT')}" for name in sorted(counted))
        raise Invalid(
            "Which product of yours is each of these? Nothing was imported. Add these options with a vendor and a "
            f"code, or with nothing after the = to leave the sales out:\n{options}"
        )


def _refuse_unusable(lines: Sequence[BroughtLine], desk: "Desk") -> None:
    """Raise `Invalid` for a line that is wrong, before any is written."""
    for one in lines:
        try:
            _ = desk.record_for(one.access)
        except Invalid as error:
            raise Invalid(f"Line {one.line}: {error} Nothing was imported.") from None


async def _dry(lines: Sequence[BroughtLine], left: "Sequence[NoAccess]", limit: int, desk: "Desk") -> str:
    new = [one for one in lines if not await desk.was_imported(one.access)]
    more = of_all(min(limit, len(new)), len(new))
    show([one.row() for one in new[:limit]], _COLUMNS, as_json=False, empty="Nothing is new.", more=more)
    return f"{len(new)} would be imported, {len(lines) - len(new)} are there already.{_left_out(left)}"


def _left_out(left: "Sequence[NoAccess]") -> str:
    counted = Counter(one.why for one in left)
    reasons = ", ".join(f"{count} {why}" for why, count in counted.most_common())
    return f"\nWithout access: {reasons}." if left else ""


async def _to_take_back(left: "Sequence[NoAccess]", services: Services) -> str:
    """Return which access was imported before its sale was refunded or disputed."""
    desk, of = checkout_of(services).desk, services[References].of
    back = [one.id for one in left if one.why in {"refunded", "disputed", "access revoked"}]
    found = [of(record.session_id) for record in await desk.running(back)]
    if not found:
        return ""
    return (
        "\nImported before, and refunded or disputed since: take this access back with `orrery access revoke`: "
        + ", ".join(found)
    )

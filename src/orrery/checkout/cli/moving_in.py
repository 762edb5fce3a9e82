"""`orrery access import`: access that was sold elsewhere, from a seller's export or a file of the owner's own."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orrery.checkout.catalogue import ProductKey, product_of
from orrery.checkout.cli import checkout_of
from orrery.errors import Invalid, words_of
from orrery.runtime.console.options import Reason
from orrery.runtime.console.progress import progress_bar
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import Row, note, of_all, show
from orrery.runtime.references import References

if TYPE_CHECKING:
    from orrery.checkout.access.exports import NoAccess, Table
    from orrery.checkout.access.import_file import Products
    from orrery.checkout.access.imports import ImportedAccess, ImportPlan

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

Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="COLUMN",
        help="A column that the export does not have, though it decides who has access; for each.",
    ),
]

_COLUMNS = ("line", "email", "product", "paid", "expires")


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
    without: Without = None,
    send: Annotated[bool, typer.Option("--send", help="Send each buyer the e-mail with the link.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report; change nothing.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="With --dry-run: how many lines are shown.")] = 50,
    retired: Retired = False,
    runner: Handed,
) -> None:
    """Bring access along from elsewhere; a second import of the same sales changes nothing."""
    # No other command reads such a file, and these load what reads the store.
    from orrery.checkout.access.exports import export_of, refuse_undecided  # noqa: PLC0415  see above
    from orrery.checkout.access.import_file import OWN, own_lines, sold_elsewhere  # noqa: PLC0415  see above

    table, named = _table(file), _products(products or [])
    export = None if source is None and table.columns >= OWN else export_of(table.columns, source)
    if export:
        refuse_undecided(export, table, without or ())
    ends = until.replace(tzinfo=UTC) if until else None

    async def write(services: Services) -> str:
        imports = checkout_of(services).imports
        lines, left = (
            await sold_elsewhere(export, table, named, ends, imports) if export else (own_lines(table), [])
        )
        refuse_unknown([one.product for one in lines], services, retired=retired)
        with progress_bar("sales", len(lines)) as seen:
            plan = await imports.bring_in(lines, reason, send=send, dry_run=dry_run, seen=seen)
        if dry_run:
            _show_plan(plan, limit)
        count = len(lines) if export else len(table.rows)  # of the same access twice, one line is left
        return _said(plan, count, left, dry_run=dry_run) + await _to_take_back(left, services)

    note(runner.run(write))


def refuse_unknown(products: Iterable[ProductKey], services: Services, *, retired: bool) -> None:
    """Raise `Invalid` for a product that is not in the catalogue."""
    for product in dict.fromkeys(products):
        if not retired and checkout_of(services).catalogue.find(product) is None:
            raise Invalid(f"{product.name} is not in the catalogue; add --retired to grant access to it anyway.")


def _table(file: Path) -> "Table":
    from orrery.checkout.access.exports import read_table  # noqa: PLC0415  no other command reads one

    try:
        return read_table(file.read_bytes())
    except OSError as error:
        raise Invalid(f"{file.name} cannot be read: {words_of(error)}.") from None


def _products(options: Sequence[str]) -> "Products":
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


def _show_plan(plan: "ImportPlan", limit: int) -> None:
    found = sorted([*plan.new.values(), *plan.corrected.values()], key=lambda one: one.line)
    more = of_all(min(limit, len(found)), len(found))
    show(map(_row, found[:limit]), _COLUMNS, as_json=False, empty="Nothing is new.", more=more)


def _row(one: "ImportedAccess") -> Row:
    return {
        "line": one.line,
        "email": one.email,
        "product": one.product.name,
        "paid": one.paid or None,
        "expires": one.expires_at,
    }


def _said(plan: "ImportPlan", lines: int, left: "Sequence[NoAccess]", *, dry_run: bool) -> str:
    new, corrected = len(plan.new), len(plan.corrected)
    there = lines - new - corrected
    said = f"{new} would be imported, " if dry_run else f"{new} imported, "
    if corrected:
        said += f"{corrected} {'would get' if dry_run else 'got'} another end, "
    return f"{said}{there} {'are' if dry_run else 'were'} there already.{_left_out(left)}"


def _left_out(left: "Sequence[NoAccess]") -> str:
    counted = Counter(one.why for one in left)
    reasons = ", ".join(f"{count} {why}" for why, count in counted.most_common())
    return f"\nWithout access: {reasons}." if left else ""


async def _to_take_back(left: "Sequence[NoAccess]", services: Services) -> str:
    """Return which access was imported before its sale was refunded or disputed."""
    back = [id_ for one in left if one.why in {"refunded", "disputed", "access revoked"} for id_ in one.ids]
    records = await checkout_of(services).imports.running(back)
    found = [services[References].of(one.session_id) for one in records]
    if not found:
        return ""
    commands = "\n".join(f"  orrery access revoke {one} --reason 'taken back there'" for one in found)
    return f"\nImported before, and refunded or disputed since. Take this access back:\n{commands}"

"""The sales in the exports of other sellers: whose each is, of what, and why one gives no access. Pure.

The columns are those of
- Gumroad: https://github.com/antiwork/gumroad, app/services/exports/purchase_export_service.rb. Its times are UTC,
  and an apostrophe is before what a spreadsheet would run. What was bought for another is the receiver's.
- Lemon Squeezy: https://docs.lemonsqueezy.com/api/orders/the-order-object, whose names its export has;
  `date_utc` is its own name for `created_at`.
- Stripe: the payments, https://support.stripe.com/questions/exporting-a-report-of-all-transactions. Failed ones
  are among them. The owner chooses the columns.
"""

import csv
import io
import re
import shlex
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from orrery.errors import Invalid
from orrery.syntax.session_id import PAYMENTS

ExportName = Literal["gumroad", "lemon-squeezy", "stripe"]
Row = Mapping[str, str]
Names = tuple[str, ...]

_LONGEST = 40
"""Characters of a wrong cell in a message."""

_YEARS = range(1970, 9999)
"""Those of a sale: access ends a year later, and the calendar with the year 9999."""

_PAYMENT = "PaymentIntent ID"

_ZONE = re.compile(r" ?(?:UTC|([+-]\d\d:?\d\d))$")

_PAID = {"paid", "succeeded", "refunded", "partially refunded", "partial refund", "partial_refund"}


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file: its columns in lower case, and each row by the line on which it begins."""

    columns: frozenset[str]
    rows: Sequence[tuple[int, Row]]


@dataclass(frozen=True, slots=True)
class Export:
    """One seller's format: the names of a column are alternatives, and the first that is not empty counts.

    `deciding` are the columns without which a sale that gives no access would count as one that does; `why_not`
    returns why a row gives none, or nothing. `ids` are further ids of a sale, each with the seller whose id it is.
    """

    name: ExportName
    title: str
    sale: Names
    email: Names
    product: Names
    time: Names
    amount: Names
    currency: Names
    deciding: Sequence[Names]
    ids: Mapping[str, ExportName]
    why_not: Callable[[Row], str]

    def missing(self, columns: frozenset[str]) -> list[Names]:
        """Return the columns without which a file is not this export."""
        needed = (self.sale, self.email, self.product, self.time)
        return [names for names in needed if not any(one.lower() in columns for one in names)]


@dataclass(frozen=True, slots=True)
class ForeignSale:
    """A sale that another seller made: `ids` are all that it has, such as `stripe:pi_1`; `paid` is as written."""

    line: int
    ids: Names
    email: str
    product: str
    paid_at: datetime
    paid: str


@dataclass(frozen=True, slots=True)
class NoAccess:
    """A sale that gives no access, and why."""

    ids: Names
    why: str


def read_table(content: bytes) -> Table:
    """Return the rows of a CSV file, in UTF-8 or UTF-16, with commas, semicolons or tabs; raise `Invalid`."""
    try:
        text = content.decode("utf-16" if content[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig")
        head = text.partition("\n")[0]
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
        columns, rows = [one.strip().lower() for one in next(lines, list[str]())], list[tuple[int, Row]]()
        begins = lines.line_num + 1
        for cells in lines:
            if any(cells):
                rows.append((begins, _row(columns, cells, begins)))
            begins = lines.line_num + 1
    except csv.Error as error:
        raise Invalid(f"The file is not the CSV that is needed: {error}.") from None
    except UnicodeDecodeError:
        raise Invalid("The file cannot be read: it is neither UTF-8 nor UTF-16. Save it as CSV UTF-8.") from None
    return Table(frozenset(columns), rows)


def export_of(columns: frozenset[str], name: ExportName | None) -> Export:
    """Return the export of that name, or the one that has these columns; raise `Invalid`."""
    named = EXPORTS[name] if name else next((one for one in EXPORTS.values() if not one.missing(columns)), None)
    if named is None:
        titles = ", ".join(one.title for one in EXPORTS.values())
        raise Invalid(
            "The file has neither the columns email, vendor_slug, cert_code and expires_at nor those of an export "
            f"of {titles}; --from names what is missing for one of these."
        )
    if missing := named.missing(columns):
        absent = ", ".join(" or ".join(names) for names in missing)
        raise Invalid(f"An export of {named.title} has these columns, and this file does not: {absent}.")
    return named


def refuse_undecided(export: Export, table: Table, without: Collection[str]) -> None:
    """Raise `Invalid` for columns that decide who has access, and are neither in the file nor in `without`."""
    there = table.columns | {one.lower() for one in without}
    if all(row.get("id", "").startswith(PAYMENTS) for _, row in table.rows):
        there |= {_PAYMENT.lower()}
    missing = [names for names in export.deciding if there.isdisjoint(map(str.lower, names))]
    if missing:
        options = "\n".join(f"  --without {shlex.quote(names[0])}" for names in missing)
        columns = ", ".join(" or ".join(names) for names in missing)
        raise Invalid(
            f"This export of {export.title} has no column {columns}. Nothing was imported. Export it with all "
            "columns: these show what gives no access, such as a refund. Where the seller has none, add these "
            f"options, and no sale counts as what they would show:\n{options}"
        )


def sales_of(export: Export, table: Table) -> tuple[list[ForeignSale], list[NoAccess]]:
    """Return the sales of an export; raise `Invalid` with the line and the column of what cannot be read."""
    sales, left = list[ForeignSale](), list[NoAccess]()
    for line, row in table.rows:
        try:
            found = _sale(export, row, line)
        except Invalid as error:
            raise Invalid(f"Line {line}, {error} Nothing was imported.") from None
        if isinstance(found, NoAccess):
            left.append(found)
        elif found:
            sales.append(found)
    return sales, left


def _sale(export: Export, row: Row, line: int) -> ForeignSale | NoAccess | None:
    number, email, product = (_cell(row, *names) for names in (export.sale, export.email, export.product))
    if number == "Totals" and not email and not product:
        return None  # Gumroad's last row
    if not number:
        raise Invalid(f"column {export.sale[0]}: the id of the sale is missing.")
    further = [f"{of}:{found}" for column, of in export.ids.items() if (found := _cell(row, column))]
    ids = tuple(dict.fromkeys([f"{export.name}:{number}", *further]))
    if why := export.why_not(row) or ("" if email else "no e-mail address"):
        return NoAccess(ids, why)
    if not product:
        raise Invalid(f"column {' or '.join(export.product)}: the name of the product is missing.")
    paid = " ".join([_cell(row, *export.amount), _cell(row, *export.currency).upper() or "USD"])
    return ForeignSale(line, ids, email, product, _time(row, export.time), paid)


def _row(columns: Sequence[str], cells: Sequence[str], line: int) -> Row:
    if any(cells[len(columns) :]):
        raise Invalid(f"Line {line} has more cells than there are columns. Nothing was imported.")
    # Of two columns with one name the first is the seller's own: at Gumroad a buyer's answers follow.
    return {name: _clean(cell) for name, cell in [*zip(columns, cells, strict=False)][::-1]}


def _clean(cell: str) -> str:
    text = " ".join(cell.split())
    return text[1:] if re.match(r"'[-=+@%|]", text) else text


def _cell(row: Row, *names: str) -> str:
    return next((found for one in names if (found := row.get(one.lower()))), "")


def _time(row: Row, names: Names) -> datetime:
    column = next((one for one in names if _cell(row, one)), names[0])
    text = _cell(row, column)
    try:
        time = datetime.fromisoformat(_ZONE.sub(lambda zone: zone[1] or "Z", text))
        time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
        if time.year not in _YEARS:
            raise ValueError  # noqa: TRY301  it is said as for a cell that is no time
    except (ValueError, OverflowError):
        what = "a time such as 2026-03-31 14:05:00"
        raise Invalid(f"column {column}: {what} is needed, not {text[:_LONGEST]!r}.") from None
    return time


def _is(row: Row, name: str) -> bool:
    return _cell(row, name).lower() in {"1", "true", "yes"}


def _number(row: Row, name: str) -> Decimal:
    """Return an amount with a point or a comma: it is compared with one that is written in the same way."""
    text = _cell(row, name) or "0"
    if not re.fullmatch(r"-?[\d.,]*\d", text):
        raise Invalid(f"column {name}: an amount is needed, not {text[:_LONGEST]!r}.")
    whole, _, rest = re.sub(r"[.,](?=\d{1,2}$)", "#", text).partition("#")
    return Decimal(f"{re.sub(r'[.,]', '', whole)}.{rest or 0}")


def _first(reasons: Mapping[str, bool]) -> str:
    return next((why for why, holds in reasons.items() if holds), "")


def _not_of_gumroad(row: Row) -> str:
    return _first(
        {
            "not paid": _is(row, "Pre-order authorization?") or _is(row, "Free trial purchase?"),
            "subscription": _is(row, "Recurring Charge?") or bool(_cell(row, "Recurrence")),
            "refunded": _is(row, "Fully Refunded?"),
            "disputed": _is(row, "Disputed?") and not _is(row, "Dispute Won?"),
            "access revoked": _is(row, "Access Revoked?"),
        }
    )


def _not_of_lemon_squeezy(row: Row) -> str:
    status = _cell(row, "status").lower()
    return _first(
        {
            "test sale": _is(row, "test_mode"),
            "refunded": _is(row, "refunded") or status == "refunded",
            "disputed": status == "fraudulent",
            "not paid": bool(status) and status not in _PAID,
        }
    )


def _not_of_stripe(row: Row) -> str:
    status, dispute = _cell(row, "Status").lower(), _cell(row, "Dispute Status").lower()
    amount, back = _number(row, "Amount"), _number(row, "Amount Refunded")
    contested = bool(dispute) or _number(row, "Disputed Amount") > 0
    return _first(
        {
            "test sale": _cell(row, "Mode").lower() == "test",
            "not paid": status not in _PAID,
            "subscription": bool(_cell(row, "Invoice ID")),
            "refunded": status == "refunded" or 0 < amount <= back,
            # An inquiry of the bank takes no money.
            "disputed": contested and dispute != "won" and not dispute.startswith("warning"),
        }
    )


EXPORTS: Mapping[ExportName, Export] = {
    one.name: one
    for one in (
        Export(
            name="gumroad",
            title="Gumroad",
            sale=("Purchase ID",),
            email=("Giftee Email", "Purchase Email", "Buyer Email"),
            product=("Item Name",),
            time=("Purchase Time (UTC timezone)", "Purchase Date"),
            amount=("Sale Price ($)",),
            currency=(),
            deciding=(
                ("Fully Refunded?",),
                ("Disputed?",),
                ("Access Revoked?",),
                ("Recurrence", "Recurring Charge?"),
                ("Giftee Email",),
            ),
            ids={"Stripe Transaction ID": "stripe"},
            why_not=_not_of_gumroad,
        ),
        Export(
            name="lemon-squeezy",
            title="Lemon Squeezy",
            sale=("identifier",),
            email=("user_email",),
            product=("product_name",),
            time=("date_utc", "created_at"),
            amount=("total",),
            currency=("currency",),
            deciding=(("status",), ("test_mode",)),
            ids={},
            why_not=_not_of_lemon_squeezy,
        ),
        Export(
            name="stripe",
            title="Stripe",
            sale=("id",),
            email=("Customer Email",),
            product=("Checkout Line Item Summary", "Description"),
            time=("Created date (UTC)", "Created (UTC)"),
            amount=("Amount",),
            currency=("Currency",),
            # A charge and its payment are one sale, and the sales of this shop are known by their payments.
            deciding=(
                ("Status",),
                ("Mode",),
                ("Amount",),
                ("Amount Refunded",),
                ("Dispute Status", "Disputed Amount"),
                ("Invoice ID",),
                (_PAYMENT,),
            ),
            ids={_PAYMENT: "stripe", "Checkout Session ID": "stripe"},
            why_not=_not_of_stripe,
        ),
    )
}

"""What is read in the exports of other sellers: which sales give access, to whom, and until when."""

import csv
import io
import shlex
from datetime import UTC, datetime

import pytest

from orrery.checkout.access.exports import EXPORTS, ExportName, export_of, read_table, refuse_undecided, sales_of
from orrery.errors import Invalid
from tests.support.tables import each_case

AT = datetime(2026, 9, 1, 10, 5, tzinfo=UTC)
ROWS: dict[ExportName, dict[str, str]] = {
    "gumroad": {
        "Purchase ID": "id-1",
        "Item Name": "Course",
        "Purchase Email": "ann@example.org",
        "Buyer Email": "",
        "Purchase Date": "2026-09-01",
        "Purchase Time (UTC timezone)": "2026-09-01 10:05:00 UTC",
        "Sale Price ($)": "49.0",
        "Fully Refunded?": "0",
        "Disputed?": "0",
        "Dispute Won?": "0",
        "Access Revoked?": "0",
        "Recurring Charge?": "0",
        "Pre-order authorization?": "0",
        "Giftee Email": "",
        "Recurrence": "",
    },
    "lemon-squeezy": {
        "identifier": "id-1",
        "user_email": "ann@example.org",
        "product_name": "Course",
        "date_utc": "2026-09-01T10:05:00.000000Z",
        "total": "49.00",
        "currency": "eur",
        "status": "paid",
        "test_mode": "",
    },
    "stripe": {
        "id": "id-1",
        "Created date (UTC)": "2026-09-01 10:05",
        "Amount": "49,00",
        "Amount Refunded": "0,00",
        "Currency": "eur",
        "Status": "Paid",
        "PaymentIntent ID": "pi_1",
        "Description": "Course",
        "Customer Email": "ann@example.org",
        "Mode": "Live",
        "Disputed Amount": "",
        "Dispute Status": "",
        "Invoice ID": "",
    },
}


def written(*rows: dict[str, str], delimiter: str = ",") -> str:
    """Return rows of one export as CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read(name: ExportName, text: str | bytes) -> list[str]:
    """Recognise an export, and return each sale's address and time, or why it gives no access."""
    table = read_table(text.encode() if isinstance(text, str) else text)
    export = export_of(table.columns, None)
    assert export.name == name
    sales, left = sales_of(export, table)
    assert {one.product for one in sales} <= {"Course"}
    assert {one.ids[0] for one in (*sales, *left)} <= {f"{name}:id-1"}
    return [f"{one.email} {one.paid_at.astimezone(UTC):%d %H:%M}" for one in sales] + [one.why for one in left]


@each_case("name", EXPORTS)
@each_case("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@each_case("delimiter", [",", ";", "\t"])
def test_each_export_as_it_comes(name: ExportName, encoding: str, delimiter: str) -> None:
    """It is recognised by its columns alone, in the forms in which spreadsheets save it again."""
    padded = {column: f" {value}\n" for column, value in ROWS[name].items()}
    for row in (ROWS[name], padded):
        text = written(row | {"A note": f'two\nlines, with a "{delimiter}"'}, delimiter=delimiter)
        assert read(name, text.encode(encoding)) == ["ann@example.org 01 10:05"]


@each_case(
    ("name", "changed", "found"),
    [
        ("gumroad", {"Fully Refunded?": "1"}, "refunded"),
        ("gumroad", {"Disputed?": "1"}, "disputed"),
        ("gumroad", {"Disputed?": "1", "Dispute Won?": "1"}, "ann@example.org 01 10:05"),
        ("gumroad", {"Access Revoked?": "1"}, "access revoked"),
        ("gumroad", {"Recurrence": "monthly"}, "subscription"),
        ("gumroad", {"Pre-order authorization?": "1"}, "not paid"),
        ("gumroad", {"Giftee Email": "kim@example.org"}, "kim@example.org 01 10:05"),
        ("gumroad", {"Purchase Email": "'+ann@example.org"}, "+ann@example.org 01 10:05"),
        ("gumroad", {"Purchase Email": "", "Buyer Email": "b@example.org"}, "b@example.org 01 10:05"),
        ("gumroad", {"Purchase Email": ""}, "no e-mail address"),
        ("gumroad", {"Purchase Time (UTC timezone)": "2026-09-01 23:05:00 -0700"}, "ann@example.org 02 06:05"),
        ("gumroad", {"Purchase Time (UTC timezone)": ""}, "ann@example.org 01 00:00"),
        ("lemon-squeezy", {"status": "refunded"}, "refunded"),
        ("lemon-squeezy", {"status": "partial_refund"}, "ann@example.org 01 10:05"),
        ("lemon-squeezy", {"status": "fraudulent"}, "disputed"),
        ("lemon-squeezy", {"status": "pending"}, "not paid"),
        ("lemon-squeezy", {"test_mode": "1"}, "test sale"),
        ("stripe", {"Amount Refunded": "49,00"}, "refunded"),
        ("stripe", {"Amount Refunded": "10,00"}, "ann@example.org 01 10:05"),
        ("stripe", {"Amount": "1,049.00", "Amount Refunded": "49.00"}, "ann@example.org 01 10:05"),
        ("stripe", {"Amount": "4900", "Amount Refunded": "4,900"}, "refunded"),
        ("stripe", {"Amount": "0", "Amount Refunded": "0"}, "ann@example.org 01 10:05"),
        ("stripe", {"Status": "Failed", "Customer Email": "", "Description": ""}, "not paid"),
        ("stripe", {"Mode": "Test"}, "test sale"),
        ("stripe", {"Dispute Status": "lost", "Disputed Amount": "49,00"}, "disputed"),
        ("stripe", {"Dispute Status": "won", "Disputed Amount": "49,00"}, "ann@example.org 01 10:05"),
        ("stripe", {"Dispute Status": "warning_closed", "Disputed Amount": "49,00"}, "ann@example.org 01 10:05"),
        ("stripe", {"Invoice ID": "in_1"}, "subscription"),
    ],
)
def test_what_a_row_gives(name: ExportName, changed: dict[str, str], found: str) -> None:
    """Access to whom and when, or none and why."""
    assert read(name, written(ROWS[name] | changed)) == [found]


def test_what_is_no_sale() -> None:
    """Gumroad's row of totals and empty rows are none; a buyer's answer does not stand for the seller's column."""
    head, row, *_ = written(ROWS["gumroad"]).splitlines()
    text = f"{head},Purchase Email\n{row},other@example.org\n\n,,\nTotals,,,,,,49.0\n"
    assert read("gumroad", text) == ["ann@example.org 01 10:05"]


@each_case(
    ("text", "said"),
    [
        (written(ROWS["stripe"] | {"Amount": "a lot"}), "Line 2, column Amount: "),
        (
            written(ROWS["stripe"], ROWS["stripe"] | {"Description": ""}),
            "Line 3, column Checkout Line Item Summary",
        ),
        (
            written(ROWS["gumroad"] | {"Item Name": "a\nb"}, ROWS["gumroad"] | {"Purchase ID": ""}),
            "Line 4, column",
        ),
        (
            written(ROWS["gumroad"] | {"Purchase Time (UTC timezone)": "09/01/2026 10:05"}),
            "Line 2, column Purchase Time (UTC timezone): a time such as 2026-03-31 14:05:00 is needed, not ",
        ),
        (written(ROWS["gumroad"]).rstrip() + ",more,cells", "Line 2 has more cells"),
        (written(ROWS["gumroad"]) + '"cut off', "not the CSV that is needed"),
        (b"Pr\xe9nom", "Save it as CSV UTF-8"),
        ("", "neither the columns email"),
        ("email,name\n", "neither the columns email"),
    ],
)
def test_what_cannot_be_read(text: str | bytes, said: str) -> None:
    """The line where the row begins, the column, and what is wrong."""
    with pytest.raises(Invalid) as error:
        _ = read("gumroad" if "Item Name" in str(text) else "stripe", text)
    assert said in str(error.value)


@each_case(
    ("name", "column"),
    [
        ("gumroad", "Fully Refunded?"),
        ("gumroad", "Disputed?"),
        ("gumroad", "Access Revoked?"),
        ("gumroad", "Giftee Email"),
        ("lemon-squeezy", "status"),
        ("lemon-squeezy", "test_mode"),
        ("stripe", "Amount Refunded"),
        ("stripe", "Mode"),
        ("stripe", "Invoice ID"),
        ("stripe", "PaymentIntent ID"),
    ],
)
def test_a_column_that_decides_is_missing(name: ExportName, column: str) -> None:
    """It is named with the option to do without it, and the option is enough."""
    table = read_table(written({key: value for key, value in ROWS[name].items() if key != column}).encode())
    export = export_of(table.columns, None)
    with pytest.raises(Invalid) as error:
        refuse_undecided(export, table, [])
    assert f"has no column {column}. Nothing" in str(error.value)
    assert f"--without {shlex.quote(column)}" in str(error.value)
    refuse_undecided(export, table, [column.upper()])
    refuse_undecided(export, read_table(written(ROWS[name]).encode()), [])


def test_an_export_of_payments_alone() -> None:
    """An `id` that is the payment's needs no further column for it."""
    row = {key: value for key, value in ROWS["stripe"].items() if key != "PaymentIntent ID"} | {"id": "pi_1"}
    table = read_table(written(row).encode())
    refuse_undecided(export_of(table.columns, None), table, [])


@each_case(
    ("name", "more", "ids"),
    [
        ("stripe", {"Checkout Session ID": "cs_1"}, {"stripe:id-1", "stripe:pi_1", "stripe:cs_1"}),
        ("gumroad", {"Stripe Transaction ID": "ch_1"}, {"gumroad:id-1", "stripe:ch_1"}),
    ],
)
def test_every_id_of_a_sale(name: ExportName, more: dict[str, str], ids: set[str]) -> None:
    """A sale has all ids of its row, those at the processor too."""
    sales, _ = sales_of(EXPORTS[name], read_table(written(ROWS[name] | more).encode()))
    assert {*sales[0].ids} == ids


@each_case("time", ["0001-01-01 00:00:00 +1400", "9999-12-31 23:59:59 -1400", "9999-12-31", "1969-12-31"])
def test_a_time_of_no_sale(time: str) -> None:
    """What no seller can have sold at, or no calendar holds, is refused as no time."""
    with pytest.raises(Invalid, match="a time such as"):
        _ = read("gumroad", written(ROWS["gumroad"] | {"Purchase Time (UTC timezone)": time}))


def test_an_export_that_was_named() -> None:
    """What is missing for it is said."""
    table = read_table(written(ROWS["gumroad"]).encode())
    with pytest.raises(
        Invalid, match=r"export of Lemon Squeezy .*: identifier, user_email, .* date_utc or created_at"
    ):
        _ = export_of(table.columns, "lemon-squeezy")

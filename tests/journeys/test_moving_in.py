"""An owner moves in from another seller: the export as it comes, and a buyer who opens what he bought there."""

import csv
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.deployment import Deployment, Product, running
from tests.support.hosted import OF_PAGE
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

SITE = '[[sites]]\norigin = "http://127.0.0.1"\nname = "North"\n'
COURSE = ("--product", "The course=northwind/moved")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a shop whose site has the hosted pages."""
    sold = [Product("moved", site="North")]
    with running(Deployment(tmp_path_factory.mktemp("shop"), sold, more=SITE)) as deployment:
        yield deployment


def sale(number: str, email: str = "", **other: str) -> dict[str, str]:
    """Return a row of Gumroad's export, of a sale whose year has not ended."""
    return {
        "Purchase ID": number,
        "Item Name": "The course",
        "Purchase Email": email or f"{number}@buyer.example.test",
        "Purchase Date": "2098-12-01",
        "Sale Price ($)": "49.0",
        "Fully Refunded?": "0",
        "Disputed?": "0",
        "Access Revoked?": "0",
        "Recurrence": "",
        "Giftee Email": "",
    } | {name.replace("_", " "): value for name, value in other.items()}


def brought(shop: Deployment, folder: Path, rows: list[dict[str, str]], *options: str) -> tuple[int, str, str]:
    """Import rows as one file; return the exit code, what was printed, and what was said."""
    file = folder / "any name.txt"
    with file.open("w", encoding="utf-16", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    came = shop.orrery("access", "import", str(file), "--reason", "moved here", *options)
    return came.returncode, came.stdout, came.stderr


def new_sales(count: int) -> list[dict[str, str]]:
    """Return sales to buyers whom nobody knows."""
    return [sale(uuid4().hex) for _ in range(count)]


def test_what_is_not_mapped_is_listed_at_once(shop: Deployment, tmp_path: Path) -> None:
    """Each name of a product that is no product of ours comes with the option to add; nothing is imported."""
    rows = [*new_sales(1), *(sale(uuid4().hex, Item_Name=name) for name in ("It's a book", "A talk"))]
    code, _, said = brought(shop, tmp_path, rows, *COURSE)
    assert code == 2
    assert said.count("VENDOR/CERT") == 2
    assert "\n  --product 'A talk=VENDOR/CERT'\n" in said
    assert rows[0]["Purchase Email"] not in {one["email"] for one in shop.records.objects("access:")}
    code, _, said = brought(shop, tmp_path, rows, *COURSE, "--product", "A talk=", "--product", "It's a book=")
    assert (code, said) == (0, "1 imported, 0 were there already.\nWithout access: 2 left out.\n")


def test_a_dry_run_shows_what_would_be_done(shop: Deployment, tmp_path: Path) -> None:
    """A table of what is new with the amount that was paid there, and the others by reason; nothing is stored."""
    rows = [*new_sales(2), sale("r", **{"Fully_Refunded?": "1"}), sale("old", Purchase_Date="2020-01-01")]
    before = shop.records.keys()
    code, shown, said = brought(shop, tmp_path, rows, *COURSE, "--dry-run")
    assert code == 0
    assert [line.split()[:4] for line in shown.splitlines()[1:]] == [
        [str(number), row["Purchase Email"], "northwind/moved", "49.0"] for number, row in enumerate(rows[:2], 2)
    ]
    assert said.startswith("2 would be imported, 0 are there already.\nWithout access: 1 refunded, 1 ended.")
    assert shop.records.keys() == before


def test_a_later_export_that_overlaps(shop: Deployment, tmp_path: Path) -> None:
    """What is there stays single; a sale that was refunded since is named. None of it was sold here."""
    rows, later = new_sales(3), new_sales(1)
    assert brought(shop, tmp_path, rows, *COURSE)[2] == "3 imported, 0 were there already.\n"
    assert brought(shop, tmp_path, rows, *COURSE)[2] == "0 imported, 3 were there already.\n"
    back = rows[0] | {"Fully Refunded?": "1"}
    said = brought(shop, tmp_path, [back, *rows[1:], *later], *COURSE)[2].splitlines()
    assert said[:2] == ["1 imported, 2 were there already.", "Without access: 1 refunded."]
    assert said[2].startswith("Imported before")
    [command] = said[3:]
    assert shop.orrery(*shlex.split(command)[1:]).returncode == 0
    assert len(brought(shop, tmp_path, [back], *COURSE)[2].splitlines()) == 2
    assert json.loads(shop.orrery("sales", "--json").stdout) == []


def test_a_wrong_row_keeps_the_whole_file_out(shop: Deployment, tmp_path: Path) -> None:
    """Its line and column are named, and none of the hundreds of rows before it is written."""
    before = shop.records.keys("access:")
    rows = [*new_sales(250), sale("last", "nobody at all")]
    code, _, said = brought(shop, tmp_path, rows, *COURSE)
    assert (code, "Line 252: That is not an e-mail address. Nothing was imported." in said) == (2, True)
    assert shop.records.keys("access:") == before


def test_what_was_sold_here_is_not_brought_along(shop: Deployment, tmp_path: Path) -> None:
    """The processor's own export has the sales of this shop, too."""
    visitor = Visitor(shop)
    session = visitor.buy()
    visitor.await_access(session)
    row = {"id": "ch_1", "Created (UTC)": "2026-11-01 10:00", "Description": "The course", "Status": "Paid"}
    row |= {
        "Customer Email": visitor.email,
        "Checkout Session ID": session,
        "Amount": "49",
        "Amount Refunded": "0",
        "Mode": "Live",
        "Dispute Status": "",
        "Invoice ID": "",
    }
    code, _, said = brought(shop, tmp_path, [row], *COURSE, "--until", "2099-01-31")
    assert (code, "--without 'PaymentIntent ID'" in said) == (2, True)  # a charge alone may be any sale's
    without = ("--without", "PaymentIntent ID", "--until", "2099-01-31")
    said = brought(shop, tmp_path, [row], *COURSE, *without)[2]
    assert said == "0 imported, 0 were there already.\nWithout access: 1 sold here.\n"


def own(email: str, expires_at: str) -> dict[str, str]:
    """Return a row of the owner's own file."""
    return {"email": email, "vendor_slug": "northwind", "cert_code": "moved", "expires_at": expires_at}


def test_ends_at_the_edge_of_the_calendar(shop: Deployment, tmp_path: Path) -> None:
    """An end that no calendar holds is refused; the last one that it holds is shown, stored and sent."""
    email = f"{uuid4().hex}@buyer.example.test"
    for end in (
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "0001-01-01",
        "10000-01-01",
        "2098-02-30",
    ):
        for options in ([], ["--dry-run"]):
            code, _, said = brought(shop, tmp_path, [own(email, end)], *options)
            assert (code, "Line 2" in said) == (2, True)
    last = [own(email, "9999-12-31T23:59:59+00:00")]
    assert "9999-12-31" in brought(shop, tmp_path, last, "--dry-run")[1]
    assert brought(shop, tmp_path, last, "--send")[2] == "1 imported, 0 were there already.\n"
    assert shop.orrery("access", "resend", email, "--reason", "asked").returncode == 0
    rows = [sale(uuid4().hex)]
    for until in ("0001-01-01", "9999-12-31"):
        assert brought(shop, tmp_path, rows, *COURSE, "--until", until, "--dry-run")[0] == 0


def test_a_corrected_end_in_the_owners_file(shop: Deployment, tmp_path: Path) -> None:
    """The same access has the new end, and the dry run says so; of two lines for one buyer the later counts."""
    email = f"{uuid4().hex}@buyer.example.test"
    first = [own(email, "2098-01-31"), own(email.upper(), "2098-03-31")]
    assert brought(shop, tmp_path, first)[2] == "1 imported, 1 were there already.\n"
    later = [own(email, "2098-05-31")]
    said = brought(shop, tmp_path, later, "--dry-run")[2]
    assert said == "0 would be imported, 1 would get another end, 0 are there already.\n"
    assert brought(shop, tmp_path, later)[2] == "0 imported, 1 got another end, 0 were there already.\n"
    assert brought(shop, tmp_path, later)[2] == "0 imported, 1 were there already.\n"
    [stored] = [one for one in shop.records.objects("access:") if one["email"] == email]
    assert str(stored["expires_at"]).startswith("2098-05-31")


def links(shop: Deployment, email: str) -> list[str]:
    """Return the links that a buyer was sent."""
    lines = [line for one in shop.sandbox.mail_to(email) for line in one["body"].splitlines()]
    return [line.partition("http://127.0.0.1")[2] for line in lines if "/guided/open?" in line]


def await_link(shop: Deployment, email: str) -> str:
    """Wait until a buyer has been sent a link, and return it."""
    eventually(lambda: expect_equal(len(links(shop, email)), 1))
    return links(shop, email)[0]


def test_a_buyer_who_moved_in(shop: Deployment, tmp_path: Path) -> None:
    """Nobody is written to, but where the owner asks; the form for lost access opens the buyer's browser."""
    quiet, told = new_sales(2)
    _ = brought(shop, tmp_path, [quiet | {"Purchase Email": f" {quiet['Purchase Email'].upper()} "}], *COURSE)
    _ = brought(shop, tmp_path, [told], *COURSE, "--send", "--until", "2099-01-31")
    _ = await_link(shop, told["Purchase Email"])
    assert links(shop, quiet["Purchase Email"]) == []
    headers = OF_PAGE | {"X-Forwarded-For": shop.fresh_address()}
    asked = {"email": quiet["Purchase Email"]}
    assert shop.client.post(f"{shop.public}/guided/lost", data=asked, headers=headers).status_code == 200
    link = await_link(shop, quiet["Purchase Email"])
    opened = shop.client.post(shop.public + link, data={"form_token": ""}, headers=headers)
    assert opened.status_code == 303
    gate = f"{shop.public}/guided/api/gate/northwind/moved"
    cookie = {"Cookie": opened.headers["set-cookie"].partition(";")[0]}
    assert shop.client.get(gate, headers=cookie).status_code == 204
    shop.client.cookies.clear()

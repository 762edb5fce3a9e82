"""What a buyer reads: the receipt that opens an access, and the news that it has ended (decision 12)."""

from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.adapters.smtp import page_of
from orrery.checkout.access.emails import Emails
from orrery.checkout.catalogue import Catalogue, Product
from orrery.checkout.disputes import PaymentDispute
from orrery.checkout.records import AccessRecord, Reversal
from orrery.checkout.sites import Language, SellerDetails, Site
from orrery.ports.notifier import OutgoingMessage
from orrery.ports.store import Delete
from orrery.runtime.outbox import OutboxDraft
from orrery.runtime.references import References
from orrery.syntax.session_id import SESSION_ID
from tests.support.checkout import BUYER, INDEX_KEY, PRODUCT, Shop, record, session_json
from tests.support.clock import START
from tests.support.tables import each_case

REFERENCES = References.of_store(INDEX_KEY)
SELLER = SellerDetails(
    seller="Northwind GmbH",
    postal_address=("Hafenstraße 1", "20457 Hamburg"),
    tax_number="DE123456789",
    tax_line="19 % VAT are included",
    statement_name="NORTHWIND",
    reply_to="help@north.example",
    sender="shop@north.example",
    time_zone="Europe/Berlin",
)


def emails(language: Language = "en", seller: SellerDetails = SELLER, *, has_pages: bool = False) -> Emails:
    """Return the writer of a shop with one product, on a site of a language."""
    at = "https://practise.example/{vendorSlug}/{certCode}"
    site = Site(origin="https://north.example", practice_url=at, language=language, has_pages=has_pages)
    product = Product(PRODUCT.vendor_slug, PRODUCT.cert_code, PRODUCT.title, "price_1", site=site)
    return Emails(Catalogue((product,)), seller, REFERENCES)


class Page(HTMLParser):
    """The words of an e-mail's page, its rows, and everything that it would load or send."""

    def __init__(self, draft: OutboxDraft) -> None:
        super().__init__()
        self.words, self.tags = list[str](), list[tuple[str, dict[str, str | None]]]()
        self.html = page_of(OutgoingMessage("x", draft.title, draft.body, language=draft.language))
        self.feed(self.html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what begins here."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep the words."""
        if data.strip():
            self.words.append(data.strip())


def rows(draft: OutboxDraft) -> dict[str, str]:
    """Return the rows of the receipt, which stand at the end of the text."""
    return dict(line.split(": ", 1) for line in draft.body.rstrip().rpartition("\n\n")[2].splitlines())


def test_a_receipt() -> None:
    """It has everything that a buyer's accountant asks for, at the seller's time with that of UTC."""
    draft = emails().opened(record(paid_at=datetime(2026, 2, 28, 23, 30, tzinfo=UTC)), "x")
    assert rows(draft) == {
        "Receipt number": REFERENCES.number_of("cs_1"),
        "Date": "1 March 2026, 00:30 CET (2026-02-28 23:30 UTC)",
        "Product": "CISSP: practice questions for one year",
        "Amount paid": "49.00 USD",
        "Tax": "19 % VAT are included",
        "On your card statement": "NORTHWIND",
        "Access until": "1 March 2027, 13:00 CET (2027-03-01 12:00 UTC)",
        "Seller": "Northwind GmbH, Hafenstraße 1, 20457 Hamburg",
        "Tax number": "DE123456789",
        "Questions": "help@north.example",
    }
    assert (draft.sender, draft.reply_to, draft.to) == ("shop@north.example", "help@north.example", BUYER)
    assert draft.title == f"Your access to CISSP (receipt {REFERENCES.number_of('cs_1')})"


def test_a_receipt_in_german() -> None:
    """It has the language of the site, in its words, its months and its amounts."""
    draft = emails("de").opened(record(), "x")
    assert "Ihr Zugang zu den Übungsfragen für CISSP ist offen." in draft.body
    assert rows(draft)["Gezahlter Betrag"] == "49,00 USD"
    assert rows(draft)["Zugang bis"] == "1. März 2027, 13:00 Uhr CET (2027-03-01 12:00 UTC)"
    assert ("html", {"lang": "de"}) in Page(draft).tags


def test_what_is_not_set_has_no_row() -> None:
    """A seller who has set nothing is not named, and no row is empty; in UTC a time is said once."""
    draft = emails(seller=SellerDetails()).opened(record(), "x")
    assert set(rows(draft)) == {"Receipt number", "Date", "Product", "Amount paid", "Access until"}
    assert rows(draft)["Access until"] == "1 March 2027, 12:00 UTC"


@each_case(
    ("total", "currency", "told"),
    [(4900, "jpy", "4900 JPY"), (49000, "kwd", "49.000 KWD"), (0, "usd", "0.00 USD"), (5, "eur", "0.05 EUR")],
)
def test_amounts_of_receipts(total: int, currency: str, told: str) -> None:
    """An amount has as many decimals as its currency."""
    assert rows(emails().opened(record(amount_total=total, currency=currency), "x"))["Amount paid"] == told


@each_case("zone", ["Pacific/Kiritimati", "Europe/Berlin", "UTC", "Pacific/Honolulu"])
def test_access_for_ever(zone: str) -> None:
    """It ends with the calendar in every zone; none needs a day that no calendar has."""
    seller = replace(SELLER, time_zone=zone)
    for_ever = record(expires_at=datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    assert "December 9999" in rows(emails(seller=seller).opened(for_ever, "x"))["Access until"]


def test_access_without_a_sale_has_no_receipt() -> None:
    """Whoever did not pay reads no amount, no tax and no statement; the number still names the access."""
    draft = emails().opened(record(amount_total=None, currency=None, granted_by="owner"), "x")
    assert draft.title == "Your access to CISSP"
    assert {"Amount paid", "Tax", "On your card statement"}.isdisjoint(rows(draft))
    assert rows(draft)["Receipt number"] == REFERENCES.number_of("cs_1")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("has_pages", [True, False])
def test_both_forms_say_the_same(language: Language, has_pages: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """Every word of the text is in the page, and the page loads, sends and colours nothing."""
    shop = emails(language, has_pages=has_pages)
    ended = record(revoked_at=START, expires_at=record().expires_at)
    for draft in (shop.opened(record(), "x"), *shop.ended(ended, refund(4900), [record("cs_2")])):
        page = Page(draft)
        said = " ".join(page.words)
        for word in " ".join(draft.body.split("\n")).split():
            assert word.rstrip(":") in said or word.startswith("https://")
        links = [attributes.get("href") for tag, attributes in page.tags if tag == "a"]
        assert all(link and link in draft.body for link in links)
        assert len(links) == (draft.id == "x")
        assert {tag for tag, _ in page.tags}.isdisjoint({"img", "link", "script", "style", "form", "iframe"})
        assert "url(" not in page.html
        assert not any("color:" in (attributes.get("style") or "") for _, attributes in page.tags)
        assert not SESSION_ID.search(draft.title + draft.body)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=40))
def test_no_text_of_the_settings_is_markup(text: str) -> None:
    """A title or a seller's name with signs of HTML is shown as it is written."""
    draft = emails(seller=SellerDetails(seller=text)).opened(record(title=text), "x")
    tags = [tag for tag, _ in Page(draft).tags]
    assert tags == [tag for tag, _ in Page(emails(seller=SellerDetails(seller="a")).opened(record(), "x")).tags]


def refund(amount: int, **other: object) -> Reversal:
    """Return what went back of the payment of `cs_1`."""
    fields = {"payment_intent": "pi_cs_1", "session_id": "cs_1", "charge_id": "ch_1", "currency": "usd"}
    return Reversal(**fields | {"amount": 4900, "amount_refunded": amount} | other)  # pyright: ignore[reportArgumentType] fields by name


LOST = PaymentDispute(dispute_id="dp_1", status="lost", changed_at=START, amount=4900, currency="usd")


@each_case(
    ("reversal", "said", "unsaid"),
    [
        (refund(4900), ["refunded the 49.00 USD that you paid"], ["bank"]),
        (refund(2000), ["refunded 20.00 USD of the 49.00 USD"], ["bank"]),
        (refund(0, disputes=(LOST,)), ["Your bank has returned the payment"], ["refunded"]),
        (None, [], ["refunded", "bank"]),
    ],
)
def test_the_news_of_an_end(reversal: Reversal | None, said: list[str], unsaid: list[str]) -> None:
    """It says when the access ended, what went back, which receipt it was, and nothing that is not so."""
    [draft] = emails().ended(record(revoked_at=START), reversal, [])
    assert "ended on 1 March 2026." in draft.body
    assert rows(draft)["Access ended"] == "1 March 2026, 13:00 CET (2026-03-01 12:00 UTC)"
    assert rows(draft)["Receipt number"] == REFERENCES.number_of("cs_1")
    assert "Access until" not in rows(draft)
    assert [one in draft.body for one in said] == [True] * len(said)
    assert [one in draft.body for one in unsaid] == [False] * len(unsaid)


@each_case(
    "ended",
    [
        record(),
        record(email="", revoked_at=START),
        record(revoked_at=record().expires_at),
    ],
)
def test_an_end_without_news(ended: AccessRecord) -> None:
    """No e-mail is about access that runs, about the end that the receipt announced, or to an erased buyer."""
    assert emails().ended(ended, None, []) == []


async def sold(**other: object) -> Shop:
    """Return a shop with one sale."""
    shop = Shop(**other)  # pyright: ignore[reportArgumentType] fields by name
    await shop.offered("cs_1", "cs_2")
    assert await shop.receive("evt_1", session_json()) == "granted"
    return shop


async def sent(shop: Shop, within: str) -> list[str]:
    """Return the ids of the e-mails that are enqueued."""
    return [one.id for one in await shop.told() if one.channel == "email" and one.id.startswith(within)]


async def test_revoking_writes_once() -> None:
    """Each end is one e-mail, which names the other access that ends earlier therefore."""
    shop = await sold()
    assert await shop.receive("evt_2", session_json("cs_2")) == "granted"
    await shop.desk.revoke("cs_1", "a chargeback by telephone")
    assert await sent(shop, "ended-") == ["ended-cs_1"]
    [news] = [one.body for one in await shop.told() if one.id == "ended-cs_1"]
    assert f"ends on {(await shop.access('cs_2')).expires_at:%-d %B %Y} now." in news
    assert "telephone" not in news


async def test_an_erased_buyer_gets_no_news() -> None:
    """Access of a buyer who was erased ends without an e-mail; nobody's address is left to write to."""
    shop = await sold()
    _ = await shop.privacy.erase(BUYER, "asked")
    await shop.desk.revoke("cs_1", "refunded")
    assert await sent(shop, "") == []


async def test_every_name_of_a_sale_leads_to_it() -> None:
    """Commands take the number of a receipt however it is typed, also where no index has it yet."""
    shop = await sold()
    number = REFERENCES.number_of("cs_1")
    for typed in (number, number.lower(), f" {number} ", REFERENCES.of("cs_1")):
        assert await shop.lookup.named(typed) == "cs_1"
    for index in await shop.entries("access-by-reference:"):
        await shop.stored.store.commit([Delete(index.key)])
    assert await shop.lookup.named(number) == "cs_1"

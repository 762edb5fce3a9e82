"""What the owner and the buyer are told (decision 12)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.checkout.access.emails import Emails
from orrery.checkout.access.notifications import Notifications, amount
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.sites import SellerDetails
from orrery.runtime.references import References
from tests.support.checkout import BUYER, INDEX_KEY, PRODUCT, record
from tests.support.tables import each_case

EMAILS = Emails(
    Catalogue((PRODUCT,)),
    SellerDetails(seller="The sellers"),
    References.of_store(INDEX_KEY),
)
TEXTS = Notifications(EMAILS)


@each_case(
    ("total", "currency", "told"),
    [
        (4900, "usd", "49.00 USD"),
        (4905, "nzd", "49.05 NZD"),
        (5, "eur", "0.05 EUR"),
        (0, "usd", "0.00 USD"),
        (123456789, "usd", "1234567.89 USD"),
        (4900, "jpy", "4900 JPY"),
        (4900, "krw", "4900 KRW"),
        (49000, "kwd", "49.000 KWD"),
        (None, "usd", "no payment"),
        (4900, None, "no payment"),
    ],
)
def test_amounts(total: int | None, currency: str | None, told: str) -> None:
    """Amounts are shown in the currency's own units, which a few have none or a thousand of."""
    assert amount(record(amount_total=total, currency=currency)) == told


def test_a_sale_tells_two() -> None:
    """A sale is a push to the owner and a mail to the buyer, with ids that stay the same."""
    push, mail = TEXTS.sold(record(), ())
    assert (push.id, push.channel, push.to, push.priority) == ("owner-cs_1", "push", "", "default")
    assert (mail.id, mail.channel, mail.to) == ("buyer-cs_1", "email", BUYER)
    assert TEXTS.sold(record(), ()) == [push, mail]


def test_the_push_says_what_for_how_much_until_when() -> None:
    """The owner reads the product by vendor and code, the amount and the end of access."""
    push = TEXTS.sold(record(), ())[0]
    assert (push.title, push.body) == ("Sold: CISSP", "isc2/cissp, 49.00 USD. Access until 01 March 2027.")


@pytest.mark.parametrize(
    ("by", "title"), [("webhook", "Sold: CISSP"), ("reconcile", "Granted by reconcile: CISSP")]
)
def test_the_push_says_how_it_came(by: str, title: str) -> None:
    """What reconciliation granted is told apart from what the webhook did."""
    assert TEXTS.sold(record(granted_by=by), ())[0].title == title


@given(st.from_regex(r"[a-z]{4,12}\.[a-z]{4,12}@[a-z]{4,12}\.(org|com)", fullmatch=True))
def test_a_push_holds_nothing_personal(email: str) -> None:
    """Neither the address nor the name in it is in the owner's push, which others carry."""
    push = TEXTS.sold(record(email=email), ("The amount is 1; 2 was offered.",))[0]
    told = f"{push.id} {push.title} {push.body} {push.tags}".lower()
    assert email not in told
    assert email.partition("@")[0] not in told
    assert "@" not in told


def test_notes_make_it_urgent() -> None:
    """A difference to the offer stands in the push, which then has a higher priority."""
    push = TEXTS.sold(record(), ("The currency is nzd; usd was offered.",))[0]
    assert push.body.endswith("The currency is nzd; usd was offered.")
    assert push.priority == "high"


def test_without_an_address_only_the_owner() -> None:
    """A sale without an address is told to the owner alone, who learns that the buyer heard nothing."""
    (push,) = TEXTS.sold(record(email=""), ())
    assert (push.channel, push.priority) == ("push", "high")
    assert "no e-mail address" in push.body
    assert "only the browser that paid" in push.body


def test_a_withheld_session_is_told_by_id() -> None:
    """The owner hears which session got no access and why, once for each reason."""
    unpaid, refused = TEXTS.withheld("cs_1", "unpaid"), TEXTS.withheld("cs_1", "another price")
    assert (unpaid.id, refused.id) == ("withheld-cs_1-unpaid", "withheld-cs_1-another-price")
    assert "cs_1: another price" in refused.body
    assert f"`orrery processor session {TEXTS.emails.references.of('cs_1')}`" in unpaid.body
    assert refused.priority == "high"

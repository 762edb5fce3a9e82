"""Who has access until when (decisions 9 and 10)."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.checkout.access.rules import bought, grant, judge, one_year_after, without
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.records import AccessRecord, Offer
from orrery.ports.processor import CheckoutSession
from tests.support.checkout import offer, record, session
from tests.support.clock import START
from tests.support.tables import each_case

KEY = ProductKey("cert", "cissp", "isc2")


@each_case(
    ("completed", "offered", "verdict"),
    [
        (session(), offer(), ("granted", "")),
        (session(payment_status="no_payment_required"), offer(), ("granted", "")),
        (session(price_ids=("price_cissp",)), offer(), ("granted", "")),
        (session(payment_status="unpaid"), offer(), ("waiting", "unpaid")),
        (session(), None, ("waiting", "no offer")),
        (session(payment_status="unpaid"), None, ("waiting", "no offer")),
        (session(livemode=True), offer(), ("refused", "other livemode")),
        (session(livemode=True), None, ("refused", "other livemode")),
        (session(), offer(cert_code="ccsp"), ("refused", "another product")),
        (session(), offer(vendor_slug="comptia"), ("refused", "another product")),
        (session(), offer(product_type="book"), ("refused", "another product")),
        (session(price_ids=("price_other",)), offer(), ("refused", "another price")),
        (session(price_ids=()), offer(), ("refused", "another price")),
        (session(price_ids=("price_cissp", "price_other")), offer(), ("refused", "another price")),
        (session(price_ids=("price_other",), payment_status="unpaid"), offer(), ("refused", "another price")),
        (session(metadata={}), offer(), ("foreign", "")),
        (session(metadata={}), None, ("foreign", "")),
        (session(metadata={}, livemode=True), None, ("foreign", "")),
        (session(metadata={"productType": "cert", "certCode": "cissp"}), offer(), ("foreign", "")),
        (
            session(metadata={"productType": "cert", "certCode": "", "vendorSlug": "isc2"}),
            offer(),
            ("foreign", ""),
        ),
    ],
)
def test_the_verdict_on_a_session(
    completed: CheckoutSession, offered: Offer | None, verdict: tuple[str, str]
) -> None:
    """Each kind of session gets its verdict and reason."""
    judged = judge(completed, offered, livemode=False)
    assert (judged.result, judged.reason) == verdict
    assert judged.notes == ()


@pytest.mark.parametrize("livemode", [False, True])
def test_an_event_of_the_other_mode_grants_nothing(livemode: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A session of this mode is refused where its event says the other."""
    completed = session(livemode=livemode)
    judged = judge(completed, offer(), livemode=livemode, of_event=not livemode)
    assert (judged.result, judged.reason) == ("refused", "event of other livemode")
    assert judge(completed, offer(), livemode=livemode, of_event=livemode).result == "granted"


def test_a_live_service_grants_live_sessions() -> None:
    """In live mode it is the test session that is refused."""
    assert judge(session(livemode=True), offer(), livemode=True).result == "granted"
    assert judge(session(livemode=False), offer(), livemode=True).reason == "other livemode"


@pytest.mark.parametrize(
    ("completed", "notes"),
    [
        (session(amount_total=3900), ("The amount is 3900; 4900 was offered.",)),
        (session(amount_total=None), ("The amount is None; 4900 was offered.",)),
        (session(currency="nzd"), ("The currency is nzd; usd was offered.",)),
        (
            session(amount_total=8900, currency="nzd"),
            ("The amount is 8900; 4900 was offered.", "The currency is nzd; usd was offered."),
        ),
    ],
)
def test_another_amount_or_currency_is_granted_and_told(
    completed: CheckoutSession, notes: tuple[str, ...]
) -> None:
    """Under the same price a different amount or currency opens access, and the owner hears of it."""
    judged = judge(completed, offer(), livemode=False)
    assert (judged.result, judged.notes) == ("granted", notes)


def test_an_offer_without_figures_differs_from_nothing() -> None:
    """An offer that stands in for a lost one knows no amount, so none is other than offered."""
    judged = judge(
        session(amount_total=1, currency="nzd"), offer(amount_total=None, currency=None), livemode=False
    )
    assert (judged.result, judged.notes) == ("granted", ())


def test_what_was_bought_is_in_the_metadata() -> None:
    """The session's metadata names the product."""
    assert bought(session()) == KEY


@each_case(
    ("start", "end"),
    [
        ((2026, 3, 1), (2027, 3, 1)),
        ((2027, 3, 1), (2028, 3, 1)),
        ((2028, 2, 28), (2029, 2, 28)),
        ((2028, 2, 29), (2029, 2, 28)),
        ((2028, 3, 1), (2029, 3, 1)),
        ((2027, 2, 28), (2028, 2, 28)),
        ((2096, 2, 29), (2097, 2, 28)),
        ((2099, 12, 31), (2100, 12, 31)),
    ],
)
def test_the_same_date_next_year(start: tuple[int, int, int], end: tuple[int, int, int]) -> None:
    """A year ends on the same date and time, a leap day's on 28 February."""
    begun = datetime(*start, 23, 59, 59, 7, tzinfo=UTC)
    assert one_year_after(begun) == datetime(*end, 23, 59, 59, 7, tzinfo=UTC)


def granted(now: datetime, running_until: datetime | None) -> datetime:
    """Return the end of access of a purchase."""
    return grant(
        session(), KEY, event_id="evt_1", granted_by="webhook", now=now, running_until=running_until
    ).expires_at


def test_a_first_purchase_runs_from_now() -> None:
    """Without access that runs, the year begins at the grant."""
    assert granted(START, None) == START.replace(year=2027)


def test_a_further_purchase_runs_from_the_end() -> None:
    """Access that runs is extended from its end."""
    assert granted(START, START + timedelta(days=10)) == (START + timedelta(days=10)).replace(year=2027)


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(microseconds=1), timedelta(days=400)])
def test_access_that_has_ended_is_not_extended(ago: timedelta) -> None:
    """An end that is past, or now, counts for nothing."""
    assert granted(START, START - ago) == START.replace(year=2027)


moments = st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  hypothesis adds the zone


@given(moments, st.none() | moments)
def test_nobody_loses_by_buying(now: datetime, running_until: datetime | None) -> None:
    """A purchase ends at least 365 days from now, and at least 365 days after what ran before."""
    end = granted(now, running_until)
    assert end >= now + timedelta(days=365)
    if running_until and running_until > now:
        assert end >= running_until + timedelta(days=365)


def test_the_record_says_what_was_sold() -> None:
    """A record carries what decision 10 lists, the address lower-cased and trimmed."""
    completed = replace(session("cs_9"), email=" Ann@Example.ORG ", consent=True)
    made = grant(
        completed, KEY, event_id="evt_9", granted_by="reconcile", now=START, running_until=None, title="T"
    )
    assert made == AccessRecord.model_validate(
        {
            "v": 1,
            "session_id": "cs_9",
            "product_type": "cert",
            "cert_code": "cissp",
            "vendor_slug": "isc2",
            "email": "ann@example.org",
            "granted_at": START,
            "expires_at": START.replace(year=2027),
            "amount_total": 4900,
            "currency": "usd",
            "livemode": False,
            "payment_intent": "pi_cs_9",
            "event_id": "evt_9",
            "granted_by": "reconcile",
            "marketing_consent": True,
            "revoked_at": None,
            "former_emails": (),
            "title": "T",
            "paid_at": START,
        }
    )


def test_access_ends_at_its_end() -> None:
    """Access runs until the moment before its end, and not once it is revoked."""
    made = grant(session(), KEY, event_id=None, granted_by="owner", now=START, running_until=None)
    assert made.runs_at(made.expires_at - timedelta(microseconds=1))
    assert not made.runs_at(made.expires_at)
    assert not made.model_copy(update={"revoked_at": START}).runs_at(START)


@given(st.lists(st.integers(0, 500), min_size=2, max_size=8), st.data())
def test_what_is_left_ends_as_if_the_revoked_had_never_been(gaps: list[int], data: st.DataObject) -> None:
    """However many purchases are revoked, in whatever order, the others end as if only they had been made."""
    days = list(itertools.accumulate(gaps))
    left = bought_on(days)
    for _ in range(data.draw(st.integers(1, len(days) - 1))):
        gone = left.pop(data.draw(st.integers(0, len(left) - 1)))
        changed = {one.session_id: one for one in without(gone, left)}
        left = [changed.get(one.session_id, one) for one in left]
    kept = [(one.granted_at - START).days for one in left]
    assert [one.expires_at for one in left] == [one.expires_at for one in bought_on(kept)]


def bought_on(days: list[int]) -> list[AccessRecord]:
    """Return what a buyer has who bought one product on these days."""
    records: list[AccessRecord] = []
    for number, day in enumerate(days):
        at = START + timedelta(days=day)
        ends = [one.expires_at for one in records]
        end = one_year_after(max([at, *ends]))
        records.append(record(f"cs_{day}_{number}", granted_at=at, expires_at=end))
    return records

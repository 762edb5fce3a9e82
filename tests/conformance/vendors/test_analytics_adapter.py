"""Our adapter over the sandbox: what it reads, its errors, and how it shares a token."""

import asyncio

import pytest

from orrery.adapters.ga4 import GoogleAnalytics
from orrery.errors import NotConfigured
from orrery.ports.analytics import AnalyticsFailed, By, Cause, Quotas, QuotaState, ReportRow, UserReport
from orrery.sandbox.analytics.access import service_account_key
from tests.conformance.vendors.held import expect_met
from tests.support.analytics_provider import (
    CONCURRENT,
    DAY,
    HOUR,
    PAGE,
    PLANET,
    PROJECT_HOUR,
    SERVER_ERRORS,
    TOTAL,
    VISITORS,
    Provider,
    by,
)
from tests.support.hasty_loop import run_ahead
from tests.support.waiting import PATIENCE


def ask(adapter: GoogleAnalytics, dimension: By | None = None, limit: int | None = None) -> UserReport:
    """Ask for one report."""
    return asyncio.run(adapter.active_users(dimension, limit=limit, deadline=PATIENCE))


def failure(adapter: GoogleAnalytics, dimension: By | None = None, deadline: float = PATIENCE) -> AnalyticsFailed:
    """Return how a report fails."""
    with pytest.raises(AnalyticsFailed) as failed:
        asyncio.run(adapter.active_users(dimension, deadline=deadline))
    assert "\n" not in str(failed.value)
    return failed.value


def test_the_total(provider: Provider) -> None:
    """A report without a dimension has one row, the total, and has the quotas."""
    report = ask(provider.adapter())
    assert report.rows == (ReportRow("", VISITORS),)
    assert report.quotas == Quotas(
        QuotaState(10, 24_990), QuotaState(10, 4_990), QuotaState(10, 1_740), QuotaState(0, 10)
    )


def test_the_minutes_that_are_counted(provider: Provider) -> None:
    """Users of the last so many minutes are asked for, and no others (decision 43)."""
    for minutes in (1, 10, 30):
        (expected,) = provider.rows({**TOTAL, "minuteRanges": [{"startMinutesAgo": minutes - 1}]}).values()
        assert ask(provider.adapter(window_minutes=minutes)).total == expected[0]
    assert ask(provider.adapter(window_minutes=10)).total < VISITORS


@pytest.mark.parametrize(("dimension", "name"), [("page", PAGE), ("planet", PLANET)])
def test_breaking_down(provider: Provider, dimension: By, name: str) -> None:
    """A report by page or planet has the labels and figures of that dimension, most users first."""
    expected = {label: users for (label,), (users,) in provider.rows(by(name)).items()}
    report = ask(provider.adapter(), dimension)
    assert {row.label: row.users for row in report.rows} == expected
    assert [row.users for row in report.rows] == sorted(expected.values(), reverse=True)


def test_limits(provider: Provider) -> None:
    """No more rows come than were asked for: those with most users."""
    provider.visitors(300)
    everything = ask(provider.adapter(), "page").rows
    assert ask(provider.adapter(), "page", limit=3).rows == everything[:3]


@pytest.mark.parametrize("dimension", [None, "page", "planet"])
def test_nobody(provider: Provider, dimension: By | None) -> None:
    """Without visitors a report has no rows, and its quotas: a true zero."""
    provider.visitors(0)
    report = ask(provider.adapter(), dimension)
    assert (report.rows, report.total) == ((), 0)
    assert report.quotas is not None


@pytest.mark.parametrize(
    ("kind", "cause", "status"),
    [
        ("analytics_403", "forbidden", 403),
        ("analytics_429_concurrent", "concurrent", 429),
        ("analytics_429_hour", "hour", 429),
        ("analytics_429_day", "day", 429),
        ("analytics_429_thresholded", "thresholded", 429),
        ("analytics_500", "server", 500),
        ("analytics_html_404", "unreachable", 404),
        ("analytics_html_200", "not-a-report", 200),
        ("analytics_cut", "unreachable", None),
        ("analytics_down", "unreachable", None),
        ("analytics_token_down", "unreachable", None),
    ],
)
def test_causes(provider: Provider, kind: str, cause: Cause, status: int | None) -> None:
    """Each thing that goes wrong at the provider has its cause, and the next request goes through."""
    adapter = provider.adapter()
    provider.fault(kind)
    failed = failure(adapter)
    assert (failed.cause, failed.status) == (cause, status)
    provider.web.delete("/_faults")
    assert ask(adapter).total == VISITORS


@pytest.mark.parametrize(
    ("bucket", "cause"),
    [(DAY, "day"), (HOUR, "hour"), (PROJECT_HOUR, "hour"), (CONCURRENT, "concurrent"), (SERVER_ERRORS, "hour")],
)
def test_quotas_that_run_dry(provider: Provider, bucket: str, cause: Cause) -> None:
    """A quota that is really gone has the cause by which it is asked again."""
    adapter = provider.adapter()
    provider.quota(bucket=bucket, left=0)
    assert failure(adapter).cause == cause


def test_the_vendors_words_are_told(provider: Provider) -> None:
    """An error repeats the vendor's short message, for anyone who reads the log."""
    provider.fault("analytics_429_concurrent")
    text = str(failure(provider.adapter()))
    assert text == "The analytics provider answered 429: Exhausted concurrent requests quota."


def test_a_dimension_that_does_not_exist(provider: Provider) -> None:
    """A planet dimension that realtime reports do not have is refused."""
    adapter = GoogleAnalytics(
        provider.key,
        "123456789",
        base_url=provider.url,
        planet_dimension="hostName",
        window_minutes=30,
        clock=provider.clock,
    )
    failed = failure(adapter, "planet")
    assert (failed.cause, failed.status) == ("refused", 400)


def test_another_property(provider: Provider) -> None:
    """A property that is not the account's is forbidden."""
    assert failure(provider.adapter(property_id="1")).cause == "forbidden"


def test_another_account(provider: Provider) -> None:
    """A key that the token endpoint does not accept is unauthorized, for reports and checks."""
    adapter = provider.adapter(key=service_account_key(f"{provider.url}/analytics/token"))
    assert failure(adapter).cause == "unauthorized"
    with pytest.raises(AnalyticsFailed, match="does not accept the service-account key"):
        asyncio.run(adapter.check())


def test_a_token_is_kept(provider: Provider) -> None:
    """Reports one after the other share one token."""
    adapter, before = provider.adapter(), provider.known()["minted_tokens"]
    for dimension in (None, "page", "planet"):
        ask(adapter, dimension)
    assert provider.known()["minted_tokens"] == before + 1


def test_callers_at_once_share_one_mint(provider: Provider) -> None:
    """Twenty reports at once mint one token."""
    provider.quota(bucket=CONCURRENT, size=40, left=40)
    adapter, before = provider.adapter(), provider.known()["minted_tokens"]

    async def all_at_once() -> list[UserReport]:
        return await asyncio.gather(*(adapter.active_users(deadline=PATIENCE) for _ in range(20)))

    assert [report.total for report in asyncio.run(all_at_once())] == [VISITORS] * 20
    assert provider.known()["minted_tokens"] == before + 1
    provider.quota(bucket=CONCURRENT, size=10, left=10)


def test_callers_at_once_share_one_mint_after_a_refusal(provider: Provider) -> None:
    """Ten reports whose common token is refused mint one new token."""
    adapter = provider.adapter()
    ask(adapter)
    before = provider.known()["minted_tokens"]
    provider.fault("analytics_401", count=8)

    async def all_at_once() -> list[UserReport]:
        return await asyncio.gather(*(adapter.active_users(deadline=PATIENCE) for _ in range(8)))

    assert len(asyncio.run(all_at_once())) == 8
    assert provider.known()["minted_tokens"] == before + 1


def test_a_refused_token_is_replaced_once(provider: Provider) -> None:
    """After a 401 a new token is minted and the question asked again."""
    adapter = provider.adapter()
    ask(adapter)
    before = provider.known()
    provider.fault("analytics_401")
    assert ask(adapter).total == VISITORS
    after = provider.known()
    assert after["minted_tokens"] - before["minted_tokens"] == 1
    assert after["report_calls"] - before["report_calls"] == 2


def test_a_token_that_is_refused_twice(provider: Provider) -> None:
    """A second 401 is the end of it: unauthorized, after two requests."""
    adapter, before = provider.adapter(), provider.known()["report_calls"]
    provider.fault("analytics_401", count=None)
    failed = failure(adapter)
    assert (failed.cause, failed.status) == ("unauthorized", 401)
    assert str(failed) == "The analytics provider answered 401."
    assert provider.known()["report_calls"] - before == 2


@pytest.mark.parametrize("passed", [3_400, 3_700, 86_400])
def test_tokens_that_have_ended(provider: Provider, passed: float) -> None:
    """A token that is about to end, or has, is replaced before it is refused."""
    adapter = provider.adapter()
    ask(adapter)
    provider.advance(passed)
    before = provider.known()["report_calls"]
    assert ask(adapter).total == VISITORS
    assert provider.known()["report_calls"] - before == 1


def test_checking(provider: Provider) -> None:
    """A check mints a token each time and asks for no report."""
    adapter, before = provider.adapter(), provider.known()
    asyncio.run(adapter.check())
    asyncio.run(adapter.check())
    after = provider.known()
    assert after["minted_tokens"] - before["minted_tokens"] == 2
    assert after["report_calls"] == before["report_calls"]
    assert provider.left(DAY) == 25_000


@pytest.mark.parametrize("kind", ["analytics_down", "analytics_token_down"])
def test_checking_what_is_down(provider: Provider, kind: str) -> None:
    """A check of a token endpoint that is down reports that it cannot be reached."""
    adapter = provider.adapter()
    asyncio.run(adapter.check())
    provider.fault(kind)
    with pytest.raises(AnalyticsFailed) as failed:
        asyncio.run(adapter.check())
    assert failed.value.cause == "unreachable"


def test_the_deadline(provider: Provider) -> None:
    """A report that does not come is given up at the deadline."""
    adapter = provider.adapter()
    ask(adapter)
    provider.fault("analytics_timeout")
    with pytest.raises(AnalyticsFailed) as failed:
        run_ahead(adapter.active_users(deadline=PATIENCE), PATIENCE, lambda: expect_met(provider.web))
    assert failed.value.cause == "unreachable"


@pytest.mark.parametrize("deadline", [0.0, -1.0])
def test_no_time_at_all(provider: Provider, deadline: float) -> None:
    """A deadline that has passed is a failure, not a request that waits for ever."""
    assert failure(provider.adapter(), deadline=deadline).cause == "unreachable"


def test_one_query_does_not_spoil_the_other(provider: Provider) -> None:
    """While the query for pages fails, the total comes."""
    adapter = provider.adapter()
    provider.fault("analytics_429_hour", path=PAGE, count=None)
    assert failure(adapter, "page").cause == "hour"
    assert ask(adapter).total == VISITORS


def test_no_secret_is_told(provider: Provider) -> None:
    """Neither the adapter nor any of its failures shows the key."""
    adapter = provider.adapter()
    shown = repr(vars(adapter)) + "".join(repr(each) for each in vars(adapter).values())
    for kind in ("analytics_403", "analytics_token_down", "analytics_html_404"):
        provider.fault(kind)
        failed = failure(provider.adapter())
        shown += repr(failed) + repr(failed.__cause__)
        provider.web.delete("/_faults")
    assert "PRIVATE KEY" not in shown


def test_without_a_key(provider: Provider) -> None:
    """Without a key, a running provider is not asked."""
    before = provider.known()["report_calls"]
    with pytest.raises(NotConfigured):
        ask(provider.adapter(key=None))
    assert provider.known()["report_calls"] == before
    assert provider.ask(TOTAL).status_code == 200

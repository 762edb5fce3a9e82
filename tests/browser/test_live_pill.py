"""The live pill in a real browser by a fake clock, under a strict content security policy (decision 28)."""

import json
from datetime import timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Watch
from tests.browser.live_widgets import START, Network

PILL, MINUTE = "<live-pill></live-pill>", 60


@pytest.fixture
def pill(page: Page) -> Locator:
    """Return the pill."""
    return page.locator("live-pill")


@pytest.fixture
def shown(page: Page) -> Locator:
    """Return the pills that are shown."""
    return page.locator("live-pill:visible")


def test_pill_shows_the_count(network: Network, shown: Locator) -> None:
    """A count is shown with its label; the text "12" is the number 12."""
    network.show_each("live-pill", [{"totalUnique": count} | network.made(20) for count in (12, "12")])
    expect(shown).to_have_text(["12 live"] * 2)


def test_site_read_works_as_well(network: Network, pill: Locator) -> None:
    """The site read's `active` is a count like `totalUnique`."""
    network.says({"active": 7} | network.made(5))
    network.open('<live-pill src="/api/stats?realtime=1"></live-pill>')
    expect(pill).to_have_text("7 live")


def test_large_counts_are_grouped(network: Network, pill: Locator) -> None:
    """A count is written as the reader's language writes numbers."""
    network.show(PILL, 12345)
    expect(pill).to_have_text("12,345 live")


UNKNOWN = [None, "", " ", "NaN", "twelve", "1e3", "12.5", 12.5, -1, "-1", True, False, [12], {"count": 12}]


def test_what_is_no_whole_number_is_unknown(network: Network, shown: Locator) -> None:
    """Anything but a whole number shows nothing at the start, and later leaves the last good count."""
    network.show_each("live-pill", [{"totalUnique": count} | network.made(20) for count in UNKNOWN])
    expect(shown).to_have_count(0)
    network.counts(5)
    network.pass_time(45)
    expect(shown).to_have_text(["5 live"] * len(UNKNOWN))
    asked = len(network.asked)
    network.says_each([{"totalUnique": count} | network.made(20) for count in UNKNOWN])
    network.pass_time(90)
    assert len(network.asked) == asked + 2 * len(UNKNOWN)
    expect(shown).to_have_text(["5 live"] * len(UNKNOWN))


BODIES = ['{"totalUnique": NaN}', "<html>", "", "null", "[]", "12", '"12"', "{}"]


def test_answer_that_is_no_report_is_unknown(network: Network, shown: Locator) -> None:
    """NaN, HTML, nothing and other JSON leave the last good count, and the next good answer is shown."""
    network.show_each("live-pill", [{"totalUnique": 12} | network.made(20)] * len(BODIES))
    network.says_each(BODIES)
    network.pass_time(45)
    assert len(network.asked) == 2 * len(BODIES)
    expect(shown).to_have_text(["12 live"] * len(BODIES))
    network.counts(13)
    network.pass_time(45)
    expect(shown).to_have_text(["13 live"] * len(BODIES))


def test_one_502_changes_nothing(network: Network, pill: Locator, watch: Watch) -> None:
    """After one 502 the count stays, the timer is armed again, and the next answer is shown."""
    network.show(PILL)
    network.says({"totalUnique": 99} | network.made(0), status=502)
    network.pass_time(45)
    assert len(network.asked) == 2
    expect(pill).to_have_text("12 live")
    network.counts(13)
    network.pass_time(45)
    expect(pill).to_have_text("13 live")
    watch.forgive("502")


def test_offline_keeps_the_count_and_asks_once_online(network: Network, pill: Locator, watch: Watch) -> None:
    """Without a network the count stays; as soon as there is one again, the pill asks."""
    network.show(PILL)
    network.fails()
    network.page.context.set_offline(True)
    network.pass_time(5 * MINUTE)
    expect(pill).to_have_text("12 live")
    expect(pill).to_be_visible()
    network.counts(14)
    network.pass_time(10)
    network.page.context.set_offline(False)
    expect(pill).to_have_text("14 live")
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_silent_server_is_given_up_and_asked_again(network: Network, pill: Locator, watch: Watch) -> None:
    """An answer that does not come within 10 s is a failure like any other: the next question is asked in time."""
    network.show(PILL)
    network.is_silent()
    network.pass_time(45)
    assert len(network.asked) == 2
    network.counts(13)
    network.pass_time(44)
    assert len(network.asked) == 2
    network.pass_time(2)
    expect(pill).to_have_text("13 live")
    assert watch.complaints == []


def test_only_one_question_at_a_time(network: Network) -> None:
    """A server slower than the interval gets no second question while it thinks about the first."""
    network.show('<live-pill interval="2"></live-pill>')
    network.is_silent()
    network.pass_time(10, step=1)
    assert len(network.asked) == 2


def test_hidden_tab_rests(network: Network, pill: Locator) -> None:
    """A tab in the background asks nothing, and asks at once when it comes to the front."""
    network.show(PILL)
    network.hide()
    network.counts(20)
    network.pass_time(10 * MINUTE)
    assert len(network.asked) == 1
    network.counts(20)
    network.bring_back()
    expect(pill).to_have_text("20 live")
    assert len(network.asked) == 2


def test_turning_tabs_quickly_asks_little(network: Network) -> None:
    """Anyone who turns from tab to tab makes the pill ask once in a few seconds at most."""
    network.show(PILL)
    network.pass_time(10)
    for _ in range(10):
        network.hide()
        network.bring_back()
        network.pass_time(0.5)
    assert len(network.asked) <= 3


def test_old_count_is_gone_as_soon_as_the_tab_shows(network: Network, pill: Locator, watch: Watch) -> None:
    """A count that went too old in the background is not shown again, even when no answer comes."""
    network.show(PILL)
    network.hide()
    network.fails()
    network.pass_time(31 * MINUTE)
    network.bring_back()
    expect(pill).to_be_hidden()
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_back_from_sleep_asks_within_a_second(network: Network, pill: Locator) -> None:
    """After sleep, in which clocks go on but timers do not, the pill asks at once."""
    network.show(PILL)
    network.now += timedelta(hours=2)
    network.page.clock.set_system_time(network.now)
    network.counts(3)
    network.pass_time(1)
    expect(pill).to_have_text("3 live")


def test_back_from_sleep_without_a_network_hides(network: Network, pill: Locator, watch: Watch) -> None:
    """After two hours of sleep the count is too old, whatever the timers counted."""
    network.show(PILL)
    network.now += timedelta(hours=2)
    network.page.clock.set_system_time(network.now)
    network.fails()
    network.pass_time(1)
    expect(pill).to_be_hidden()
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_device_clock_that_is_set_back_stops_nothing(network: Network, pill: Locator) -> None:
    """A device's clock that is set back by a day neither stops the questions nor keeps an old count."""
    network.show(PILL)
    network.page.clock.set_system_time(START - timedelta(days=1))
    network.counts(8)
    network.pass_time(45)
    expect(pill).to_have_text("8 live")


@pytest.mark.parametrize("off", [timedelta(days=-400), timedelta(days=400)], ids=["behind", "ahead"])
def test_device_clock_may_be_wrong(network: Network, pill: Locator, watch: Watch, off: timedelta) -> None:
    """A device whose clock is a year off shows the count, and hides it at 30 minutes all the same."""
    network.counts(12)
    network.open(PILL, clock=START + off)
    expect(pill).to_be_visible()
    network.fails()
    network.pass_time(29 * MINUTE)
    expect(pill).to_be_visible()
    network.pass_time(MINUTE)
    expect(pill).to_be_hidden()
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_zero_hides(network: Network, pill: Locator) -> None:
    """A true zero hides the pill, and no space is left of it."""
    network.show(PILL, 0)
    expect(pill).to_be_hidden()
    assert pill.evaluate("(pill) => [pill.offsetWidth, pill.offsetHeight, pill.getClientRects().length]") == [
        0,
        0,
        0,
    ]


def test_zero_hides_whatever_the_page_asks_for(network: Network, pill: Locator) -> None:
    """A threshold of 0 does not show a zero."""
    network.show('<live-pill min-visible="0"></live-pill>', 0)
    expect(pill).to_be_hidden()


def test_less_than_the_threshold_hides(network: Network, pill: Locator) -> None:
    """Less than `min-visible` hides; `min-visible` itself shows."""
    network.show('<live-pill min-visible="5"></live-pill>', 4)
    expect(pill).to_be_hidden()
    network.counts(5)
    network.pass_time(45)
    expect(pill).to_be_visible()


def test_flapping_follows_each_count(network: Network, pill: Locator) -> None:
    """0, 5, 0: hidden, shown, hidden."""
    network.show(PILL, 0)
    expect(pill).to_be_hidden()
    network.counts(5)
    network.pass_time(45)
    expect(pill).to_be_visible()
    network.counts(0)
    network.pass_time(45)
    expect(pill).to_be_hidden()


def test_count_stays_for_29_minutes_and_goes_at_30(network: Network, pill: Locator, watch: Watch) -> None:
    """Without an answer the count is shown until it, not the question, is 30 minutes old."""
    network.counts(12, age=20)
    network.open(PILL)
    network.settle()
    network.says("", status=502)
    network.pass_time(29 * MINUTE - 21)
    expect(pill).to_be_visible()
    network.pass_time(38, step=1)
    expect(pill).to_be_visible()
    network.pass_time(23, step=1)
    expect(pill).to_be_hidden()
    network.counts(6)
    network.pass_time(46)
    expect(pill).to_have_text("6 live")
    expect(pill).to_be_visible()
    watch.forgive("502")


def test_service_that_withdraws_the_count_is_believed(network: Network, pill: Locator) -> None:
    """An answer that calls the very count that is held too old hides it, whatever the device's own clock says."""
    network.show(PILL)
    made = network.made(20)["generated_at"]
    network.says({"totalUnique": 0, "generated_at": made, "age_s": 1801, "stale": True, "error": "data-too-stale"})
    network.pass_time(46)
    expect(pill).to_be_hidden()
    network.counts(6)
    network.pass_time(46)
    expect(pill).to_have_text("6 live")


def test_old_count_from_a_cache_grows_no_younger(network: Network, pill: Locator) -> None:
    """A cache that repeats one answer, with the age it once had, keeps the count for 30 minutes and no longer."""
    network.show(PILL)
    network.pass_time(29 * MINUTE)
    expect(pill).to_be_visible()
    network.pass_time(MINUTE)
    expect(pill).to_be_hidden()
    assert len(network.asked) > 30


def test_server_clock_tells_how_old_a_cached_answer_is(network: Network, pill: Locator) -> None:
    """An answer that says 20 s, though by the server's date it is 31 minutes old, is not shown."""
    network.says({"totalUnique": 12} | network.made(20), date=START + timedelta(minutes=31))
    network.open(PILL)
    network.settle()
    expect(pill).to_be_hidden()


def test_time_in_the_future_makes_no_count_younger(network: Network, pill: Locator, watch: Watch) -> None:
    """A count that claims to be made tomorrow is as old as its `age_s` says, and goes at 30 minutes."""
    network.says({"totalUnique": 12} | network.made(-86_400) | {"age_s": 20}, date=START)
    network.open(PILL)
    expect(pill).to_be_visible()
    network.fails()
    network.pass_time(29 * MINUTE)
    expect(pill).to_be_visible()
    network.pass_time(MINUTE)
    expect(pill).to_be_hidden()
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_count_that_cannot_be_believed_is_not_shown(network: Network, shown: Locator) -> None:
    """Nothing is shown for a count whose time is missing, makes no sense or is too old, or that has an error."""
    ages: list[dict[str, object]] = [
        {"generated_at": None},
        {"age_s": None},
        {"age_s": -5},
        {"generated_at": "soon"},
        {"age_s": 1801},
    ]
    errors = [{"error": error} for error in ("no-data", "data-too-stale", "kv-not-bound")]
    good = {"totalUnique": 12} | network.made(20)
    network.show_each("live-pill", [good, *(good | fault for fault in [*ages, *errors])])
    expect(shown).to_have_text(["12 live"])


def test_error_keeps_the_last_good_count(network: Network, pill: Locator) -> None:
    """The zero of an error is no zero: the last good count stays."""
    network.show(PILL)
    network.says({"totalUnique": 0, "generated_at": None, "age_s": None, "stale": True, "error": "no-data"})
    network.pass_time(90)
    expect(pill).to_have_text("12 live")
    expect(pill).to_be_visible()


def test_stale_count_is_shown(network: Network, pill: Locator) -> None:
    """A count of 3 to 30 minutes is real, so it is shown (spec 2, States and transitions)."""
    network.counts(12, age=20 * MINUTE)
    network.open(PILL)
    expect(pill).to_have_text("12 live")


def test_older_answer_does_not_overwrite_a_newer_one(network: Network, pill: Locator) -> None:
    """An answer from a cache that is behind leaves the newer count alone."""
    network.counts(12, age=10)
    network.open(PILL)
    network.settle()
    network.counts(99, age=200)
    network.pass_time(45)
    expect(pill).to_have_text("12 live")


def test_late_answer_does_not_overwrite_a_newer_one(network: Network, pill: Locator) -> None:
    """An answer that comes after its deadline changes nothing any more."""
    network.show(PILL)
    network.is_silent()
    network.pass_time(45)
    network.counts(13)
    network.pass_time(55)
    expect(pill).to_have_text("13 live")
    network.held.pop().fulfill(
        body=json.dumps({"totalUnique": 99} | network.made(0)), content_type="application/json"
    )
    network.pass_time(1)
    expect(pill).to_have_text("13 live")


def test_two_pills_share_one_question(network: Network, page: Page) -> None:
    """Two pills with one address ask once and show the same, at the shorter interval of the two."""
    network.show(PILL + '<live-pill interval="10"></live-pill>')
    expect(page.get_by_text("live")).to_have_count(2)
    assert len(network.asked) == 1
    network.pass_time(10)
    assert len(network.asked) == 2

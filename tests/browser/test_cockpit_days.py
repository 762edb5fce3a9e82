"""Dismissals live until the local midnight in the browser's storage, and ages count on, in a real browser."""

from datetime import datetime

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cockpit_desk import NOON, Desk, made_mailbox, made_row
from tests.browser.conftest import OpenPage
from tests.support.cockpit import Cockpit
from tests.support.soak import SOAKING

ROWS = [made_row(1), made_row(2), made_row(3)]
OFF = """Object.defineProperty(window, "localStorage",
  { get() { throw new DOMException("off", "SecurityError"); } });"""
FILL = """for (let size = 1 << 20; size; size >>= 1)
  for (let turn = 0; turn < 8; turn += 1)
    try { localStorage.setItem(`${size} ${turn}`, "x".repeat(size)) } catch {}"""
BREAK = """localStorage.setItem("orrery.dismissed.2026-11-21", '["row-1",')"""


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """Open a page of its own: what a test puts into one, its storage and clock, stays in it."""
    return open_page()


def desk_at(page: Page, cockpit: Cockpit, moment: datetime) -> Desk:
    """Return the page with three rows, on a machine whose clock shows `moment`."""
    page.clock.install(time=moment)
    desk = Desk(page, cockpit)
    desk.lists(ROWS)
    return desk.begin()


DAYS = [
    ("Europe/Berlin", "2026-03-28T23:30:00+00:00", "22:00:00", "00:31:00"),
    ("Europe/Berlin", "2026-10-24T22:30:00+00:00", "24:00:00", "00:31:00"),
    ("Asia/Kolkata", "2026-11-21T12:00:00+00:00", "06:20:00", "00:11:00"),
]
"""A zone, a moment, for how long the day still lasts, and how long after that it is surely over.

The first day has 23 hours, the second 25. The third is for `./run soak looks`.
"""


@pytest.mark.parametrize(("zone", "start", "same_day", "after"), DAYS if SOAKING else DAYS[:2])
def test_dismissed_rows_come_back_after_local_midnight(
    open_page: OpenPage, cockpit: Cockpit, zone: str, start: str, same_day: str, after: str
) -> None:
    """A row that was dismissed stays away until the local midnight, however many hours that day has."""
    desk = desk_at(open_page(timezone_id=zone), cockpit, datetime.fromisoformat(start))
    desk.press("e", "e")
    expect(desk.rows).to_have_count(1)
    old = set(desk.storage)
    desk.page.clock.fast_forward(same_day)
    expect(desk.rows).to_have_count(1)
    desk.page.clock.fast_forward(after)
    expect(desk.rows).to_have_count(3)
    desk.expect_said("A new day")
    desk.press("e")
    assert len(desk.storage) == 1
    assert not old & set(desk.storage)


def test_dismissals_survive_a_reload(page: Page, cockpit: Cockpit) -> None:
    """What was dismissed today is still dismissed when the page is loaded again."""
    desk = desk_at(page, cockpit, NOON)
    desk.press("e")
    _ = page.reload()
    expect(desk.rows).to_have_count(2)
    assert list(desk.storage.values()) == ['["row-1"]']


def test_another_tab_takes_dismissals_over(page: Page, cockpit: Cockpit) -> None:
    """A row that is dismissed in one tab goes from the other, and neither forgets what the other did."""
    desk = desk_at(page, cockpit, NOON)
    other = desk_at(page.context.new_page(), cockpit, NOON)
    desk.press("e")
    expect(other.rows).to_have_count(2)
    other.press("e")
    expect(desk.rows).to_have_count(1)
    assert list(desk.storage.values()) == ['["row-1","row-2"]']


@pytest.mark.parametrize(
    ("trouble", "words"), [(OFF, "does not keep"), (FILL, "does not keep"), (BREAK, "could not be read")]
)
def test_list_works_without_storage(page: Page, cockpit: Cockpit, trouble: str, words: str) -> None:
    """With local storage off, full or corrupt, rows are dismissed and brought back, and the page says so once."""
    page.add_init_script(trouble)
    desk = desk_at(page, cockpit, NOON)
    desk.press("e", "e")
    expect(desk.rows).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_role("alert")).to_contain_text(words)
    desk.press("z", "z")
    expect(desk.rows).to_have_count(3)


def test_ages_count_on_from_their_attribute(page: Page, cockpit: Cockpit) -> None:
    """An age is counted from the time in its data attribute, and again every minute."""
    page.clock.install(time=NOON)
    desk = Desk(page, cockpit)
    desk.lists([made_row(0), made_row(5), made_row(-90, source="meeting")], [made_mailbox()])
    _ = desk.begin()
    ages = page.locator(".when time")
    expect(ages).to_have_text(["just now", "5 min ago", "in 1 h"])
    expect(ages.first).to_have_attribute("data-at", "2026-11-21T12:00:00Z")
    page.clock.fast_forward("01:00")
    expect(ages).to_have_text(["1 min ago", "6 min ago", "in 1 h"])
    page.clock.fast_forward("40:00")
    expect(ages).to_have_text(["41 min ago", "46 min ago", "in 49 min"])

"""Messages are worked through in a real browser: by keyboard, by pointer, in bulk."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cockpit_desk import Desk, made_row
from tests.browser.conftest import OpenPage, Watch
from tests.support.cockpit import Cockpit, running_cockpit
from tests.support.soak import SOAKING
from tests.support.waiting import eventually

MESSAGES, MANY = (120, 100) if SOAKING else (20, 15)
"""In each mailbox, and how many rows are dismissed: `./run soak looks` works through a hundred."""


@pytest.fixture(scope="module")
def cockpit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cockpit]:
    """Return a cockpit."""
    with running_cockpit(tmp_path_factory.mktemp("triage"), "--sample", "--messages", str(MESSAGES)) as found:
        yield found


@pytest.fixture
def desk(page: Page, cockpit: Cockpit) -> Desk:
    """Return the page with its rows."""
    return Desk(page, cockpit).begin()


def test_rows_are_dismissed_and_brought_back_by_keyboard(desk: Desk, cockpit: Cockpit) -> None:
    """Many rows go with one key held down, none is lost, and as many undos bring all back in their order."""
    order = [row["id"] for row in cockpit.rows()]
    actions = {row["id"] for row in cockpit.rows() if row["source"] == "action-hub"}
    assert actions & set(order[:MANY])
    desk.press("j", "k")
    desk.hold("e", MANY)
    desk.count(len(order) - MANY)
    expect(desk.current).to_have_attribute("data-id", order[MANY])
    expect(desk.current).to_be_focused()
    eventually(lambda: _expect_open(cockpit, actions - set(order[:MANY])))
    desk.hold("z", MANY)
    desk.count(len(order))
    eventually(lambda: _expect_open(cockpit, actions))
    assert desk.ids() == order[: len(desk.ids())]
    assert list(desk.storage.values()) == ["[]"]
    desk.press("z")
    desk.expect_said("There is nothing to undo.")


def _expect_open(cockpit: Cockpit, wanted: set[str]) -> None:
    assert {row["id"] for row in cockpit.rows() if row["source"] == "action-hub"} == wanted


def test_every_action_is_reached_by_keyboard(desk: Desk, page: Page) -> None:
    """Moving, expanding, drafting, tasks, undo, selecting, searching, help and refresh need no pointer."""
    desk.press("/")
    page.keyboard.type("certificate")
    desk.press("Enter", "Enter")
    expect(desk.current).to_be_focused()
    expect(desk.current.locator(".text")).not_to_be_empty()
    desk.press("d")
    page.keyboard.type("jet ez: these letters are no keys here")
    desk.press("Control+Enter")
    desk.expect_said("Draft made; it is not sent.")
    expect(desk.current).to_be_focused()
    expect(desk.current.locator(".note a")).to_have_attribute("rel", "noopener noreferrer")
    desk.press("t")
    desk.expect_said("Added to tasks:")
    expect(desk.current.get_by_text("Task", exact=True)).to_be_visible()
    desk.press("z")
    desk.expect_said("Taken out of tasks:")
    desk.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    desk.press("Escape", "Escape", "Escape")
    expect(desk.current.locator(".text")).to_have_count(0)
    expect(page.get_by_role("searchbox")).to_have_value("")
    desk.press("ArrowDown", "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    desk.press("Escape", "r")
    desk.expect_said("Refreshed: 0 new rows.")


def test_a_task_comes_and_goes_with_undo(desk: Desk, cockpit: Cockpit) -> None:
    """A task is a row of the action ledger at once, and undo dismisses that row."""
    before = len(cockpit.rows())
    row = cockpit.row(source="mail")
    desk.page.locator(f'[data-id="{row["id"]}"] .preview').click()
    desk.press("t")
    desk.count(before + 1)
    assert cockpit.listed()["tasks"] == [row["id"]]
    desk.press("t")
    desk.expect_said("This is a task already.")
    desk.press("z")
    desk.count(before)
    assert cockpit.listed()["tasks"] == []


def test_everything_is_done_by_pointer(desk: Desk, page: Page, cockpit: Cockpit) -> None:
    """A click expands; the buttons of a row draft and dismiss; that at the foot undoes."""
    number = len(cockpit.rows())
    row = cockpit.row(source="teams", track="A")
    here = page.locator(f'[data-id="{row["id"]}"]')
    here.locator(".preview").click()
    expect(here.locator(".text")).not_to_be_empty()
    here.get_by_role("button", name="Draft").click()
    here.get_by_label("Comment in the draft").fill("By pointer")
    here.get_by_role("button", name="Make the draft").click()
    expect(here.get_by_role("link", name="Open the draft")).to_be_visible()
    here.get_by_role("button", name="Dismiss").click()
    desk.count(number - 1)
    page.get_by_role("button", name="Undo").click()
    desk.count(number)
    expect(here).to_be_focused()


def test_escape_clears_the_search_and_enter_keeps_it(desk: Desk, cockpit: Cockpit) -> None:
    """Both go to the rows: to all of them, or to those that were found; a filter stays."""
    page, rows = desk.page, cockpit.rows()
    search, mail = page.get_by_role("searchbox"), [row for row in rows if row["source"] == "mail"]
    page.get_by_role("group", name="Show sources").get_by_role("button", name="Mail").click()
    search.fill(mail[0]["subject"])
    desk.press("Enter")
    expect(search).to_have_value(mail[0]["subject"])
    expect(desk.current).to_be_focused()
    desk.press("/", "Escape")
    expect(search).to_have_value("")
    expect(page.locator("#count")).to_have_text(f"{len(mail)} of {len(rows)} rows")
    expect(desk.current).to_be_focused()


def test_search_and_filters_count_what_they_let_through(desk: Desk, cockpit: Cockpit) -> None:
    """Search, source and track narrow the list together, and the count says to how many of how many."""
    page = desk.page
    rows = cockpit.rows()
    chosen = [row for row in rows if row["track"] == "B" and row["source"] in {"mail", "meeting"}]
    page.get_by_role("group", name="Show tracks").get_by_role("button", name="B · public material").click()
    for source in ("Meeting", "Mail"):
        page.get_by_role("group", name="Show sources").get_by_role("button", name=source).click()
    expect(page.locator("#count")).to_have_text(f"{len(chosen)} of {len(rows)} rows")
    page.get_by_role("searchbox").fill("no such words anywhere")
    expect(page.get_by_role("heading", name="No row matches")).to_be_visible()
    page.get_by_role("button", name="Show all rows").click()
    expect(page.locator("#count")).to_have_text(f"{len(rows)} rows")


def test_selected_rows_are_one_step(desk: Desk, page: Page, cockpit: Cockpit) -> None:
    """What is shown is selected at once, dismissed at once, and brought back by one undo."""
    rows = cockpit.rows()
    actions = {row["id"] for row in rows if row["source"] == "action-hub"}
    page.get_by_label("Select all shown").check()
    page.get_by_role("group", name="Selected rows").get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("heading", name="All done for today")).to_be_visible()
    desk.expect_said(f"Dismissed: {len(rows)} rows.")
    eventually(lambda: _expect_open(cockpit, set()))
    desk.press("z")
    desk.count(len(rows))
    eventually(lambda: _expect_open(cockpit, actions))


def test_a_range_is_selected_with_shift(desk: Desk, page: Page) -> None:
    """A click with Shift selects every row since the one before."""
    desk.rows.nth(1).get_by_role("checkbox").click()
    desk.rows.nth(5).get_by_role("checkbox").click(modifiers=["Shift"])
    expect(page.get_by_text("5 selected")).to_be_visible()


def test_drafts_for_many_leave_out_what_cannot_be_replied_to(desk: Desk, page: Page) -> None:
    """Drafts for all selected rows are made for those with an address only, and the rest is named."""
    desk.lists([made_row(1), made_row(2), made_row(3, source="action-hub", replyable=False, until="2026-11-24")])
    draft = {"id": "draft", "isDraft": True, "webLink": "https://mail.example/draft", "alreadyExisted": False}
    desk.gives("/api/comms/draft-reply", draft)
    desk.press("r")
    expect(desk.rows).to_have_count(3)
    expect(desk.rows.nth(2).get_by_role("button", name="Draft")).to_have_count(0)
    desk.press("a", "d")
    expect(page.get_by_role("dialog")).to_contain_text("1 row cannot be replied to and is left out.")
    desk.press("Control+Enter")
    desk.expect_said("2 drafts made; nothing is sent.")


def test_refresh_keeps_selection_text_and_place(desk: Desk, page: Page) -> None:
    """After a refresh with new rows on top, the same row is current, expanded, written in, and where it was."""
    rows = [made_row(number) for number in range(10, 60)]
    desk.lists(rows)
    desk.press("r")
    expect(desk.rows).to_have_count(50)
    desk.hold("j", 30)
    desk.gives("/api/comms/message-body", "[track:B]\nThe text of the message.")
    desk.press("Enter", "d")
    page.keyboard.type("half a sentence")
    was = desk.current.evaluate("(row) => Math.round(row.getBoundingClientRect().top)")
    desk.lists([made_row(number) for number in range(5)] + rows)
    page.evaluate("cosmosSync('pulse')")
    expect(desk.rows).to_have_count(55)
    expect(desk.current).to_have_attribute("data-id", "row-40")
    expect(desk.current.locator(".text")).to_have_text("[track:B]\nThe text of the message.")
    expect(page.get_by_label("Comment in the draft")).to_be_focused()
    expect(page.get_by_label("Comment in the draft")).to_have_value("half a sentence")
    moved = desk.current.evaluate("(row, was) => Math.abs(row.getBoundingClientRect().top - was)", was)
    assert moved < 1


def test_the_sync_function_knows_one_kind(desk: Desk) -> None:
    """The page's global function refuses whatever is not `pulse`."""
    with pytest.raises(Exception, match="cosmosSync knows one kind: pulse"):
        desk.page.evaluate("cosmosSync('everything')")


def test_five_thousand_rows_are_walked_and_scrolled(page: Page, cockpit: Cockpit) -> None:
    """Of 5,000 rows a few hundred are on the page at a time; keys and the wheel reach every one of them."""
    desk = Desk(page, cockpit)
    desk.lists([made_row(number) for number in range(5000)])
    _ = desk.begin()
    expect(page.locator("#count")).to_have_text("5,000 rows")
    desk.repeat("j", 500)
    expect(desk.current).to_have_attribute("data-id", "row-500")
    expect(desk.current).to_be_in_viewport()
    assert len(desk.ids()) < 400
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator('[data-id="row-0"]')).to_be_in_viewport()
    desk.press("j")
    expect(desk.current).to_have_attribute("data-id", "row-501")
    expect(desk.current).to_be_in_viewport()


def test_keys_can_be_turned_off(desk: Desk, page: Page, cockpit: Cockpit) -> None:
    """Who speaks to the machine, or types by accident, turns the single keys off; the buttons stay."""
    number = len(cockpit.rows())
    desk.press("?")
    page.get_by_label("Keys act without Ctrl or Alt").uncheck()
    desk.press("Escape")
    desk.hold("e", 3)
    desk.count(number)
    page.reload()
    desk.rows.first.wait_for()
    desk.hold("e", 3)
    desk.count(number)


def test_a_used_link_opens_nothing(open_page: OpenPage, cockpit: Cockpit, watch: Watch) -> None:
    """A link that was used is refused, leaves the address, and the page warns of somebody else."""
    used = open_page()
    _ = used.goto(cockpit.link)
    expect(used.locator("#locked")).to_contain_text("If you did not use it, somebody else may have")
    assert "#" not in used.url
    watch.forgive("401")


def test_done_and_later_by_keyboard(desk: Desk, cockpit: Cockpit) -> None:
    """What is done or for later leaves the list, is counted, shown by a key with its reason, and comes back."""
    before, page = cockpit.listed(), desk.page
    row = cockpit.row(source="mail", track="A")
    page.locator(f'[data-id="{row["id"]}"] .preview').click()
    desk.press("f")
    desk.expect_said("Done:")
    desk.count(len(before["rows"]) - 1)
    line = page.locator("#not-listed-line")
    expect(line).to_contain_text(f"{before['not_listed']['count'] + 1} not listed:")
    desk.press("l")
    expect(page.get_by_role("dialog", name="Later")).to_be_visible()
    desk.press("Escape", "n")
    expect(page.locator(f'[data-id="{row["id"]}"] .badges')).to_contain_text("Done")
    expect(page).to_have_title(f"({before['not_listed']['count'] + 1:,}) Not listed · Orrery")
    page.locator(f'[data-id="{row["id"]}"] .preview').click()
    desk.press("b")
    desk.expect_said("Listed again:")
    desk.press("z")
    desk.expect_said("Set aside again:")
    expect(page.locator(f'[data-id="{row["id"]}"] .badges')).to_contain_text("Done")
    desk.press("z")
    desk.expect_said("Brought back:")
    page.get_by_role("button", name="Back to the list").click()
    desk.count(len(before["rows"]))


def test_later_and_undo(desk: Desk, cockpit: Cockpit, watch: Watch) -> None:
    """A day is chosen by keyboard; undo brings the row back at once, and a refused day says why."""
    number, row = len(cockpit.rows()), cockpit.row(source="teams", track="B")
    desk.page.locator(f'[data-id="{row["id"]}"] .preview').click()
    desk.press("l", "Enter")
    desk.expect_said("For later, until")
    desk.count(number - 1)
    desk.press("z")
    desk.expect_said("Brought back:")
    desk.count(number)
    assert row["id"] in {one["id"] for one in cockpit.rows()}
    meeting = cockpit.row(source="meeting")
    desk.page.locator(f'[data-id="{meeting["id"]}"] .preview').click()
    desk.page.evaluate("document.activeElement.blur()")
    desk.press("l")
    desk.page.get_by_label("Another day").fill("2027-01-01")
    desk.button("Until this day").click()
    desk.expect_said("Not set aside:")
    desk.count(number)
    watch.forgive("422")

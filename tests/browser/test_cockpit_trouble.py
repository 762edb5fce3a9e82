"""What the cockpit's page says and keeps when something fails, in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cockpit_desk import ACCOUNT, NOON, Desk, made_mailbox, made_row
from tests.browser.conftest import OpenPage, Watch
from tests.support.cockpit import Cockpit

UNREACHABLE = "The mailbox cannot be reached."
ROWS = [made_row(1), made_row(2), made_row(3, source="action-hub", replyable=False, until="2026-11-20")]


@pytest.fixture
def desk(page: Page, cockpit: Cockpit) -> Desk:
    """Return the page with three made-up rows."""
    desk = Desk(page, cockpit)
    desk.lists(ROWS)
    return desk.begin()


def test_the_link_opens_the_list(open_page: OpenPage, tmp_path: Path) -> None:
    """The link of the terminal opens the list, and its code leaves the address; a reload needs no link."""
    cockpit = Cockpit(tmp_path, "--sample").wait()
    try:
        page = open_page()
        _ = page.goto(cockpit.link)
        page.get_by_role("article").first.wait_for()
        assert page.url == f"http://{cockpit.host}/"
        _ = page.reload()
        page.get_by_role("article").first.wait_for()
    finally:
        _ = cockpit.program.end()
        cockpit.program.clear_away()


def test_a_page_without_a_token_says_how_to_open_it(open_page: OpenPage, cockpit: Cockpit) -> None:
    """Without a link or a token the page says where the link is, and asks nothing."""
    page, asked = open_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    _ = page.goto(f"http://{cockpit.host}/")
    expect(
        page.get_by_text("Open the link that the terminal shows; press Enter there for a new one.")
    ).to_be_visible()
    assert not [url for url in asked if "/api/" in url]


def test_the_token_of_another_launch_leads_to_a_new_link(page: Page, cockpit: Cockpit, watch: Watch) -> None:
    """After a restart the page says that there is a new link, and no key acts on what is no longer in sight."""
    desk = Desk(page, cockpit)
    desk.lists(ROWS)
    _ = desk.begin()
    desk.refuses("/api/comms/rows", 401, "token-wrong", "This token is not of this launch.")
    desk.press("r")
    expect(page.get_by_text("The cockpit was restarted")).to_be_visible()
    desk.press("e")
    assert not desk.storage
    watch.forgive("401")


def test_a_new_link_in_the_same_tab_unlocks_it(page: Page, cockpit: Cockpit, watch: Watch) -> None:
    """A page that is locked goes on when a link is opened in its tab, which loads no page anew."""
    _ = Desk(page, cockpit).open("token-of-another-launch")
    expect(page.get_by_text("The cockpit was restarted")).to_be_visible()
    page.route("**/api/session", lambda route: route.fulfill(json={"token": cockpit.token}))
    page.evaluate("location.hash = '#code=new'")
    page.get_by_role("article").first.wait_for()
    assert page.url == f"http://{cockpit.host}/"
    watch.forgive("401")


def test_an_outage_keeps_the_list_and_ends_by_itself(open_page: OpenPage, cockpit: Cockpit, watch: Watch) -> None:
    """Offline, a banner says what to do, the list stays and can be read; back, the banner goes without a word."""
    page = open_page()
    page.clock.install(time=NOON)
    desk = Desk(page, cockpit).begin()
    number = len(cockpit.rows())
    desk.count(number)
    page.context.set_offline(offline=True)
    desk.press("r")
    expect(page.get_by_role("alert")).to_contain_text("The cockpit does not answer. Is it still running")
    desk.count(number)
    desk.press("j", "e")
    desk.count(number - 1)
    page.context.set_offline(offline=False)
    said = desk.said.text_content()
    page.clock.run_for(5000)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(desk.said).to_have_text(said or "")
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_a_refused_dismissal_puts_the_row_back(desk: Desk, page: Page, watch: Watch) -> None:
    """An action that cannot be dismissed is back with the reason, and leaves nothing to undo."""
    desk.refuses("/api/action-hub/action", 503, "store-unavailable", "The store cannot be written.")
    desk.press("j", "j", "e")
    desk.expect_said("Not dismissed, so it is back: “Subject 3”: The store cannot be written.")
    expect(desk.rows).to_have_count(3)
    expect(desk.current).to_have_attribute("data-id", "row-3")
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
    watch.forgive("503")


def test_a_refused_undo_can_be_tried_again(desk: Desk, watch: Watch) -> None:
    """When an undo fails, the row stays away, the reason is said, and the next undo tries it again."""
    act = "/api/action-hub/action"
    desk.gives(act, {"rowId": "row-3", "action": "dismiss", "changed": True})
    desk.press("j", "j", "e")
    expect(desk.rows).to_have_count(2)
    desk.refuses(act, 503, "store-unavailable", "The store cannot be written.")
    desk.press("z")
    desk.expect_said("Not brought back: “Subject 3”: The store cannot be written.")
    expect(desk.rows).to_have_count(2)
    desk.gives(act, {"rowId": "row-3", "action": "undo", "changed": True})
    desk.press("z")
    expect(desk.rows).to_have_count(3)
    watch.forgive("503")


def test_a_refused_draft_keeps_its_comment(desk: Desk, page: Page, watch: Watch) -> None:
    """When no draft can be made, its form is back with the comment and the reason."""
    desk.refuses("/api/comms/draft-reply", 503, "mailbox-unreachable", UNREACHABLE)
    desk.press("d")
    page.keyboard.type("Yes, by noon")
    desk.press("Control+Enter")
    expect(page.get_by_role("alert")).to_have_text(f"No draft was made. {UNREACHABLE}")
    expect(page.get_by_label("Comment in the draft")).to_have_value("Yes, by noon")
    expect(page.get_by_label("Comment in the draft")).to_be_focused()
    watch.forgive("503")


def test_a_refused_task_loses_its_badge(desk: Desk, watch: Watch) -> None:
    """A task that cannot be made is no task, and the page says why."""
    desk.refuses("/api/comms/add-to-tasks", 503, "store-unavailable", "The store cannot be written.")
    desk.press("t")
    desk.expect_said("Not added to tasks: “Subject 1”: The store cannot be written.")
    expect(desk.rows.first.locator(".badge.task")).to_have_count(0)
    watch.forgive("503")


def test_a_task_in_to_do_is_not_undone_here(page: Page, cockpit: Cockpit) -> None:
    """The page says whose To Do has the task, marks its row, asks again at the next press, and leaves no undo."""
    desk = Desk(page, cockpit)
    desk.lists(ROWS, [made_mailbox(to_do=ACCOUNT)])
    path = "/api/comms/add-to-tasks"
    desk.gives(path, {"id": "task-1", "alreadyExisted": False})
    _ = desk.begin()
    desk.press("t")
    desk.expect_said(f"Added to tasks in To Do of {ACCOUNT}: “Subject 1”. A task in To Do is deleted there.")
    expect(desk.rows.first.locator(".badge.task")).to_have_count(1)
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
    desk.gives(path, {"id": "task-1", "alreadyExisted": True})
    desk.press("t")
    desk.expect_said(f"It was a task already in To Do of {ACCOUNT}: “Subject 1”.")
    desk.press("z")
    desk.expect_said("There is nothing to undo.")
    assert not [address for address in desk.asked if "action-hub" in address]


def test_a_text_that_cannot_be_read_is_tried_again(desk: Desk, page: Page, watch: Watch) -> None:
    """A text that cannot be read says why in its row, and can be asked for again."""
    desk.refuses("/api/comms/message-body", 503, "mailbox-unreachable", UNREACHABLE)
    desk.press("Enter")
    expect(desk.current).to_contain_text(f"The text cannot be shown. {UNREACHABLE}")
    desk.gives("/api/comms/message-body", "The text of the message.")
    page.get_by_role("button", name="Try again").click()
    expect(desk.current.locator(".text")).to_have_text("The text of the message.")
    watch.forgive("503")


def test_a_mailbox_in_trouble_is_named_with_its_reason(desk: Desk, page: Page) -> None:
    """A mailbox that was not read is shown with track, account and reason; its rows stay and are marked."""
    for state, words in (("stale", "Stale"), ("failed", "Failed"), ("sign-in-needed", "Sign-in needed")):
        desk.lists(ROWS, [made_mailbox(state=state, why=UNREACHABLE), made_mailbox(account="ledger", track=None)])
        desk.press("r")
        strip = page.get_by_role("region", name="Mailboxes").get_by_role("listitem").first
        for part in (words, "[track:B] public", ACCOUNT, UNREACHABLE):
            expect(strip).to_contain_text(part)
        expect(desk.rows).to_have_count(3)
        expect(desk.rows.nth(0)).to_contain_text("Stale")
        expect(desk.rows.nth(2)).not_to_contain_text("Stale")
        desk.expect_said("1 mailbox not read")


def test_rows_appear_while_mailboxes_are_read(open_page: OpenPage, cockpit: Cockpit) -> None:
    """While a mailbox is being read the page says so, and asks again every two seconds until it is read."""
    page = open_page()
    page.clock.install(time=NOON)
    desk = Desk(page, cockpit)
    desk.lists([], [made_mailbox(state="loading", at=None)])
    _ = desk.open()
    expect(page.get_by_role("heading", name="Reading the mailboxes…")).to_be_visible()
    desk.lists(ROWS)
    page.clock.run_for(2000)
    expect(desk.rows).to_have_count(3)
    asked = len(desk.asked)
    page.clock.run_for(10_000)
    assert len(desk.asked) == asked


def test_an_empty_list_says_so(page: Page, cockpit: Cockpit) -> None:
    """With every mailbox read and no row, the page says that nothing waits."""
    desk = Desk(page, cockpit)
    desk.lists([])
    _ = desk.open()
    expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()


def test_a_list_that_cannot_be_read_says_why(page: Page, cockpit: Cockpit, watch: Watch) -> None:
    """When there never was a list, the page says why, and Try again reads it."""
    desk = Desk(page, cockpit)
    desk.refuses("/api/comms/rows", 503, "store-unavailable", "The store cannot be read.")
    _ = desk.open()
    expect(page.get_by_role("heading", name="The list could not be read")).to_be_visible()
    expect(page.get_by_text("The store cannot be read.")).to_be_visible()
    desk.lists(ROWS)
    page.get_by_role("button", name="Try again").click()
    expect(desk.rows).to_have_count(3)
    watch.forgive("503")


def test_newer_files_are_offered(desk: Desk, page: Page) -> None:
    """When the page's files have changed on disk, the page says so and reloads at a press."""
    desk.lists(ROWS, page="0123456789abcdef")
    desk.press("r")
    expect(page.get_by_role("alert")).to_contain_text("This page is older than its files.")
    desk.lists(ROWS)
    page.get_by_role("button", name="Reload").click()
    expect(desk.rows).to_have_count(3)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_operation_that_the_process_does_not_know_asks_for_a_restart(
    desk: Desk, page: Page, watch: Watch
) -> None:
    """A page that is newer than the process says that the cockpit is to be started again."""
    desk.refuses("/api/comms/add-to-tasks", 404, "not-found", "There is nothing here.")
    desk.press("t")
    expect(page.get_by_role("alert")).to_contain_text("End it in its terminal with Ctrl-C and start it again.")
    watch.forgive("404")


def test_what_is_broken_is_on_the_health_button(page: Page, cockpit: Cockpit) -> None:
    """The button of the health panel counts what is broken; the panel says why, and what to do."""
    desk = Desk(page, cockpit)
    broken = {
        "part": "mailbox B",
        "state": "broken",
        "why": UNREACHABLE,
        "todo": "See whether this machine is online.",
    }
    desk.gives(
        "/api/health", {"findings": [{**broken, "part": "store", "state": "ok"}, broken], "at": NOON.isoformat()}
    )
    _ = desk.begin()
    page.get_by_role("button", name="Health: 1 broken").click()
    panel = page.get_by_role("dialog", name="Health")
    expect(panel.get_by_role("heading", level=3)).to_have_text(["broken mailbox B", "ok store"])
    expect(panel).to_contain_text("See whether this machine is online.")


def test_a_row_stays_while_somebody_answers_it(desk: Desk, page: Page) -> None:
    """A row that leaves its mailbox while a comment is written in it stays until the form is closed."""
    desk.press("d")
    page.keyboard.type("half a sentence")
    desk.lists(ROWS[1:])
    page.evaluate("cosmosSync('pulse')")
    expect(desk.current).to_contain_text("No longer there")
    expect(page.get_by_label("Comment in the draft")).to_have_value("half a sentence")
    desk.press("Escape")
    page.evaluate("cosmosSync('pulse')")
    expect(desk.rows).to_have_count(2)

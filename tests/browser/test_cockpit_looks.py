"""The cockpit's page for people who hear it, magnify it or hold a phone, and for messages that mean harm."""

import re
from itertools import product

import pytest
from playwright.sync_api import Page, expect

from orrery.syntax.track import labels_in
from tests.browser.accessibility import violations
from tests.browser.cockpit_desk import HEAD, Desk, Json, made_head, made_mailbox, made_recipients, made_row
from tests.browser.conftest import OpenPage, Watch
from tests.support.cockpit import Cockpit
from tests.support.soak import SOAKING

OVERRIDE = "\u202e"
HARM = "<img src=x onerror=alert(1)><script>alert(1)</script>"
LONG = "x" * 3000
WARNING: Json = {
    "kind": "known-person",
    "words": "You know Cy as cy@lab.example, but the address is x@evil.example.",
}
FIRST: Json = {"kind": "first-contact", "words": "No other mail from or to this address since 1 November 2026."}
EVERY_KIND = [
    made_row(1, priority="high", web_link="https://mail.example/1", warning=WARNING["words"]),
    made_row(2, source="teams", track="A", account="ann@corp.example"),
    made_row(3, source="meeting", received_at="2099-11-21T12:00:00Z"),
    made_row(4, source="action-hub", replyable=False, until="2020-11-20", priority="low"),
]
HOSTILE = [
    made_row(
        1,
        address=HARM + OVERRIDE,
        warning=HARM + OVERRIDE,
        sender=HARM,
        subject=HARM + OVERRIDE + "gpj.exe",
        preview=HARM,
        web_link="javascript:alert(1)",
    ),
    made_row(2, sender=LONG, subject=LONG, preview=LONG, account=LONG, web_link="data:text/html,hello"),
    made_row(3, sender=f"{OVERRIDE}Ann", subject="a\nb\u2028c\x07d", source="<b>", track="<b>", priority="<b>"),
    made_row(4, sender="مرحبا", subject="שלום", received_at="not a time", until="not a day", web_link="http://["),
]


LOOKS = [(360, "light"), (1280, "dark")]
"""No colour depends on the width; `./run soak looks` has all pairs, and 768 pixels."""


@pytest.mark.parametrize(("width", "scheme"), product((360, 768, 1280), ("light", "dark")) if SOAKING else LOOKS)
def test_every_state_is_accessible(
    open_page: OpenPage, cockpit: Cockpit, watch: Watch, width: int, scheme: str
) -> None:
    """In every state, from the list to an outage, axe-core finds nothing and nothing scrolls sideways."""
    page = open_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    desk = Desk(page, cockpit)
    desk.lists(EVERY_KIND, tasks=["row-1"])
    desk.gives("/api/comms/message-body", "The text of the message.")
    desk.gives(
        HEAD, made_head(WARNING, FIRST, to_all=made_recipients("Cy", "Bo", cc=["Di"], more=70), is_newer=True)
    )
    _ = desk.begin()
    _expect_clean(page, width)
    desk.press("j", "Enter", "d")
    expect(desk.current.locator(".text:not([aria-busy])")).to_be_visible()
    _expect_clean(page, width)
    desk.press("Escape", "x")
    _expect_clean(page, width)
    desk.press("?")
    _expect_clean(page, width)
    desk.press("Escape")
    page.get_by_role("button", name="Health").click()
    page.locator(".finding").first.wait_for()
    _expect_clean(page, width)
    desk.press("Escape", "/")
    page.keyboard.type("no such words")
    expect(page.get_by_role("heading", name="No row matches")).to_be_visible()
    _expect_clean(page, width)
    desk.press("Control+a", "Delete", "Escape")
    desk.lists([made_row(1)], [made_mailbox(state="failed", why="The mailbox cannot be reached.", at=None)])
    desk.press("r")
    expect(desk.rows).to_have_count(1)
    _expect_clean(page, width)
    desk.lists([], [made_mailbox(state="failed", why="The mailbox cannot be reached.", at=None)])
    page.context.set_offline(offline=True)
    page.evaluate("cosmosSync('pulse')")
    page.get_by_role("button", name="Health").click()
    expect(page.locator("#banner-offline")).to_be_attached()
    desk.press("Escape")
    _expect_clean(page, width)
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def _expect_clean(page: Page, width: int) -> None:
    scheme_only = () if SOAKING or width == LOOKS[0][0] else ("color-contrast", "target-size")
    assert violations(page, *scheme_only) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1280] if SOAKING else [360])
def test_hostile_texts_are_only_texts(open_page: OpenPage, cockpit: Cockpit, width: int) -> None:
    """Mark-up, overrides of the writing direction, endless words and odd values stay texts of their own row."""
    page = open_page(viewport={"width": width, "height": 800})
    desk = Desk(page, cockpit)
    desk.lists(HOSTILE, [made_mailbox(state="stale", why=HARM + LONG, account=HARM)])
    desk.gives("/api/comms/message-body", HARM + OVERRIDE + "\n" + LONG)
    harm: Json = {"kind": HARM, "words": HARM + OVERRIDE + LONG}
    people = [{"name": HARM + OVERRIDE, "address": LONG}] * 30
    whom: Json = {"to": people, "cc": people, "more": 999}
    desk.gives(HEAD, made_head(harm, to_all=whom, sender=people[0], alone=whom) | whom)
    desk.gives("/api/health", {"findings": [{"part": HARM, "state": HARM, "why": LONG, "todo": HARM}], "at": HARM})
    draft = {"id": HARM, "isDraft": True, "webLink": "javascript:alert(1)", "alreadyExisted": False}
    desk.gives("/api/comms/draft-reply", draft)
    _ = desk.begin()
    expect(desk.rows).to_have_count(4)
    for _row in HOSTILE:
        desk.press("Enter", "d", "Control+Enter", "j")
    expect(page.locator(".note", has_text="Draft made")).to_have_count(4)
    page.get_by_role("button", name="Health").click()
    page.locator(".finding").wait_for()
    assert page.locator(".row img, .row script, .row b, .finding img, main a[href]:not(.skip)").count() == 0
    shown = page.evaluate(
        "document.body.innerText + [...document.querySelectorAll('[aria-label]')].map((e) => e.ariaLabel)"
    )
    assert OVERRIDE not in shown
    assert "abc d" not in shown
    assert HARM in shown
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_links_are_followed_without_a_trace(page: Page, cockpit: Cockpit) -> None:
    """A link to the mailbox opens elsewhere and tells nothing about this page."""
    desk = Desk(page, cockpit)
    desk.lists([made_row(1, web_link="https://mail.example/1")])
    desk.gives("/api/comms/message-body", "Text")
    _ = desk.begin()
    desk.press("Enter")
    link = page.get_by_role("link", name="Open in the mailbox")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(link).to_have_attribute("target", "_blank")


def test_track_and_source_are_in_words(page: Page, cockpit: Cockpit) -> None:
    """Each row says its source, track and account in words, and so does its name for a screen reader."""
    desk = Desk(page, cockpit)
    poses = made_row(
        1, track="A", account="ann@corp.example", priority="high", warning="It poses.", address="x@y.example"
    )
    desk.lists([poses, made_row(2, source="teams")])
    _ = desk.begin()
    for part in ("Mail", "[track:A] internal", "ann@corp.example", "High", "Check the sender"):
        expect(desk.rows.nth(0)).to_contain_text(part)
    for copy in (desk.rows.nth(0).inner_text(), desk.rows.nth(0).inner_html(), page.content()):
        assert "A" in labels_in(copy.encode())
    expect(desk.rows.nth(0)).to_have_accessible_name(
        "Mail from Sender 1, x@y.example, Subject 1, Check the sender, High, It poses., track A · internal, "
        "ann@corp.example"
    )
    expect(desk.rows.nth(1)).to_have_accessible_name(
        "Teams from Sender 2, Subject 2, track B · public material, ann@lab.example"
    )


def test_who_wrote_and_where_an_answer_goes(page: Page, cockpit: Cockpit) -> None:
    """An opened row shows addresses, and warnings in words; a draft whom it goes to, before it is made."""
    desk = Desk(page, cockpit)
    desk.lists([made_row(1, sender="Cy", address="x@evil.example"), made_row(2)])
    desk.gives("/api/comms/message-body", "Text")
    desk.gives(HEAD, made_head(WARNING, FIRST, to_all=made_recipients("Cy", "Bo", cc=["Di"]), is_newer=True))
    _ = desk.begin()
    desk.press("j", "k", "Enter")
    facts = desk.current.locator(".facts")
    expect(facts).to_contain_text("From Cy <x@evil.example>")
    expect(facts).to_contain_text("To Ann <ann@lab.example>")
    expect(facts).to_contain_text("Cc Di <di@lab.example>")
    expect(facts.get_by_role("listitem").nth(0)).to_have_text(f"Check: {WARNING['words']}")
    expect(facts.get_by_role("listitem").nth(1)).to_have_text(f"New: {FIRST['words']}")
    desk.press("d")
    form = desk.current.locator(".draft")
    to = form.locator(".to")
    expect(to).to_contain_text("It answers the newest message of this conversation: from Cy <cy@lab.example>")
    expect(to).to_contain_text(WARNING["words"])
    expect(to).to_contain_text("To Cy <cy@lab.example>")
    expect(to).not_to_contain_text("Bo")
    form.get_by_label("Answer all 3").check()
    expect(to).to_contain_text("To Cy <cy@lab.example>, Bo <bo@lab.example>")
    expect(to).to_contain_text("Cc Di <di@lab.example>")
    draft = {"id": "d", "isDraft": True, "webLink": "", "alreadyExisted": False}
    asked = list[object]()
    page.on("request", lambda one: asked.append(one.post_data_json) if "draft-reply" in one.url else None)
    desk.gives("/api/comms/draft-reply", draft)
    desk.press("Escape", "d")
    expect(form.get_by_label("Answer all 3")).to_be_checked()
    desk.press("Control+Enter")
    desk.expect_said("Draft made")
    assert asked == [{"rowId": "row-1", "replyAll": True}]


def test_an_answer_to_all_by_one_key(page: Page, cockpit: Cockpit) -> None:
    """Shift with d; a message that names nobody else offers no answer to all."""
    desk = Desk(page, cockpit)
    desk.lists([made_row(1), made_row(2)])
    desk.gives(HEAD, made_head(to_all=made_recipients("Cy", "Bo")))
    _ = desk.begin()
    desk.press("j", "k", "Shift+D")
    expect(desk.current.locator(".to")).to_contain_text("Bo <bo@lab.example>")
    desk.press("Escape")
    desk.gives(HEAD, made_head())
    desk.press("j", "d")
    expect(desk.current.locator(".to")).to_have_text("To Cy <cy@lab.example>")
    expect(desk.current.get_by_text("Answer all")).to_be_hidden()


def test_a_head_that_cannot_be_read(page: Page, cockpit: Cockpit, watch: Watch) -> None:
    """The text is shown, and what is missing is said, in the row and in the form."""
    desk = Desk(page, cockpit)
    desk.lists([made_row(1)])
    desk.gives("/api/comms/message-body", "Text")
    desk.refuses(HEAD, 503, "mailbox-unreachable", "The mailbox gave no answer.")
    _ = desk.begin()
    desk.press("j", "k", "Enter", "d")
    expect(desk.current.locator(".text")).to_contain_text("Text")
    expect(desk.current.locator(".facts")).to_contain_text(
        "Whom it went to cannot be shown. The mailbox gave no answer."
    )
    expect(desk.current.locator(".to")).to_have_text(
        "Whom it goes to cannot be shown. The mailbox gave no answer."
    )
    watch.forgive("503")


def test_nothing_is_sent_is_said(page: Page, cockpit: Cockpit) -> None:
    """The page says in plain sight that it sends nothing, and no button says Send."""
    _ = Desk(page, cockpit).begin()
    expect(page.get_by_text("Nothing is ever sent from here.")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("^Send")).count() == 0


def test_tab_leaves_the_list(page: Page, cockpit: Cockpit) -> None:
    """Tab visits the current row and its buttons only, and then goes on: the list is no trap."""
    desk = Desk(page, cockpit)
    desk.lists([made_row(number) for number in range(30)])
    _ = desk.begin()
    desk.press("j")
    for _step in range(8):
        desk.press("Tab")
    expect(page.get_by_role("button", name="Undo")).to_be_focused()

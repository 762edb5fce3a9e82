"""The page of the sandbox's mail accounts in a real browser: a message by its button, on a phone and a desk."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations
from tests.browser.conftest import OpenPage, looks
from tests.support.graph import GraphBox, graph

BOB = "bob@corp.example"


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphBox]:
    """One sandbox with Microsoft Graph for these tests."""
    with graph(tmp_path_factory.mktemp("graph")) as box:
        yield box


def test_a_message_by_its_button(open_page: OpenPage, box: GraphBox) -> None:
    """Without script, too: an ordinary one, and one of the odd ones."""
    page = open_page(java_script_enabled=False)
    page.goto(f"{box.web.base_url}/mail-accounts")
    account = page.get_by_role("article", name=BOB)
    expect(account).to_contain_text("inbox 2")
    account.get_by_role("button", name="Deliver a message").click()
    expect(account).to_contain_text("inbox 3")
    account.get_by_role("combobox").select_option("no_from")
    account.get_by_role("button", name="Deliver", exact=True).click()
    expect(account).to_contain_text("inbox 4")


def test_every_size_and_scheme(open_page: OpenPage, box: GraphBox) -> None:
    """The page fits a phone and a desk in both schemes, with sends on it, and breaks no rule of axe-core."""
    with box.client(BOB) as web:
        web.post("/me/messages/1/replyAll")
        page = open_page()
        page.goto(f"{box.web.base_url}/mail-accounts")
        expect(page.get_by_role("alert")).to_be_visible()
        assert [wrong for _ in looks(page) for wrong in violations(page)] == []
    assert box.taken_sends()

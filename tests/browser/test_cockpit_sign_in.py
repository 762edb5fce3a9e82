"""A mailbox whose sign-in ran out has one button, which leads to the page of the provider and back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.cockpit_desk import Desk
from tests.browser.conftest import OpenPage
from tests.support.cockpit import Cockpit, running_cockpit
from tests.support.graph import WRITING, GraphBox, graph
from tests.support.program import run_orrery
from tests.support.tracks import ANN_A, ANN_B, track_toml


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphBox]:
    """Return a running Microsoft Graph with its identity provider."""
    with graph(tmp_path_factory.mktemp("graph")) as found:
        yield found


@pytest.fixture
def cockpit(box: GraphBox, tmp_path: Path) -> Iterator[Cockpit]:
    """Return a cockpit with a mailbox of track A, whose account has not signed in."""
    config = tmp_path / "orrery.toml"
    text = track_toml(box.authority, tmp_path, box.ca_file, WRITING)
    config.write_text(f'{text}[[cockpit.mailboxes]]\nkind = "microsoft"\naccount = "{ANN_A}"\n')
    assert run_orrery("cockpit", "store", "create", "--config", str(config)).returncode == 0
    with running_cockpit(tmp_path, "--config", str(config)) as found:
        yield found


@pytest.fixture
def desk(open_page: OpenPage, cockpit: Cockpit) -> Desk:
    """Return the page, in a browser that takes the sandbox's certificate."""
    return Desk(open_page(ignore_https_errors=True), cockpit).open()


def signing_in(desk: Desk) -> Page:
    """Press the button, and return the tab that it opens."""
    button = desk.page.get_by_role("button", name=f"Sign in as {ANN_A}")
    with desk.page.context.expect_page() as tab:
        button.click()
    return tab.value


def test_one_button_instead_of_an_empty_list(desk: Desk, box: GraphBox) -> None:
    """The person signs in in another tab, and the rows come by themselves."""
    del box
    mailboxes = desk.page.get_by_role("region", name="Mailboxes")
    expect(mailboxes.get_by_text("Sign-in needed")).to_be_visible()
    expect(mailboxes.get_by_text("is not signed in")).to_be_visible()
    expect(desk.page.get_by_role("heading", name="Sign in to see your rows")).to_be_visible()
    tab = signing_in(desk)
    tab.get_by_role("button", name=ANN_A).click()
    expect(tab.get_by_role("heading", name="The browser is done")).to_be_visible()
    tab.close()
    expect(desk.page.get_by_role("article").first).to_be_visible()
    expect(desk.page.get_by_text(f"{ANN_A} is signed in, and its rows are here.")).to_be_visible()
    expect(desk.page.get_by_role("button", name=f"Sign in as {ANN_A}")).to_have_count(0)


def test_a_sign_in_that_is_refused(desk: Desk, box: GraphBox) -> None:
    """A guest is refused, the page says so, and the button is there for another try."""
    del box
    tab = signing_in(desk)
    tab.get_by_role("button", name=ANN_B).click()
    expect(tab.get_by_role("heading", name="The browser is done")).to_be_visible()
    expect(desk.page.get_by_role("region", name="Mailboxes").get_by_text("guest")).to_be_visible()
    expect(desk.page.get_by_role("button", name=f"Sign in as {ANN_A}")).to_be_visible()

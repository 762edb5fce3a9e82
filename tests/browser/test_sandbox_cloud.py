"""The sandbox's cloud page in a real browser: an outage before one's eyes, without script, on a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Watch, looks
from tests.browser.test_sandbox_analytics import UNNAMED
from tests.support.cloud import CloudBox, running_cloud


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CloudBox]:
    """One cloud as the demo has it."""
    with running_cloud(tmp_path_factory.mktemp("cloud"), factor=30.0, owner="owner@northwind.example") as box:
        yield box


@pytest.fixture
def box(module_box: CloudBox) -> CloudBox:
    """The module's cloud with its machine running."""
    module_box.advance(600)
    if module_box.known()["machine"]["power"] != "running":
        module_box.pull("start")
        module_box.advance(600)
    return module_box


def test_an_outage_shows_itself(page: Page, box: CloudBox) -> None:
    """After the button the page follows by itself, from the shutdown to the end."""
    page.goto(f"{box.web.base_url}/cloud")
    page.get_by_role("button", name="Shut down").click()
    expect(page.get_by_role("cell", name="The host shuts the machine down")).to_be_visible()
    box.advance(60)
    expect(page.get_by_role("cell", name="The webhook answers 202")).to_be_visible()


def test_a_refused_button_says_why(open_page: OpenPage, watch: Watch, box: CloudBox) -> None:
    """Without script, too: a machine that is down is not shut down again."""
    page = open_page(java_script_enabled=False)
    page.goto(f"{box.web.base_url}/cloud")
    page.get_by_role("button", name="Deallocate").click()
    page.get_by_role("button", name="Shut down").click()
    expect(page.get_by_role("alert")).to_have_text("The machine is not running.")
    watch.forgive("400")


def test_every_size_and_scheme(open_page: OpenPage, box: CloudBox) -> None:
    """The page fits a phone and a desk in both schemes, and everything on it has a name."""
    box.pull("shutdown")
    box.advance(60)
    page = open_page()
    page.goto(f"{box.web.base_url}/cloud")
    assert [wrong for _ in looks(page) for wrong in page.evaluate(UNNAMED)] == []

"""The gateway's page of the sandbox in a real browser, on a phone, in both schemes."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.accessibility import violations_in_both_schemes
from tests.browser.conftest import OpenPage
from tests.support.running_sandbox import Receiver, Running, running

WIDTH = 360


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a sandbox without a service."""
    with running(tmp_path_factory.mktemp("gateway"), Receiver()) as one:
        yield one


def test_the_buttons_on_a_phone(open_page: OpenPage, box: Running) -> None:
    """The page fits, axe-core finds nothing, and a button leads back to the page with the new state."""
    page = open_page(viewport={"width": WIDTH, "height": 800})
    page.goto(f"{box.url}/gateway")
    for button, state in (("Silent", "silent"), ("Pause", "paused"), ("Start", "active")):
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.locator(".state").first).to_have_text(state)
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    assert violations_in_both_schemes(page) == []

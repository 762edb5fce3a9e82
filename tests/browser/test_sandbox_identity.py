"""The sandbox's identity provider in a real browser: a code by its button, an account on the page, on a phone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

import pytest
from msal.oauth2cli.authcode import AuthCodeReceiver
from playwright.sync_api import Browser, expect

from orrery.sandbox.identity.directory import CLIENT_A, TENANT_A
from tests.browser.conftest import PATIENCE_MS, OpenPage, looks
from tests.browser.test_sandbox_analytics import UNNAMED
from tests.support.identity import IdentityBox, identity
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityBox]:
    """One identity provider for these tests."""
    with identity(tmp_path_factory.mktemp("identity")) as box:
        yield box


@pytest.fixture
def box(module_box: IdentityBox) -> IdentityBox:
    """The module's identity provider with every lever undone."""
    module_box.undo()
    return module_box


def waiting_code(box: IdentityBox) -> str:
    """Return a user code that waits for its approval."""
    with box.https() as web:
        asked = {"client_id": CLIENT_A, "scope": "User.Read openid"}
        return web.post(f"/{TENANT_A}/oauth2/v2.0/devicecode", data=asked).json()["user_code"]


def test_a_code_appears_and_is_approved(open_page: OpenPage, box: IdentityBox) -> None:
    """A code that comes while the page is open shows itself, and is gone once a button has approved it."""
    page = open_page()
    page.goto(f"{box.web.base_url}/identity")
    code = waiting_code(box)
    form = page.get_by_role("form", name=f"Approve {code}")
    form.get_by_role("button", name="Approve as bob@corp.example").click()
    expect(page.get_by_text(code)).to_have_count(0)


def test_a_lever_by_its_button(open_page: OpenPage, box: IdentityBox) -> None:
    """Without script, too: it is turned on, and undone."""
    page = open_page(java_script_enabled=False)
    page.goto(f"{box.web.base_url}/identity")
    page.get_by_role("button", name="Turn on consent").click()
    assert "consent" in box.known["levers"]
    page.get_by_role("button", name="Undo consent").click()
    expect(page.get_by_role("button", name="Turn on consent")).to_be_visible()
    assert box.known["levers"] == {}


def test_the_chosen_account_reaches_the_library(chromium: Browser, box: IdentityBox) -> None:
    """The authorization page posts its answer by itself to the listener of Microsoft's own library."""
    # Not by `page`, which lets no request fail: a browser asks that listener for an icon, and it is gone by then.
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with closing(page), AuthCodeReceiver() as receiver, ThreadPoolExecutor() as threads:
        listening: Any = receiver
        answer = threads.submit(listening.get_auth_response, timeout=PATIENCE, state="the-state")
        query = {
            "client_id": CLIENT_A,
            "redirect_uri": f"http://127.0.0.1:{listening.get_port()}",
            "response_type": "code",
            "response_mode": "form_post",
            "scope": "User.Read openid",
            "state": "the-state",
        }
        page.goto(f"{box.web.base_url}/{TENANT_A}/oauth2/v2.0/authorize?{urlencode(query)}")
        page.get_by_role("button", name="Ann (Lab), a guest").click()
        expect(page.get_by_text("Authentication complete")).to_be_visible()
        assert answer.result()["code"]


def test_every_size_and_scheme(open_page: OpenPage, box: IdentityBox) -> None:
    """The page fits a phone and a desk in both schemes, and everything on it has a name."""
    waiting_code(box)
    box.doctor("id", set="tid", value="a value that is long enough to be wider than any phone that there is")
    page = open_page()
    page.goto(f"{box.web.base_url}/identity")
    assert [wrong for _ in looks(page) for wrong in page.evaluate(UNNAMED)] == []

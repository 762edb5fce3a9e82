"""The owner's widget in a real browser by a fake clock: password, count by planet, refresh, errors in words."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import OpenPage, Watch
from tests.browser.live_widgets import Network, queries

PASSWORD = "password-of-the-fixture"  # noqa: S105 - it opens nothing
INTEL = "realtime=cosmos&intel=1"
MINUTE = 60
PLANETS = [{"planet": "Demo Planet", "users": 9}, {"planet": "Outer Planet", "users": 3}]
REFUSED = '{"ok": false, "error": "Unauthorized"}'


class Owner(Network):
    """The network of a page with the widget: knows the password, and answers intel and refresh apart."""

    intel: object = None
    refresh: object = None
    status = 200

    def give_intel(self, **more: object) -> None:
        """From now on answer the intel read with 12 visitors on two planets, and with `more`."""
        self.intel = {"totalUnique": 12, "scope": "cosmos", "byPlanet": PLANETS} | self.made(20) | more
        self.answer = self._guard

    def _guard(self, route: Route) -> None:
        if route.request.headers.get("authorization") != f"Bearer {PASSWORD}":
            route.fulfill(status=401, body=REFUSED, content_type="application/json")
            return
        body = self.refresh if route.request.method == "POST" else self.intel
        route.fulfill(status=self.status, body=json.dumps(body), content_type="application/json")

    def open_locked(self) -> None:
        """Open the page with the widget."""
        self.give_intel()
        self.open("<live-admin></live-admin>")

    def sign_in(self, password: str = PASSWORD) -> None:
        """Type the password and press Enter."""
        self.page.get_by_label("Admin password").fill(password)
        self.page.keyboard.press("Enter")

    def open_signed_in(self) -> None:
        """Open the page, and the widget with the right password."""
        self.open_locked()
        self.sign_in()
        expect(self.page.get_by_role("button", name="Refresh now")).to_be_visible()


@pytest.fixture
def owner(page: Page) -> Iterator[Owner]:
    """Return the network around the owner's page."""
    owner = Owner(page)
    yield owner
    owner.let_go()


@pytest.fixture
def admin(page: Page) -> Locator:
    """Return the widget."""
    return page.locator("live-admin")


def test_nothing_is_asked_before_the_password(owner: Owner, admin: Locator) -> None:
    """The widget starts with a password field and asks nothing."""
    owner.open_locked()
    expect(admin.get_by_label("Admin password")).to_have_attribute("type", "password")
    owner.pass_time(10 * MINUTE)
    assert owner.asked == []


def test_password_opens_count_and_planets(owner: Owner, admin: Locator) -> None:
    """The right password shows the total, its age, and a table of planets with their figures."""
    owner.open_signed_in()
    expect(admin).to_contain_text("12 people in the last 30 minutes")
    expect(admin).to_contain_text("Counted 20 seconds ago")
    rows = admin.get_by_role("table").get_by_role("row")
    expect(rows).to_have_text(["PlanetPeople", "Demo Planet9", "Outer Planet3"])
    expect(admin.get_by_role("status")).to_be_empty()
    expect(admin.get_by_label("Admin password")).to_be_hidden()


def test_password_goes_in_the_header_only(owner: Owner, page: Page, admin: Locator) -> None:
    """The password is in no address, no storage, no cookie, and not in the page any more."""
    owner.open_signed_in()
    assert queries(owner.asked) == [INTEL]
    for place in ("location.href", "{...sessionStorage}", "{...localStorage}", "document.cookie"):
        assert PASSWORD not in page.evaluate(f"JSON.stringify({place})")
    assert admin.get_by_label("Admin password").input_value() == ""


def test_wrong_password_says_so(owner: Owner, admin: Locator, watch: Watch) -> None:
    """A wrong password is said to be one, and another can be typed at once."""
    owner.open_locked()
    owner.sign_in("wrong")
    expect(admin.get_by_role("status")).to_have_text("That is not the admin password.")
    expect(admin.get_by_label("Admin password")).to_be_focused()
    owner.sign_in()
    expect(admin).to_contain_text("12 people in the last")
    watch.forgive("401")


def test_password_that_no_header_carries_asks_nobody(owner: Owner, admin: Locator) -> None:
    """A password with letters that a header cannot carry is wrong without a question."""
    owner.open_locked()
    owner.sign_in("pässwört ✓")
    expect(admin.get_by_role("status")).to_have_text("That is not the admin password.")
    assert owner.asked == []


def test_password_that_is_changed_locks(owner: Owner, admin: Locator, watch: Watch) -> None:
    """When the service refuses the password later, what was shown goes and the form comes back."""
    owner.open_signed_in()
    owner.says(REFUSED, status=401)
    owner.pass_time(5 * MINUTE + 5)
    expect(admin.get_by_label("Admin password")).to_be_visible()
    expect(admin.get_by_role("table")).to_have_count(0)
    expect(admin.get_by_role("status")).to_have_text("That is not the admin password.")
    watch.forgive("401")


def test_forget_locks(owner: Owner, admin: Locator) -> None:
    """Forget the password takes everything away and asks no more."""
    owner.open_signed_in()
    admin.get_by_role("button", name="Forget the password").click()
    expect(admin.get_by_label("Admin password")).to_be_focused()
    expect(admin.get_by_role("table")).to_have_count(0)
    owner.pass_time(10 * MINUTE)
    assert len(owner.asked) == 1


def test_intel_is_asked_every_five_minutes(owner: Owner) -> None:
    """By itself the widget asks once in five minutes, and never in a hidden tab."""
    owner.open_signed_in()
    owner.pass_time(4 * MINUTE + 50)
    assert len(owner.asked) == 1
    owner.pass_time(11, step=1)
    assert len(owner.asked) == 2
    owner.hide()
    owner.pass_time(30 * MINUTE)
    assert len(owner.asked) == 2


def test_refresh_shows_what_came_of_it(owner: Owner, admin: Locator) -> None:
    """Refresh now posts, says what was counted, and shows the new count."""
    owner.open_signed_in()
    owner.refresh = {"ok": True, "active": 14, "pages_count": 6} | owner.made(0)
    owner.give_intel(totalUnique=14)
    admin.get_by_role("button", name="Refresh now").click()
    expect(admin.get_by_role("status")).to_have_text("Refreshed: 14 people, 6 pages.")
    expect(admin).to_contain_text("14 people in the last 30 minutes")
    assert [request.method for request in owner.asked] == ["GET", "POST", "GET"]
    assert queries(owner.asked) == [INTEL, "refresh=realtime", INTEL]


def test_refresh_without_pages_says_so(owner: Owner, admin: Locator) -> None:
    """When pages gave way, the result says that they were not counted (decision 20)."""
    owner.open_signed_in()
    owner.refresh = {"ok": True, "active": 1, "pages_count": None} | owner.made(0)
    admin.get_by_role("button", name="Refresh now").click()
    expect(admin.get_by_role("status")).to_have_text("Refreshed: 1 person; pages were not counted this time.")


def test_refused_refresh_leaves_what_is_shown(owner: Owner, admin: Locator) -> None:
    """A refresh that fails says why in words and overwrites nothing."""
    owner.open_signed_in()
    owner.refresh = {"ok": False, "error": "quota-exhausted", "message": "Quota."}
    admin.get_by_role("button", name="Refresh now").click()
    expect(admin.get_by_role("status")).to_contain_text("The analytics quota is used up.")
    expect(admin).to_contain_text("12 people in the last 30 minutes")
    expect(admin.get_by_role("table").get_by_role("row")).to_have_count(3)


def test_double_click_refreshes_once(owner: Owner, admin: Locator) -> None:
    """A double click is one refresh."""
    owner.open_signed_in()
    owner.refresh = {"ok": True, "active": 14, "pages_count": 6} | owner.made(0)
    admin.get_by_role("button", name="Refresh now").dblclick()
    expect(admin.get_by_role("status")).to_contain_text("Refreshed")
    assert [request.method for request in owner.asked].count("POST") == 1


ERRORS = [
    ("quota-exhausted", "The analytics quota is used up."),
    ("no-data", "The counter has not been filled yet."),
    ("data-too-stale", "The last count is over 30 minutes old."),
    ("toString", "The service answers: toString."),
]


def test_error_of_intel_is_said_in_words(owner: Owner, admin: Locator) -> None:
    """An error is said in words, and its zero is not shown as a count."""
    owner.open_locked()
    for error, words in ERRORS:
        owner.give_intel(totalUnique=0, generated_at=None, age_s=None, byPlanet=None, error=error)
        owner.sign_in()
        expect(admin.get_by_role("status")).to_contain_text(words)
        expect(admin).to_contain_text("not known")
        admin.get_by_role("button", name="Forget the password").click()


def test_known_total_is_shown_though_the_planets_failed(owner: Owner, admin: Locator) -> None:
    """With a fresh total and no planets, the total is shown beside the reason."""
    owner.open_locked()
    owner.give_intel(byPlanet=None, error="quota-exhausted")
    owner.sign_in()
    expect(admin).to_contain_text("12 people in the last 30 minutes")
    expect(admin.get_by_role("status")).to_contain_text("quota")


def test_service_without_a_key_says_so(owner: Owner, admin: Locator, watch: Watch) -> None:
    """A service that is not set up says what is missing, and the form stays for another try."""
    owner.open_locked()
    owner.status = 503
    owner.intel = {"ok": False, "error": "no-auth"}
    owner.sign_in()
    expect(admin.get_by_role("status")).to_have_text("The service has no key for the analytics provider.")
    expect(admin.get_by_label("Admin password")).to_be_visible()
    watch.forgive("503")


def test_unreachable_service_says_so(owner: Owner, admin: Locator, watch: Watch) -> None:
    """Without a network the widget says so, keeps what it has, and tries again later."""
    owner.open_signed_in()
    owner.fails()
    owner.pass_time(5 * MINUTE + 5)
    expect(admin.get_by_role("status")).to_have_text("The service cannot be reached just now.")
    expect(admin).to_contain_text("12 people in the last 30 minutes")
    owner.give_intel(totalUnique=15)
    owner.pass_time(5 * MINUTE + 5)
    expect(admin).to_contain_text("15 people in the last 30 minutes")
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_old_count_is_not_shown_as_now(owner: Owner, admin: Locator, watch: Watch) -> None:
    """A count that is over 30 minutes old goes, and its chart too."""
    owner.open_signed_in()
    owner.fails()
    owner.pass_time(31 * MINUTE)
    expect(admin).to_contain_text("not known")
    expect(admin.get_by_role("table")).to_have_count(0)
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_planets_are_text(owner: Owner, admin: Locator) -> None:
    """A planet's name is shown letter by letter; rows without a whole number are left out."""
    owner.open_locked()
    owner.give_intel(byPlanet=[{"planet": "<b>x</b>", "users": "2"}, {"planet": "Half", "users": 0.5}, None])
    owner.sign_in()
    expect(admin.get_by_role("rowheader")).to_have_text(["<b>x</b>"])


def test_widget_is_used_with_the_keyboard(owner: Owner, page: Page, admin: Locator) -> None:
    """Tab, typing and Enter are enough; after opening, the focus is on the next thing to do."""
    owner.open_locked()
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(admin.get_by_role("button", name="Refresh now")).to_be_focused()
    page.keyboard.press("Tab")
    expect(admin.get_by_role("button", name="Forget the password")).to_be_focused()
    page.keyboard.press("Enter")
    expect(admin.get_by_label("Admin password")).to_be_focused()


def test_other_address_needs_the_password_again(owner: Owner, admin: Locator) -> None:
    """A password is never sent to another address than the one it was given for."""
    owner.open_signed_in()
    admin.evaluate("(admin) => admin.setAttribute('src', '/elsewhere')")
    expect(admin.get_by_label("Admin password")).to_be_visible()


def test_widget_fits_a_phone(open_page: OpenPage) -> None:
    """At 360 px nothing scrolls sideways, locked or open."""
    page = open_page(viewport={"width": 360, "height": 740})
    owner = Owner(page)
    owner.open_locked()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    owner.sign_in()
    expect(page.get_by_role("table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360

"""The sandbox's analytics page in a real browser: by pointer, by keyboard, without script, on a phone."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, looks
from tests.support.analytics_provider import VISITORS, Provider

UNNAMED = """() => [...document.querySelectorAll('input, select, button, meter, output, a')].filter(one => {
  if (one.type === 'hidden') return false;
  const named = (one.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id));
  const words = [...(one.labels || []), one, ...named].map(each => each && each.textContent).join('').trim();
  return !words && !one.getAttribute('aria-label');
}).map(one => one.outerHTML)"""


def test_the_slider(page: Page, provider: Provider) -> None:
    """The slider acts while it is moved, and shows what it is at."""
    page.goto(f"{provider.url}/analytics")
    slider = page.get_by_role("slider", name="How many people are on the sites")
    expect(page.locator("output")).to_have_text(str(VISITORS))
    with page.expect_response("**/_visitors"):
        slider.fill("250")
    expect(page.locator("output")).to_have_text("250")
    assert provider.known()["visitors"] == 250


def test_stop_and_start(page: Page, provider: Provider) -> None:
    """A button stops the provider permanently, another starts it again."""
    page.goto(f"{provider.url}/analytics")
    page.get_by_role("button", name="Stop analytics").click()
    expect(page.get_by_text("stopped")).to_be_visible()
    assert provider.known()["running"] is False
    page.get_by_role("button", name="Start analytics").click()
    expect(page.get_by_role("button", name="Stop analytics")).to_be_visible()
    assert provider.ask().status_code == 200


def test_the_gauges(page: Page, provider: Provider) -> None:
    """A gauge shows what is left of its quota, follows by itself, and can be set and refilled."""
    page.goto(f"{provider.url}/analytics")
    gauge = page.get_by_role("meter", name="Tokens a day")
    expect(gauge).to_have_attribute("value", "25000")
    provider.ask()
    expect(gauge).to_have_attribute("value", "24990")
    expect(page.get_by_role("row", name="total 200").first).to_be_visible()
    page.get_by_role("combobox", name="Quota").select_option("Tokens a day")
    page.get_by_label("Left", exact=True).fill("15")
    page.get_by_role("button", name="Set quota").click()
    expect(gauge).to_have_attribute("value", "15")
    page.get_by_role("button", name="Refill all").click()
    expect(gauge).to_have_attribute("value", "25000")


def test_every_size_and_scheme(open_page: OpenPage, provider: Provider, tmp_path: Path) -> None:
    """The page fits a phone and a desk in both schemes, and everything on it has a name."""
    provider.ask()
    provider.fault("analytics_429_day")
    provider.ask()
    page = open_page()
    page.goto(f"{provider.url}/analytics")
    for look in looks(page):
        assert page.evaluate(UNNAMED) == []
        page.screenshot(path=tmp_path / f"analytics-{look}.png", full_page=True)

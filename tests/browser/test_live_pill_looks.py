"""How the live pill looks and speaks, and how a page changes it (decision 28)."""

from collections import Counter

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.live_widgets import Network, queries

PILL = "<live-pill></live-pill>"
MINUTE = 60

RECORD = """() => {
  window.announced = [];
  const pill = document.querySelector("live-pill").shadowRoot.querySelector("[role=status]");
  const record = () => {
    const text = pill.textContent;
    if (pill.ariaLive !== "off" && window.announced.at(-1) !== text) window.announced.push(text);
  };
  new MutationObserver(record).observe(pill, { childList: true, characterData: true, subtree: true });
}"""


@pytest.fixture
def pill(page: Page) -> Locator:
    """Return the pill."""
    return page.locator("live-pill")


def test_attributes_take_effect_at_once(network: Network, pill: Locator) -> None:
    """Label, threshold, address and interval may change while the pill is shown."""
    network.show(PILL)
    pill.evaluate("(pill) => pill.setAttribute('label', 'here')")
    expect(pill).to_have_text("12 here")
    pill.evaluate("(pill) => pill.setAttribute('min-visible', '13')")
    expect(pill).to_be_hidden()
    pill.evaluate("(pill) => pill.removeAttribute('min-visible')")
    expect(pill).to_be_visible()
    network.counts(30)
    pill.evaluate("(pill) => pill.setAttribute('src', '/api/stats?realtime=1')")
    expect(pill).to_have_text("30 here")
    network.counts(31)
    pill.evaluate("(pill) => pill.setAttribute('interval', '5')")
    network.pass_time(6)
    expect(pill).to_have_text("31 here")


def test_interval_that_is_none_is_the_usual_one(network: Network) -> None:
    """An interval that is no number is 45 seconds."""
    network.show('<live-pill interval="often"></live-pill>')
    network.pass_time(44, step=1)
    assert len(network.asked) == 1
    network.pass_time(2, step=1)
    assert len(network.asked) == 2


def test_no_interval_hammers_the_service(network: Network) -> None:
    """Whatever a page writes as the interval, a question comes every 5 seconds at most."""
    pill = '<live-pill src="/api/stats?{0}" interval="{0}"></live-pill>'
    network.show("".join(map(pill.format, ("-1", "0.001", "1"))))
    network.pass_time(20, step=1)
    assert max(Counter(queries(network.asked)).values()) <= 1 + 20 / 5


OVER = [
    (30, "12 live", "12 in the last 30 minutes on all sites"),
    (6, "12 live", "12 in the last 6 minutes on all sites"),
    (5, "12 live now", "12 in the last 5 minutes on all sites"),
    (1, "12 live now", "12 in the last minute on all sites"),
    (None, "12 live", "12 in the last 30 minutes on all sites"),
]


def test_pill_says_over_what_time(network: Network, pill: Locator) -> None:
    """More than five minutes are not called now; title and accessible name say how many, and of which sites."""
    counted = {"totalUnique": 12, "scope": "cosmos"} | network.made(5)
    network.says_each([counted | {"window_minutes": minutes} for minutes, _, _ in OVER])
    network.open(
        "".join(f'<live-pill src="/api/stats?element={number}"></live-pill>' for number in range(len(OVER)))
    )
    expect(pill).to_have_text([text for _, text, _ in OVER])
    for number, (_, _, name) in enumerate(OVER):
        status = pill.nth(number).get_by_role("status", name=name, exact=True)
        expect(status).to_have_attribute("title", name)


def test_a_least_that_is_no_number_hides_nothing(network: Network, page: Page) -> None:
    """Nonsense in `min-visible` is as if it were not there."""
    odd = ("abc", "", " ", "-3", "2.5", "NaN")
    network.show("".join(f'<live-pill min-visible="{least}"></live-pill>' for least in odd), 1)
    expect(page.locator("live-pill:visible")).to_have_text(["1 live"] * len(odd))


def test_removed_pill_stops(network: Network, pill: Locator) -> None:
    """A pill that is taken out of the page asks no more; put back, it shows what is known and asks again."""
    network.show(PILL)
    pill.evaluate("(pill) => { window.kept = pill; pill.remove(); }")
    network.pass_time(5 * MINUTE)
    assert len(network.asked) == 1
    network.counts(9)
    network.page.evaluate("document.body.append(window.kept)")
    expect(pill).to_have_text("9 live")


def test_announcements_are_polite_and_rare(network: Network, pill: Locator) -> None:
    """A live region tells changes only, and no more than one a minute."""
    network.show(PILL)
    expect(pill.get_by_role("status")).to_have_attribute("aria-live", "polite")
    network.page.evaluate(RECORD)
    network.pass_time(3 * MINUTE)
    assert network.page.evaluate("window.announced") == []
    for count in range(20, 32):
        network.counts(count)
        network.pass_time(45)
    announced = network.page.evaluate("window.announced")
    assert announced[0] == "20 live"
    assert 3 <= len(announced) <= 9


def test_reduced_motion_stills_the_dot(open_page: OpenPage) -> None:
    """The dot pulses, but not for a reader who asks for less motion."""
    running = "document.getAnimations({ subtree: true }).length"
    moving, still = open_page(), open_page(reduced_motion="reduce")
    for page in (moving, still):
        Network(page).show(PILL)
        expect(page.locator("live-pill")).to_be_visible()
    counted = "document.querySelector('live-pill').shadowRoot.getAnimations().length"
    assert running
    assert (moving.evaluate(counted), still.evaluate(counted)) == (1, 0)


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const flat = (...colours) => {
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([...rgb]) => rgb.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const style = getComputedStyle(document.querySelector("live-pill").shadowRoot.firstChild);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const ground = flat(dark ? "#121212" : "#ffffff", style.backgroundColor);
  const [low, high] = [light(ground), light(flat(style.color))].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


def test_text_has_contrast_in_both_schemes(network: Network, page: Page) -> None:
    """Without any style of the page, the pill can be read in the light and in the dark."""
    network.show(PILL)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(CONTRAST) >= 4.5


def test_custom_properties_dress_the_pill(network: Network, page: Page, pill: Locator) -> None:
    """The page sets colours, corner and font by custom properties."""
    network.show(PILL)
    page.evaluate("""() => {
      const style = document.querySelector("live-pill").style;
      const wanted = { background: "rgb(1, 2, 3)", ink: "rgb(4, 5, 6)", radius: "7px", font: "20px monospace" };
      for (const [name, value] of Object.entries(wanted)) style.setProperty(`--live-pill-${name}`, value);
    }""")
    for name, value in {
        "background-color": "rgb(1, 2, 3)",
        "color": "rgb(4, 5, 6)",
        "border-radius": "7px",
        "font-size": "20px",
    }.items():
        expect(pill.get_by_role("status")).to_have_css(name, value)


def test_page_cannot_show_a_hidden_pill_by_accident(network: Network, page: Page, pill: Locator) -> None:
    """A page that styles `live-pill` with a display of its own does not show a hidden one."""
    network.show(PILL, 0)
    page.evaluate("document.querySelector('live-pill').style.display = 'block'")
    expect(pill).to_be_hidden()


def test_pill_takes_no_focus(network: Network, page: Page) -> None:
    """The keyboard passes the pill by: there is nothing to operate in it."""
    network.show(f"<a href='#a'>A</a>{PILL}<a href='#b'>B</a>")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "B"


def test_script_may_be_loaded_twice(network: Network, page: Page, pill: Locator) -> None:
    """A second copy of the script, from another address, leaves the first one working."""
    network.show(PILL)
    page.evaluate("import('/live/pill.js?again')")
    network.counts(13)
    network.pass_time(45)
    expect(pill).to_have_text("13 live")

"""The analytics tile in a real browser by a fake clock: count, pages, age, and in words why there is none."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage, Watch
from tests.browser.live_widgets import Network, queries

TILE = "<live-tile></live-tile>"
MINUTE = 60
PAGES = [
    {"page": "Cloud Navigator", "path": "/shop/northwind/cloud-navigator", "users": 7},
    {"page": "Practice", "path": None, "users": 4},
    {"page": "Front page", "path": "/", "users": 1},
]


@pytest.fixture
def tile(page: Page) -> Locator:
    """Return the tile."""
    return page.locator("live-tile")


def say(network: Network, active: object = 12, age: float = 20, **more: object) -> None:
    """From now on give the site read this count."""
    network.says({"active": active, "pages": PAGES} | network.made(age) | more)


def show(network: Network, active: object = 12, age: float = 20, **more: object) -> None:
    """Open a page with a tile whose counter gives this."""
    say(network, active, age, **more)
    network.open(TILE)
    network.settle()


def why(tile: Locator) -> Locator:
    """Return the sentence that says why."""
    return tile.get_by_role("status")


def test_tile_shows_count_age_and_pages(network: Network, tile: Locator) -> None:
    """The site read's count, age and pages are shown, and nothing is wrong."""
    show(network)
    expect(tile).to_contain_text("12 people in the last 30 minutes")
    expect(tile.get_by_role("time")).to_have_text("Counted 20 seconds ago")
    rows = tile.get_by_role("table", name="Top pages").get_by_role("row")
    expect(rows).to_have_text(["PagePeople", "Cloud Navigator7", "Practice4", "Front page1"])
    expect(why(tile)).to_be_empty()
    assert queries(network.asked) == ["realtime=1"]


def test_age_goes_on(network: Network, tile: Locator) -> None:
    """The age is told in words and goes on between answers."""
    show(network)
    network.pass_time(5, step=5)
    expect(tile.get_by_role("time")).to_have_text("Counted 25 seconds ago")
    network.says("", status=200)
    network.pass_time(2 * MINUTE)
    expect(tile.get_by_role("time")).to_have_text("Counted 2 minutes ago")


def test_count_has_its_word(network: Network, page: Page) -> None:
    """Nobody, one person, two people."""
    network.show_each("live-tile", [{"active": count, "pages": PAGES} | network.made(20) for count in range(3)])
    words = ["0 people in the last", "1 person in the last", "2 people in the last"]
    expect(page.locator("live-tile")).to_contain_text(words)


def test_page_with_a_path_is_a_link(network: Network, tile: Locator) -> None:
    """A page whose path is known is a link, another one is text."""
    show(network)
    expect(tile.get_by_role("link")).to_have_text(["Cloud Navigator", "Front page"])
    expect(tile.get_by_role("link").first).to_have_attribute("href", "/shop/northwind/cloud-navigator")


UNSAFE = ["//evil.test/", "/\\evil.test", "/\t/evil.test", "javascript:alert(1)", "https://evil.test/", "x", 1, ""]


def test_path_that_leads_elsewhere_is_no_link(network: Network, tile: Locator) -> None:
    """A path that is none of this site stays text."""
    show(network, pages=[{"page": "Elsewhere", "path": path, "users": 1} for path in UNSAFE])
    expect(tile.get_by_role("row")).to_have_text(["PagePeople", *["Elsewhere1"] * len(UNSAFE)])
    expect(tile.get_by_role("link")).to_have_count(0)


ELSEWHERE = "https://planet.example"


@pytest.mark.parametrize(
    ("attributes", "links"),
    [
        ("", ["/shop/northwind/cloud-navigator", "/"]),
        ('site="https://planet.example"', [f"{ELSEWHERE}/shop/northwind/cloud-navigator", f"{ELSEWHERE}/"]),
        ('site="nonsense"', []),
        ('src="http://127.0.0.1:8099/api/stats?realtime=1"', []),
        (
            'src="http://127.0.0.1:8099/api/stats?realtime=1" site="https://planet.example/"',
            [f"{ELSEWHERE}/shop/northwind/cloud-navigator", f"{ELSEWHERE}/"],
        ),
    ],
)
def test_links_lead_to_the_site_that_is_counted(
    network: Network, tile: Locator, attributes: str, links: list[str]
) -> None:
    """On a foreign site no link leads to that site's own pages: `site` names the one that is counted."""
    say(network)
    network.policy += "; connect-src 'self' http://127.0.0.1:8099"
    network.open(f"<live-tile {attributes}></live-tile>")
    expect(tile.get_by_role("row")).to_have_count(4)
    found = [one.get_attribute("href") for one in tile.get_by_role("link").all()]
    assert found == links


def test_older_pages_tell_their_own_age(network: Network, tile: Locator) -> None:
    """Pages that were counted before the total say when, and their age goes on."""
    before = network.made(20 + 11 * MINUTE)["generated_at"]
    show(network, pages_generated_at=before, pages_age_s=20 + 11 * MINUTE)
    expect(tile.get_by_role("table", name="Top pages, counted 11 minutes ago")).to_be_visible()
    expect(tile.get_by_role("time")).to_have_text("Counted 20 seconds ago")


def test_nobody_is_on_no_page(network: Network, tile: Locator) -> None:
    """A zero never stands over a table of people."""
    show(network, 0)
    expect(tile).to_contain_text("0 people in the last 30 minutes")
    expect(tile.get_by_role("table")).to_have_count(0)


def test_titles_are_text(network: Network, tile: Locator, page: Page) -> None:
    """A title with markup in it is shown letter by letter."""
    title = "<img src=x onerror=\"document.title='broken'\">"
    show(network, pages=[{"page": title, "path": None, "users": 1}])
    expect(tile.get_by_role("rowheader")).to_have_text(title)
    expect(page).to_have_title("Widgets")
    assert tile.locator("img").count() == 0


def test_rows_that_are_none_are_left_out(network: Network, tile: Locator) -> None:
    """A row without a title or without a whole number is left out; the others are shown, ten at most."""
    odd: list[object] = [None, 3, "x", {}, {"page": 1, "users": 1}, {"page": "Half", "users": 0.5}]
    show(network, pages=[*odd, *({"page": f"Page {n}", "path": None, "users": n} for n in range(20, 0, -1))])
    expect(tile.get_by_role("rowheader")).to_have_text([f"Page {n}" for n in range(20, 10, -1)])
    expect(tile).to_contain_text("More pages are not shown.")


def test_count_without_pages_says_so(network: Network, tile: Locator) -> None:
    """A count whose pages are missing is shown, and the tile says that they are not known."""
    show(network, pages=None)
    expect(tile).to_contain_text("12 people in the last 30 minutes")
    expect(tile).to_contain_text("Which pages they are on is not known.")


def test_tile_says_that_it_asks(network: Network, tile: Locator) -> None:
    """Before the first answer nothing is wrong: the tile says that it asks."""
    network.is_silent()
    network.open(TILE)
    expect(tile).to_contain_text("asking…")
    expect(why(tile)).to_be_empty()


EMPTY: dict[str, object] = {"active": 0, "pages": [], "generated_at": None, "age_s": None, "stale": True}


REASONS = {
    "no-data": "The counter has not been filled yet.",
    "data-too-stale": "The last count is over 30 minutes old.",
    "kv-not-bound": "The store cannot be reached.",
    "constructor": "The counter gave an answer that makes no sense.",
}


def test_nothing_to_show_has_a_reason(network: Network, tile: Locator) -> None:
    """Without a count, the tile says why; it never shows the error's zero."""
    network.show_each("live-tile", [EMPTY | {"error": error} for error in REASONS])
    expect(why(tile)).to_have_text([*REASONS.values()])
    expect(tile).to_contain_text(["not known"] * len(REASONS))


def test_unreachable_counter_says_since_when(network: Network, tile: Locator, watch: Watch) -> None:
    """While the counter cannot be reached, the last count stays, and the tile says since when."""
    show(network)
    network.fails()
    network.pass_time(3 * MINUTE)
    expect(why(tile)).to_contain_text("The counter cannot be reached since ")
    expect(why(tile)).to_contain_text("This is the last count that came.")
    expect(tile).to_contain_text("12 people in the last 30 minutes")
    first = why(tile).text_content()
    network.pass_time(3 * MINUTE)
    expect(why(tile)).to_have_text(str(first))
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_last_count_goes_at_30_minutes(network: Network, tile: Locator, watch: Watch) -> None:
    """At 30 minutes the last count goes, its pages with it, and the tile says both what and why."""
    show(network)
    network.fails()
    network.pass_time(30 * MINUTE)
    expect(tile).to_contain_text("not known")
    expect(tile.get_by_role("time")).to_have_text("Last counted 30 minutes ago")
    expect(why(tile)).to_contain_text("cannot be reached since")
    expect(why(tile)).to_contain_text("The last count is over 30 minutes old.")
    expect(tile.get_by_role("table")).to_have_count(0)
    watch.forgive("ERR_INTERNET_DISCONNECTED")


def test_stale_count_says_that_newer_ones_are_late(network: Network, tile: Locator) -> None:
    """Between 3 and 30 minutes the real count is shown, with a word about its age."""
    show(network, age=12 * MINUTE)
    expect(tile.get_by_role("time")).to_have_text("Counted 12 minutes ago")
    expect(why(tile)).to_have_text("Newer counts are late.")


def test_good_answer_takes_the_reason_away(network: Network, tile: Locator) -> None:
    """The next good answer is shown and the reason goes."""
    network.says(EMPTY | {"error": "no-data"})
    network.open(TILE)
    expect(why(tile)).not_to_be_empty()
    say(network, 3)
    network.pass_time(46)
    expect(tile).to_contain_text("3 people in the last")
    expect(why(tile)).to_be_empty()


def test_reason_is_announced_once(network: Network, tile: Locator, page: Page) -> None:
    """The live region is left alone while its sentence stays the same, though the age goes on."""
    show(network, age=12 * MINUTE)
    expect(why(tile)).to_have_text("Newer counts are late.")  # the first answer is shown
    page.evaluate("""() => {
      window.changes = 0;
      const status = document.querySelector("live-tile").shadowRoot.querySelector("[role=status]");
      new MutationObserver(() => window.changes++).observe(status, { childList: true, subtree: true });
    }""")
    network.pass_time(3 * MINUTE)
    assert page.evaluate("window.changes") == 0
    expect(why(tile)).to_have_text("Newer counts are late.")


def test_link_with_the_focus_keeps_it(network: Network, tile: Locator, page: Page) -> None:
    """New pages are not drawn under a reader who is on a link, but as soon as the reader leaves it."""
    show(network)
    page.keyboard.press("Tab")
    expect(tile.get_by_role("link").first).to_be_focused()
    say(network, 30, pages=[{"page": "New", "path": "/new", "users": 30}])
    network.pass_time(46)
    expect(tile.get_by_role("link").first).to_be_focused()
    expect(tile).to_contain_text("30 people in the last")
    tile.get_by_role("link").first.blur()
    network.pass_time(1)
    expect(tile.get_by_role("link")).to_have_text(["New"])


def test_removed_tile_stops(network: Network, tile: Locator) -> None:
    """A tile that is taken out of the page asks no more."""
    show(network)
    tile.evaluate("(tile) => tile.remove()")
    network.pass_time(5 * MINUTE)
    assert len(network.asked) == 1


def test_tile_fits_a_phone_in_both_schemes(open_page: OpenPage) -> None:
    """At 360 px a tile with a long title scrolls nothing sideways, and follows the colour scheme."""
    page = open_page(viewport={"width": 360, "height": 740})
    show(Network(page), pages=[{"page": "Donaudampfschifffahrtsgesellschaft" * 3, "path": "/a", "users": 12345}])
    expect(page.locator("live-tile").get_by_role("table")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    section = page.locator("live-tile").locator("section")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        ground = section.evaluate("(section) => getComputedStyle(section).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_bars_are_as_long_as_their_figures(network: Network, page: Page) -> None:
    """The bars stand to each other as the figures do, under a policy that forbids inline styles."""
    show(network)
    widths = page.evaluate("""() => [...document.querySelector("live-tile").shadowRoot.querySelectorAll(".bar")]
      .map((bar) => bar.getAnimations().forEach((each) => each.finish()) ?? bar.getBoundingClientRect().width)""")
    assert [round(width / widths[0], 2) for width in widths] == [1, round(4 / 7, 2), round(1 / 7, 2)]

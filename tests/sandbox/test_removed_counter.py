"""The counter of single tools stays removed (spec 2, What the service does 7).

Its figures, such as articles read or prompts polished, were written down by hand. Its data file holds an empty
list, its partial renders nothing unless a base count is above 0, and nothing refreshes it. It must not be made
again without explicit sign-off: the live counter is the honest one.
"""

import tomllib
from pathlib import Path

import pytest

from orrery.sandbox.site import SiteConfig, SiteProduct
from orrery.sandbox.site.rendering import WEB, Renderer, read_tools

ROOT = Path(__file__).resolve().parents[2]
DATA = WEB / "site" / "data" / "tool_counters.toml"
PRODUCT = SiteProduct("northwind", "cloud-navigator", "Cloud Navigator", "US$39", "Instant access.")
PLACES = ("src", "deploy", "tests", "bench", "tools", ".github")
TEXTS = {".py", ".toml", ".yml", ".yaml", ".sh", ".js", ".html", ".service", ".timer", ".conf"}
NAMED_IN = {"src/orrery/sandbox/site/rendering.py", "tests/sandbox/test_removed_counter.py"}
"""The one place that reads the list, and this test."""


@pytest.fixture
def renderer() -> Renderer:
    """Return what renders the shop's pages."""
    return Renderer(SiteConfig("http://127.0.0.1:1", "token-of-the-fixture", (PRODUCT,)))


def badge(renderer: Renderer, **tool: object) -> str:
    """Render the badge of a tool."""
    return bytes(renderer.page("tool_badge.html", tool={"name": "Articles read", **tool}).body).decode().strip()


def test_list_of_tools_is_empty() -> None:
    """The data file holds an empty list and nothing else."""
    assert tomllib.loads(DATA.read_text("utf-8")) == {"tools": []}
    assert read_tools() == []


@pytest.mark.parametrize("count", [0, -1, -1000, "7", "", None, True, 0.5, [7]], ids=repr)
def test_badge_without_a_count_above_zero_is_nothing(renderer: Renderer, count: object) -> None:
    """A base count of 0, a negative one, text or none renders nothing."""
    assert badge(renderer, base_count=count) == ""


def test_badge_without_any_count_is_nothing(renderer: Renderer) -> None:
    """A tool that has no base count renders nothing."""
    assert badge(renderer) == ""


def test_badge_can_be_seen(renderer: Renderer) -> None:
    """A base count above 0 would be shown, so that the tests above can fail."""
    assert "Articles read: 7" in badge(renderer, base_count=7)


def test_nothing_refreshes_it() -> None:
    """No job, no schedule and no other code names the list: it is read where pages are rendered."""
    files = [path for folder in PLACES for path in (ROOT / folder).rglob("*.*") if path.suffix in TEXTS]
    naming = {path for path in files if "tool_counters" in path.read_text("utf-8")}
    assert {str(path.relative_to(ROOT)) for path in naming} == NAMED_IN

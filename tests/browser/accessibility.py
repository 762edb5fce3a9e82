"""What axe-core finds wrong with a page for people who hear it, magnify it, or have no pointer."""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page
from pydantic import BaseModel

from tests.support.soak import SOAKING

SETTLED = """() => Promise.all(document.getAnimations()
  .filter((one) => one instanceof CSSTransition).map((one) => one.finished)).then(() => null)"""
"""Waits until colours have changed."""


class _Node(BaseModel):
    target: list[str | list[str]]
    html: str


class _Violation(BaseModel):
    id: str
    help: str
    nodes: list[_Node]


class _Results(BaseModel):
    violations: list[_Violation]


def violations_in_both_schemes(page: Page) -> list[str]:
    """Return them in the light, and in the dark those that depend on colours."""
    page.emulate_media(color_scheme="light")
    page.evaluate(SETTLED)
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    page.evaluate(SETTLED)
    return found + [f"dark: {one}" for one in violations(page, *(() if SOAKING else ("color-contrast",)))]


def violations(page: Page, *rules: str) -> list[str]:
    """Return a line for each element of the page, as it is now, that breaks a rule of axe-core, or of `rules`."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    asked: dict[str, object] = {"resultTypes": ["violations"]}
    if rules:
        asked["runOnly"] = {"type": "rule", "values": [*rules]}
    found = _Results.model_validate(
        page.evaluate("async (asked) => ({violations: (await axe.run(asked)).violations})", asked)
    )
    return [f"{one.id}: {one.help}: {node.html[:200]}" for one in found.violations for node in one.nodes]

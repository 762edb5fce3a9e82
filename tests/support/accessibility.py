"""What axe-core finds wrong with a page for people who hear it, magnify it, or have no pointer."""

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page
from pydantic import BaseModel


class _Node(BaseModel):
    target: list[str | list[str]]
    html: str


class _Violation(BaseModel):
    id: str
    help: str
    nodes: list[_Node]


class _Results(BaseModel):
    violations: list[_Violation]


def violations(page: Page) -> list[str]:
    """Return one line for each element of the page, as it is now, that breaks one of axe-core's rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = _Results.model_validate(page.evaluate("() => axe.run({ resultTypes: ['violations'] })"))
    return [f"{one.id}: {one.help}: {node.html[:200]}" for one in found.violations for node in one.nodes]

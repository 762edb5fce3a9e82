"""The owner's page says of a panel what the list of problems says, and nothing else (decision 59)."""

from datetime import timedelta

from orrery.owner_page.page import overall
from orrery.owner_page.verdicts import judged
from orrery.ports.health import Finding, Problem
from orrery.ports.panels import Button, Panel, PanelSource
from tests.support.clock import START

LOST = Problem(Finding("secret push_token", "broken", "It is gone.", "Put it back.", essential=True), START)
FOLLOWS = Problem(Finding("push", "broken", "No token.", "x", essential=True), START, cause="secret push_token")
SLOW = Problem(Finding("job: backup", "broken", "It failed.", "See the log.", essential=False), START)
ASIDE = Problem(SLOW.finding, START, acknowledged=True, until=START + timedelta(hours=1))


def panel(title: str, found: Panel, *parts: str) -> PanelSource:
    """Return a source that gives this panel."""

    async def give() -> Panel:
        return found

    return PanelSource(title, give, parts=parts)


async def page(*problems: Problem) -> list[Panel]:
    """Return the list, a panel that thinks itself bad, and one that is good, with these problems."""
    sources = [
        panel("Secrets", Panel("Secrets", "x", "bad"), "secret "),
        panel("Receipts", Panel("Receipts", "x", "good"), "push"),
    ]
    read = [await one.panel() for one in judged(sources, lambda: problems)]
    return [one for one in read if one]


async def test_a_panel_has_no_verdict_of_its_own() -> None:
    """Without a problem no panel needs attention; with one of its part it does, the more urgent the more."""
    assert [one.tone for one in await page()] == ["good", "plain", "good"]
    assert [one.tone for one in await page(LOST, FOLLOWS)] == ["bad", "bad", "good"]
    assert [one.tone for one in await page(SLOW)] == ["attention", "plain", "good"]


async def test_the_page_counts_what_the_list_counts() -> None:
    """What follows from another problem, and what is put aside, is listed and not counted."""
    panels = await page(LOST, SLOW, FOLLOWS)
    assert overall(panels) == "2 things need attention"
    assert [row[0] for row in panels[0].rows] == ["secret push_token", "job: backup", "push"]
    assert panels[0].rows[2][2] == "It follows from secret push_token."
    panels = await page(LOST, ASIDE)
    assert (overall(panels), panels[0].headline) == (
        "1 thing needs attention, 1 acknowledged",
        "1 needs attention, 1 acknowledged",
    )
    assert panels[0].rows[0][-1] == Button("For a day", "aside", LOST.key, LOST.extent)
    assert panels[0].rows[1][2:] == (
        "Acknowledged until 2026-03-01 13:00 UTC.",
        "`orrery ack job: backup --end` brings it back.",
        Button("Bring it back", "back", ASIDE.key),
    )
    assert overall(await page(ASIDE)) == "Nothing needs attention, 1 acknowledged"

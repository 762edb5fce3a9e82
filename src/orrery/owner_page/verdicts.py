"""The verdict of each panel that shows parts, from the list of problems (decision 59)."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from orrery.ports.health import URGENT, Problem, count_line
from orrery.ports.panels import Button, Panel, PanelSource, Tone, utc_text

TITLE = "Problems"

MOST_IN_FULL = 3
"""How many open problems the folded page shows in full; the others have a line each."""

Listed = Callable[[], Sequence[Problem]]


def judged(sources: Sequence[PanelSource], problems: Listed) -> list[PanelSource]:
    """Return the sources with panels that look as the problems of their parts, and one that lists all of them."""

    async def listed() -> Panel:
        return _list(problems())

    return [PanelSource(TITLE, listed, 0), *(_judged(one, problems) if one.parts else one for one in sources)]


def _judged(source: PanelSource, problems: Listed) -> PanelSource:
    async def panel() -> Panel | None:
        found = await source.panel()
        if found is None:
            return None
        own = [one for one in problems() if one.is_open and _is_of(one.finding.plain, source.parts)]
        calm: Tone = "good" if found.tone == "good" else "plain"
        # The list counts them.
        return replace(found, tone=_tone(own) or calm, count=0)

    return replace(source, panel=panel)


def _is_of(part: str, parts: Sequence[str]) -> bool:
    """Return whether a part is one of these; those that end in a space or a colon are beginnings of names."""
    return part in parts or part.startswith(tuple(one for one in parts if one.endswith((" ", ":"))))


def _tone(problems: Sequence[Problem]) -> Tone | None:
    if any(one.severity == URGENT for one in problems):
        return "bad"
    return "attention" if problems else None


def _list(problems: Sequence[Problem]) -> Panel:
    wanting = [one for one in problems if one.is_open]
    columns = ("Problem", "Since", "Why", "What to do", "Put aside")
    rows = tuple((one.key, utc_text(one.since), *one.shown, _button(one)) for one in problems)
    tone = _tone(wanting) or "good"
    aside = sum(one.acknowledged for one in problems)
    shown = columns if rows else ()
    listed = Panel(TITLE, count_line(problems), tone, "", shown, rows, count=len(wanting), aside=aside)
    return replace(listed, in_full=min(MOST_IN_FULL, len(wanting)))


def _button(problem: Problem) -> Button:
    if problem.acknowledged:
        return Button("Bring it back", "back", problem.key)
    return Button("For a day", "aside", problem.key, problem.extent)

"""The panel of the intents that wait for approval, for the owner's page. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from orrery.approvals.chain import LogEntry, impersonal
from orrery.ports.panels import Panel, utc_text
from orrery.runtime.operations import Intent

LATELY = timedelta(days=7)
"""So far back refused approvals are counted."""

_COLUMNS = ("Intent", "What", "State", "Since")


def panel_of(
    found: Sequence[tuple[str, Intent]], log: Sequence[LogEntry], now: datetime, *, unreadable: int = 0
) -> Panel:
    """Return the panel of intents with their states as text, and of the log's newest entries, newest first.

    `unreadable` is the number of intents that cannot be read.
    """
    panel = _panel_of(found, log, now)
    if not unreadable:
        return panel
    todo = f"Intents that cannot be read: {unreadable}. See `orrery approvals verify`. {panel.todo}"
    return replace(panel, tone="bad", todo=todo)


def _panel_of(found: Sequence[tuple[str, Intent]], log: Sequence[LogEntry], now: datetime) -> Panel:
    open_ = [(words, intent) for words, intent in found if words in {"waiting", "unknown"}]
    rows = tuple((one.id, impersonal(one.summary), words, utc_text(one.proposed_at)) for words, one in open_)
    logged = _logged(log, now)
    if not rows:
        return Panel("Approvals", "Nothing waits for your approval", "good", logged)
    unknown = sum(words == "unknown" for words, _ in open_)
    headline = f"{len(open_) - unknown} waiting for your approval"
    if unknown:
        headline += f", {unknown} with an unknown outcome"
        todo = "Ask what became of one with `orrery approvals settle ID`."
        return Panel("Approvals", headline, "bad", f"{todo} {logged}", _COLUMNS, rows)
    todo = "Read one with `orrery approvals show ID`, then sign or withdraw it."
    return Panel("Approvals", headline, "attention", f"{todo} {logged}", _COLUMNS, rows)


def _logged(log: Sequence[LogEntry], now: datetime) -> str:
    refused = sum(one.kind == "refused" and now - one.at <= LATELY for one in log)
    refusals = f"Refused in {LATELY.days} days: {refused}."
    return f"{refusals} Log {log[0].head}" if log else "Nothing was ever proposed."

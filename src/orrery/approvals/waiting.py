"""The panel of the intents that wait for approval, for the owner's page. Pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from orrery.approvals.chain import LogEntry, impersonal
from orrery.ports.panels import Panel, Tone, utc_text
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
    open_ = [(words, intent) for words, intent in found if words in {"waiting", "unknown"}]
    unknown = sum(words == "unknown" for words, _ in open_)
    headline = f"{len(open_) - unknown} waiting for your approval" if open_ else "Nothing waits for your approval"
    todo = "Read one with `orrery approvals show ID`, then sign or withdraw it. " if open_ else ""
    if unknown:
        headline += f", {unknown} with an unknown outcome"
        todo = "Ask what became of one with `orrery approvals settle ID`. "
    if unreadable:
        todo = f"Intents that cannot be read: {unreadable}. See `orrery approvals list`. {todo}"
    tone: Tone = "bad" if unknown or unreadable else "attention" if open_ else "good"
    rows = tuple((one.id, impersonal(one.summary), words, utc_text(one.proposed_at)) for words, one in open_)
    return Panel("Approvals", headline, tone, f"{todo}{_logged(log, now)}", _COLUMNS if rows else (), rows)


def _logged(log: Sequence[LogEntry], now: datetime) -> str:
    refused = sum(one.kind == "refused" and now - one.at <= LATELY for one in log)
    refusals = f"Refused in {LATELY.days} days: {refused}."
    return f"{refusals} Log {log[0].head}" if log else "Nothing was ever proposed."

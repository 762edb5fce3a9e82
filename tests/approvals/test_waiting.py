"""What waits for the owner's word, on the owner's page (issue 4, item 9)."""

from datetime import timedelta

from orrery.approvals.chain import EntryKind, LogEntry, following
from orrery.approvals.waiting import LATELY, panel_of
from orrery.runtime.operations import Intent
from tests.support.clock import START

HOUR = timedelta(hours=1)


def intent(summary: str = "Expire the test session") -> Intent:
    """Return an intent."""
    return Intent(
        id="in-0123456789ab",
        operation="expire",
        target="cs_1",
        body={},
        summary=summary,
        reason="Clean up.",
        deployment="here",
        proposed_by="owner",
        proposed_at=START - HOUR,
    )


def log(*kinds: EntryKind, ago: timedelta = HOUR) -> list[LogEntry]:
    """Return the entries of a log, the newest first."""
    entries: list[LogEntry] = []
    for kind in kinds:
        entry = LogEntry(number=0, at=START - ago, kind=kind, intent_id="in-1", operation="expire", digest="d")
        entries.append(following(entries[-1] if entries else None, entry))
    return entries[::-1]


def test_nothing_waits() -> None:
    """When nothing waits the panel is good, and tells where the log stands."""
    entries = log("proposed", "done")
    panel = panel_of([("done", intent())], entries, START)
    assert (panel.tone, panel.rows) == ("good", ())
    assert panel.todo == f"Refused in 7 days: 0. Log {entries[0].head}"
    assert panel_of([], [], START).todo == "Nothing was ever proposed."


def test_what_waits() -> None:
    """What waits is a row with its summary and the time it was proposed, and how to read it."""
    panel = panel_of([("waiting", intent()), ("done", intent())], log("proposed"), START)
    assert (panel.tone, panel.headline) == ("attention", "1 waiting for your approval")
    assert panel.rows == (("in-0123456789ab", "Expire the test session", "waiting", "2026-03-01T11:00:00Z"),)
    assert "`orrery approvals show ID`" in panel.todo


def test_an_unknown_outcome_is_worse() -> None:
    """An outcome that nobody knows makes the panel bad and says how to ask."""
    panel = panel_of([("waiting", intent()), ("unknown", intent())], log("unknown"), START)
    assert (panel.tone, panel.headline) == ("bad", "1 waiting for your approval, 1 with an unknown outcome")
    assert "`orrery approvals settle ID`" in panel.todo


def test_refusals_of_a_week_are_counted() -> None:
    """Approvals that were refused in 7 days are counted, older ones are not."""
    recent, old = log("refused", "done", "refused"), log("refused", ago=LATELY + HOUR)
    assert panel_of([], [*recent, *old], START).todo.startswith("Refused in 7 days: 2. Log 3:")


def test_nobodys_address() -> None:
    """What looks like an e-mail address in a summary is not shown."""
    (row,) = panel_of([("waiting", intent("Block ann@example.org"))], [], START).rows
    assert row[1] == "Block [hidden]"


def test_intents_that_cannot_be_read() -> None:
    """What cannot be read may wait, too: the panel is bad, and says where to look."""
    panel = panel_of([], log("done"), START, unreadable=2)
    assert panel.tone == "bad"
    assert panel.todo.startswith("Intents that cannot be read: 2. See `orrery approvals list`. Refused")

"""The incident log: the approval log as a person reads it, as far as it is about fraud lists (decision 18).

It stores no records. The log contains events and times; the intent contains entries and reason, as long as
its digest is the one in the log.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from orrery.approvals.approvals import Approvals, KnownIntent
from orrery.approvals.audit import erased_as_proposed
from orrery.approvals.chain import EntryKind, LogEntry, first_break
from orrery.fraud.operations import BLOCK, UNBLOCK, body_of
from orrery.fraud.records import ListedEntry

OUTCOMES: dict[EntryKind, str] = {
    "proposed": "waits for your signature",
    "withdrawn": "withdrawn, nothing was changed",
    "started": "under way, or not known: settle it",
    "done": "done",
    "failed": "failed",
    "unknown": "not known: settle it",
    "happened": "done",
    "did not happen": "not done",
    "closed": "not known, and left at that",
}
"""The state of an intent by its last entry, as text. A refused approval changes nothing."""

VOID = "void: the store was restored since, or its record cannot be read"
ERASED = "(erased)"
ALTERED = "(the intent is gone or altered)"


@dataclass(frozen=True, slots=True)
class Incident:
    """One intent about fraud lists: `at` is the time of its last entry, `number` that entry's."""

    at: datetime
    action: Literal["block", "unblock"]
    entries: tuple[ListedEntry, ...]
    reason: str
    outcome: str
    note: str
    intent_id: str
    number: int


@dataclass(frozen=True, slots=True)
class IncidentLog:
    """Every incident, the newest first. From the entry `broken_at` on the approval log cannot be believed."""

    incidents: tuple[Incident, ...]
    broken_at: int | None


async def read_incidents(approvals: Approvals) -> IncidentLog:
    """Return the proposals with their outcomes."""
    entries = [entry async for entry in approvals.log.entries()]
    by_intent: defaultdict[str, list[LogEntry]] = defaultdict(list)
    for entry in entries:
        if entry and entry.operation in (BLOCK, UNBLOCK) and entry.kind not in ("refused", "erased"):
            by_intent[entry.intent_id].append(entry)
    known = {one.intent.id: one for one in await approvals.proposals()}
    erased = erased_as_proposed([entry for entry in entries if entry]) - known.keys()
    found = [
        _incident(steps, known.get(intent_id), ERASED if intent_id in erased else ALTERED)
        for intent_id, steps in by_intent.items()
    ]
    newest_first = sorted(found, key=lambda one: one.number, reverse=True)
    return IncidentLog(tuple(newest_first), first_break(entries))


def _incident(entries: list[LogEntry], proposal: KnownIntent | None, gone: str) -> Incident:
    last = entries[-1]
    intact = proposal is not None and proposal.intent.digest() == entries[0].digest
    intent = proposal.intent if proposal and intact else None
    return Incident(
        at=last.at,
        action="block" if last.operation == BLOCK else "unblock",
        entries=body_of(intent).entries if intent else (),
        reason=intent.reason if intent else gone,
        outcome=VOID if _is_void(last, proposal) else OUTCOMES.get(last.kind, last.kind),
        note=last.note,
        intent_id=last.intent_id,
        number=last.number,
    )


def _is_void(last: LogEntry, proposal: KnownIntent | None) -> bool:
    return last.kind == "proposed" and proposal is not None and proposal.is_void

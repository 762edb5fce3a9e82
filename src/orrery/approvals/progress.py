"""How far an intent has come, by its entries in the log (decision 15): pure.

    proposed ──signed──▶ started ──▶ done | failed
       │                    └──answer lost, or killed──▶ unknown ──read──▶ done | failed
       │                                                    └──owner closes it──▶ closed
       └──withdrawn

A standing approval (a preflight's) becomes `approved` instead of started; each of its targets begins at started.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Literal

from orrery.approvals.chain import BEGINNINGS, EntryKind, LogEntry
from orrery.approvals.intents import read_statement
from orrery.errors import ApprovalRefused
from orrery.record import Id, PersonalText, Record, RecordPart, Sentence

LIFETIME = timedelta(minutes=10)
"""How long a signature counts (decision 15)."""

STANDING_LIFETIME = timedelta(hours=24)
"""How long a preflight's approval covers its sessions (decision 15)."""

AHEAD = timedelta(seconds=60)
"""How far the signing machine's clock may be ahead of ours."""

UNDER_WAY = timedelta(minutes=2)
"""How long a started operation may still be under way: longer than any call takes."""

UseState = Literal["started", "done", "failed", "unknown", "closed"]
IntentState = Literal["proposed", "withdrawn", "approved", "started", "done", "failed", "unknown", "closed"]
"""`closed`: the outcome is unknown, and the owner has decided to leave it so."""


AFTER: Mapping[EntryKind, IntentState | None] = {
    "proposed": None,
    "withdrawn": "withdrawn",
    "refused": None,
    "approved": "approved",
    "started": "started",
    "done": "done",
    "failed": "failed",
    "unknown": "unknown",
    "happened": "done",
    "did not happen": "failed",
    "closed": "closed",
    "erased": None,
}
"""The state after an entry; None for one that changes nothing of what was done: a second proposal among them."""

_USED = ("started", "unknown", "done")


class TargetUse(RecordPart):
    """The state of one target of a standing approval; `note` is the latest sentence about it."""

    state: UseState
    changed_at: datetime
    note: PersonalText = ""


class IntentProgress(Record):
    """The state of an intent; `note` is the latest sentence about it, `uses` are those of a standing approval.

    It is also the record beside the log. This release reads two things of that record: its notes, which may be
    personal and so are not in the log, and that it can be read: without it, as after a restore, the approval is
    void. `verify` of the release before this one compares the rest (decision 45).
    """

    intent_id: Id
    digest: Id
    state: IntentState = "proposed"
    changed_at: datetime
    note: PersonalText = ""
    statement: Sentence = ""
    signature: Id = ""
    uses: Mapping[Id, TargetUse] = {}

    def of_target(self, target: str) -> "IntentProgress | TargetUse | None":
        """Return the state of one target of a standing approval, or without a target that of the intent itself."""
        return self.uses.get(target) if target else self

    def after(self, target: str, state: IntentState, at: datetime, note: str = "") -> "IntentProgress":
        """Return a copy with another outcome for a target, or without a target for the intent itself."""
        if not target:
            return self.change(state=state, changed_at=at, note=note)
        use = self.uses.get(target) or TargetUse(state="started", changed_at=at)
        return self.change(uses={**self.uses, target: use.change(state=state, changed_at=at, note=note)})

    def as_logged(self, logged: "IntentProgress") -> "IntentProgress":
        """Return a copy of the record with the state in the log."""
        uses = {
            target: self.uses.get(target, use).change(state=use.state, changed_at=use.changed_at)
            for target, use in logged.uses.items()
        }
        return self.change(
            digest=logged.digest,
            state=logged.state,
            changed_at=logged.changed_at,
            statement=logged.statement,
            signature=logged.signature,
            uses=uses,
        )

    def open_targets(self) -> list[str]:
        """Return the targets of a standing approval that are started or unknown, or [""] for the intent itself."""
        if is_open(self):
            return [""]
        return [target for target, use in self.uses.items() if is_open(use)]


def fold(entries: Iterable[LogEntry], before: Mapping[str, IntentProgress]) -> dict[str, IntentProgress]:
    """Return the state of each intent after further entries, the oldest first. Notes are not among it."""
    logged = dict(before)
    for entry in entries:
        _follow(logged, entry)
    return logged


def _follow(logged: dict[str, IntentProgress], entry: LogEntry) -> None:
    """Bring the states to what they are after one more entry; an intent is there from its proposal on."""
    if entry.kind == "proposed":
        new = IntentProgress(intent_id=entry.intent_id, digest=entry.digest, changed_at=entry.at)
        _ = logged.setdefault(entry.intent_id, new)
    elif known := logged.get(entry.intent_id):
        logged[entry.intent_id] = followed(known, entry)


def followed(known: IntentProgress, entry: LogEntry, note: str = "") -> IntentProgress:
    """Return the state after one more entry, with a note."""
    if state := AFTER[entry.kind]:
        known = known.after(entry.target, state, entry.at, note)
    if entry.kind == "erased" and known.state in ("proposed", "approved"):
        known = known.after("", "withdrawn", entry.at)  # what was erased begins no more
    if entry.kind in BEGINNINGS:
        known = known.change(statement=entry.statement, signature=entry.signature)
    return known


def why_not_begun(progress: IntentProgress | None, target: str) -> str:
    """Return why, by the log, nothing may begin; empty where it may: a signature begins once."""
    state = progress.state if progress else "not proposed"
    if progress is None or state != ("approved" if target else "proposed"):
        return f"The approval is used: the intent is {state}."
    use = progress.uses.get(target)
    return f"The approval is used for this target: it is {use.state}." if use and use.state in _USED else ""


def begun_again(entries: Iterable[LogEntry]) -> Iterator[int]:
    """Yield the number of each entry that begins what, by the entries before it, could not begin any more."""
    logged: dict[str, IntentProgress] = {}
    for entry in entries:
        if entry.kind in BEGINNINGS and why_not_begun(logged.get(entry.intent_id), entry.target):
            yield entry.number
        _follow(logged, entry)


def is_open(state: IntentProgress | TargetUse | None) -> bool:
    """Return whether an operation was started and its outcome is not known."""
    return state is not None and state.state in ("started", "unknown")


def may_be_under_way(state: IntentProgress | TargetUse, now: datetime) -> bool:
    """Return whether its last call may still arrive."""
    # After a clock was put back, `changed_at` may be years ahead: the owner must not wait for it.
    return abs(now - state.changed_at) < UNDER_WAY


def _is_in_force(progress: IntentProgress, now: datetime) -> bool:
    try:
        return -AHEAD <= now - read_statement(progress.statement).at <= STANDING_LIFETIME
    except ApprovalRefused:  # altered since: it counts for nothing
        return False


def in_words(progress: IntentProgress, now: datetime) -> str:
    """Return the state in one or two words for a person, as far as it is known at this time."""
    found = [progress.of_target(target) for target in progress.open_targets()]
    if any(state is not None and not may_be_under_way(state, now) for state in found):
        return "unknown"
    if progress.state == "approved":
        return "in force" if _is_in_force(progress, now) else "over"
    return {"proposed": "waiting", "started": "under way"}.get(progress.state, progress.state)

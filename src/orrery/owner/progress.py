"""How far an intent has come (decision 15): pure.

    proposed ──signed──▶ started ──▶ done | failed
       │                    └──answer lost, or killed──▶ unknown ──read──▶ done | failed
       │                                                    └──owner's word──▶ closed
       └──withdrawn

A standing approval (a preflight's) is `approved` instead; each target that it is used for goes on from started.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from orrery.errors import ApprovalRefused
from orrery.owner.intents import read_statement
from orrery.record import Record

LIFETIME = timedelta(minutes=10)
"""How long a signature counts (decision 15)."""

STANDING = timedelta(hours=24)
"""How long a preflight's approval covers its sessions (decision 15)."""

AHEAD = timedelta(seconds=60)
"""How far the signing machine's clock may be ahead of ours."""

UNDER_WAY = timedelta(minutes=2)
"""How long something that was started may still be under way: longer than any call to the processor takes."""

Outcome = Literal["started", "done", "failed", "unknown", "closed"]
State = Literal["proposed", "withdrawn", "approved", "started", "done", "failed", "unknown", "closed"]
"""`closed`: it is not known what became of it, and the owner has said to leave it at that."""


class Use(Record):
    """What became of one target of a standing approval; `note` is the last word about it."""

    state: Outcome
    changed_at: datetime
    note: str = ""


class Progress(Record):
    """How far an intent has come; `note` is the last word about it, `uses` are those of a standing approval."""

    v: Literal[1] = 1
    intent_id: str
    digest: str
    state: State = "proposed"
    changed_at: datetime
    note: str = ""
    statement: str = ""
    signature: str = ""
    uses: Mapping[str, Use] = {}

    def deed(self, target: str) -> "Progress | Use | None":
        """Return what became of one target of a standing approval, or with no target of the intent itself."""
        return self.uses.get(target) if target else self

    def after(self, target: str, state: Outcome, at: datetime, note: str = "") -> "Progress":
        """Return this with another outcome for a target, or with no target for the intent itself."""
        if not target:
            return self.change(state=state, changed_at=at, note=note)
        use = self.uses.get(target) or Use(state=state, changed_at=at)
        return self.change(uses={**self.uses, target: use.change(state=state, changed_at=at, note=note)})

    def without_notes(self) -> "Progress":
        """Return this without the processor's words and without unknown fields: either may name a person."""
        uses = {target: use.without_unknown_fields().change(note="") for target, use in self.uses.items()}
        return self.without_unknown_fields().change(note="", uses=uses)

    def open_targets(self) -> list[str]:
        """Return what is started or unknown: targets of a standing approval, or "" for the intent itself."""
        if is_open(self):
            return [""]
        return [target for target, use in self.uses.items() if is_open(use)]


def is_open(deed: Progress | Use | None) -> bool:
    """Return whether something was started and its outcome is not known."""
    return deed is not None and deed.state in ("started", "unknown")


def may_be_under_way(deed: Progress | Use, now: datetime) -> bool:
    """Return whether its last call to the processor may still arrive there."""
    return now - deed.changed_at < UNDER_WAY


def is_over(progress: Progress, now: datetime) -> bool:
    """Return whether nothing more can come of it."""
    return not progress.open_targets() and in_words(progress, now) not in ("waiting", "in force")


def _stands(progress: Progress, now: datetime) -> bool:
    try:
        return now - read_statement(progress.statement).at <= STANDING
    except ApprovalRefused:  # altered since: it counts for nothing
        return False


def in_words(progress: Progress, now: datetime) -> str:
    """Return how far it has come in a word or two for a person, saying no more than is known at this time."""
    found = [progress.deed(target) for target in progress.open_targets()]
    if any(deed is not None and not may_be_under_way(deed, now) for deed in found):
        return "unknown"
    match progress.state:
        case "proposed":
            return "waiting"
        case "started":
            return "under way"
        case "approved":
            return "in force" if _stands(progress, now) else "over"
        case "unknown":
            return "unknown"
        case ended:
            return ended

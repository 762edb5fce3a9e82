"""Each text of a record is marked as personal or not, and what is marked is exported and erased (decision 45)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from pydantic import Field, JsonValue

from orrery.adapters.clock import SystemClock
from orrery.adapters.memory import MemoryStore
from orrery.app.adapters import Adapters
from orrery.app.composition import composed
from orrery.app.settings.reader import Secrets, settings_from
from orrery.approvals.progress import IntentProgress
from orrery.checkout.browser_records import AccessBrowsers
from orrery.checkout.records import AccessRecord, Offer
from orrery.cockpit.records import LedgerItem
from orrery.record import Impersonal, Personal, Record, RecordPart, personal_fields
from orrery.runtime.module import Role
from orrery.runtime.operations import Intent
from orrery.runtime.outbox import Notification
from orrery.runtime.personal_entries import ORDER
from orrery.runtime.privacy import Privacy
from orrery.runtime.tasks import Tasks
from orrery.tenants.records import TrackJournalEntry
from tests.architecture.test_records import RECORDS
from tests.support.tables import each_case

KEPT: dict[Role, dict[str, type[Record]]] = {
    "site": {
        "access:": AccessRecord,
        "access-browsers:": AccessBrowsers,
        "offer:": Offer,
        "intent:": Intent,
        "approval:": IntentProgress,
        "outbox:": Notification,
    },
    "cockpit": {"ledger:": LedgerItem, "track-journal:": TrackJournalEntry},
}
"""The records with marked fields, by the prefix of their keys."""


def unmarked(annotation: object) -> Iterator[object]:
    """Yield the texts in an annotation without a mark; a pattern, as a tenant's id has, is a type of its own."""
    if get_origin(annotation) is Annotated:
        kind, *given = get_args(annotation)
        if not any(one in (Personal, Impersonal) or _has_pattern(one) for one in given):
            yield from unmarked(kind)
    elif annotation in (str, Any, object, JsonValue):
        yield annotation
    else:
        yield from (found for inner in get_args(annotation) for found in unmarked(inner))


def _has_pattern(given: object) -> bool:
    return bool(getattr(given, "pattern", None) or any(map(_has_pattern, getattr(given, "metadata", ()))))


def faults(kind: type[RecordPart]) -> list[str]:
    """Return the fields of a record in which a text has no mark."""
    hints = get_type_hints(kind, include_extras=True)
    return [name for name in kind.model_fields if any(unmarked(hints[name]))]


@each_case("name", sorted(RECORDS))
def test_every_text_is_marked(name: str) -> None:
    """Write `PersonalText`, or `Id`, `Code` or `Sentence` for what names nobody (`orrery/record.py`)."""
    assert faults(RECORDS[name]) == []


class Careless(Record):
    """A record with each kind of field, some without a mark."""

    plain: str
    several: tuple[str, ...] = ()
    named: dict[Annotated[str, Impersonal], str | None] = Field(default_factory=dict[str, str | None])
    anything: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    marked: Annotated[dict[str, JsonValue], Personal] = Field(default_factory=dict[str, JsonValue])
    typed: Annotated[str, Field(pattern="^[a-z]$")] = "a"
    number: int = 0


def test_one_without_a_mark_is_found() -> None:
    """A text at any depth is found; a mark is for all that is in it."""
    assert faults(Careless) == ["plain", "several", "named", "anything"]


@pytest.mark.parametrize("role", KEPT)
def test_every_marked_record_has_its_source(role: Role) -> None:
    """Each of these is exported and erased as its domain does it: what the law asks for stays."""
    settings, clock = settings_from({}, Path(), role), SystemClock()
    orrery = composed(Adapters(settings, Secrets(role=role), clock), MemoryStore(clock), b"the key", Tasks())
    sources = orrery[Privacy].sources
    by_mark = {prefix for one in sources if one.order == ORDER for prefix in one.prefixes}
    own = {prefix for one in sources for prefix in one.prefixes} - by_mark
    assert own == {prefix for prefix, kind in KEPT[role].items() if personal_fields(kind)} == set(KEPT[role])

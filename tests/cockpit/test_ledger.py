"""The action ledger, over both stores."""

from collections.abc import AsyncGenerator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from orrery.cockpit.ledger import KEEP_DISMISSED, Ledger, NewItem, is_due
from orrery.cockpit.records import LedgerItem
from orrery.errors import Invalid
from orrery.ports.comms.errors import RowGone
from tests.support.clock import ManualClock
from tests.support.stores import ADAPTERS, opened
from tests.support.tables import each_case
from tests.support.tasks import a_task
from tests.support.unreliable_store import UnreliableStore


class Desk:
    """A ledger whose store can lose an answer."""

    def __init__(self, store: UnreliableStore, clock: ManualClock) -> None:
        self.store, self.clock = store, clock
        self.ledger = Ledger(store, clock)

    async def waiting(self) -> list[LedgerItem]:
        """Return the items that are not dismissed."""
        return [one for one in (await self.ledger.all()).whole() if one.dismissed_at is None]


@pytest.fixture(params=ADAPTERS)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Desk]:
    """Return a ledger over a new store."""
    clock = ManualClock()
    async with opened(request.param, tmp_path, clock) as store:
        yield Desk(UnreliableStore(store), clock)


async def test_an_item_is_kept(desk: Desk) -> None:
    """What needs doing, from whom, until when, and whose data it is."""
    item_id = await desk.ledger.note(NewItem("B", "Call Bo", "bo@lab.example", date(2026, 3, 5), "high"))
    (stored,) = (await desk.ledger.all()).records
    kept = stored.record
    assert stored.id == item_id
    assert (kept.track, kept.title, kept.person, kept.until, kept.priority) == (
        "B",
        "Call Bo",
        "bo@lab.example",
        date(2026, 3, 5),
        "high",
    )
    assert (kept.created_at, kept.source) == (desk.clock.now(), "action-hub")


@each_case(
    ("title", "person"),
    [("", ""), ("a\nb", ""), ("x" * 301, ""), ("\u202e", ""), ("a", "b\x00"), ("a", "x" * 201)],
)
async def test_an_item_is_one_line(title: str, person: str) -> None:
    """Neither text may hide, steer or go on without end."""
    with pytest.raises(Invalid):
        NewItem("A", title, person)


@pytest.mark.parametrize("lost", ["before", "after"])
async def test_a_lost_answer_makes_no_second_task(desk: Desk, lost: str) -> None:
    """The store's answer is lost: the task is there once, and the same call says that it is new."""
    desk.store.lose = lost
    assert not (await desk.ledger.add(a_task())).already_existed
    assert len(await desk.waiting()) == 1


async def test_an_item_of_the_ledger_is_a_task_already(desk: Desk) -> None:
    """Its score, kind and bucket come from the mapping tables, as it has none of its own."""
    item_id = await desk.ledger.note(NewItem("A", "Call Bo"))
    made = await desk.ledger.add(a_task(item_id, source="action-hub"))
    assert (made.id, made.title, made.score, made.already_existed) == (item_id, "Call Bo", 50, True)
    assert len(await desk.waiting()) == 1


async def test_dismiss_and_undo(desk: Desk) -> None:
    """Each says whether it changed something; a second click changes nothing."""
    item_id = await desk.ledger.note(NewItem("A", "Call Bo"))
    assert [await desk.ledger.act(item_id, "dismiss") for _ in range(2)] == [True, False]
    assert await desk.waiting() == []
    assert [await desk.ledger.act(item_id, "undo") for _ in range(2)] == [True, False]
    assert len(await desk.waiting()) == 1


async def test_what_is_gone_says_so(desk: Desk) -> None:
    """An item that nobody added cannot be dismissed, undone or made a task."""
    for action in ("dismiss", "undo"):
        with pytest.raises(RowGone):
            await desk.ledger.act("a-000000000000", action)
    with pytest.raises(RowGone):
        await desk.ledger.add(a_task("a-000000000000", source="action-hub"))


async def test_dismissed_items_are_kept_for_a_while(desk: Desk) -> None:
    """Until then a dismissal can be undone; what waits stays for good measure as long as it waits."""
    waits, done = await desk.ledger.note(NewItem("A", "Waits")), await desk.ledger.note(NewItem("A", "Done"))
    _ = await desk.ledger.act(done, "dismiss")
    desk.clock.advance((KEEP_DISMISSED - timedelta(seconds=1)).total_seconds())
    assert {one.id for one in (await desk.ledger.all()).records} == {waits, done}
    desk.clock.advance(2)
    assert [one.id for one in (await desk.ledger.all()).records] == [waits]


async def test_an_import_is_repeated_without_harm(desk: Desk) -> None:
    """The same items are added once, dismissed or not; one that differs in a field is another one."""
    items = [NewItem("A", "One"), NewItem("A", "Two"), NewItem("A", "One")]
    assert await desk.ledger.import_items(items) == (2, 1)
    one = next(each for each in (await desk.ledger.all()).records if each.record.title == "One")
    _ = await desk.ledger.act(one.id, "dismiss")
    assert await desk.ledger.import_items(items) == (0, 3)
    others = [NewItem("B", "One"), NewItem("A", "One", "bo"), NewItem("A", "One", until=date(2026, 3, 1))]
    assert await desk.ledger.import_items(others) == (3, 0)


def test_due_by_the_calendar_here() -> None:
    """An item is due on its day and after, by this machine's own calendar."""
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    today = now.astimezone().date()
    item = LedgerItem(track="A", title="x", created_at=now)
    assert not is_due(item, now)
    assert not is_due(item.change(until=today + timedelta(days=1)), now)
    assert is_due(item.change(until=today), now)
    assert is_due(item.change(until=today - timedelta(days=1)), now)

"""Rows that are done, and rows that come back on a day: kept in the cockpit's own store, with their track."""

import json
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from orrery.cockpit.comms import Comms
from orrery.cockpit.errors import WrongDay
from orrery.cockpit.ledger import NewItem
from orrery.cockpit.rows import LEDGER_ACCOUNT, RowId
from orrery.cockpit.set_aside import KEEP_DONE, LONGEST, Set, SetAsides, asked_for
from orrery.cockpit.waiting import SetAsideUntil
from orrery.errors import StoreUnavailable
from orrery.ports.comms.errors import RowGone
from orrery.ports.comms.messages import UNKNOWN, Standing
from orrery.ports.store import Put
from tests.cockpit.test_comms import LAB, Desk, corp
from tests.support.clock import START
from tests.support.mailboxes import a_message
from tests.support.unreliable_store import UnreliableStore

DAY = 86_400
TODAY = START.astimezone().date()
TOMORROW, IN_A_WEEK = TODAY + timedelta(days=1), TODAY + timedelta(days=7)


@pytest.fixture
async def desk() -> Desk:
    """Return a desk whose mailboxes were read."""
    desk = Desk()
    await desk.comms.read_all()
    return desk


async def answer(desk: Desk, *, listed: bool = True, comms: Comms | None = None) -> dict[str, Any]:
    """Return the list, or what is not in it."""
    return json.loads(b"".join(await (comms or desk.comms).answer({}, listed=listed)))


async def subjects(desk: Desk, *, listed: bool = True) -> list[str]:
    """Return the subjects of the rows."""
    return [one["subject"] for one in (await answer(desk, listed=listed))["rows"]]


async def changes(desk: Desk, row_id: RowId, what: Set, until: date | None) -> bool:
    """Set a row aside, and return whether that is something new."""
    return await desk.actions.set_aside(row_id, what, until) != asked_for(what, until)


async def test_done_and_undone(desk: Desk) -> None:
    """A row that is done leaves the list, is counted and shown with its reason, and comes back by undo."""
    before = await subjects(desk)
    assert await changes(desk, corp("mail-1"), "done", None)
    assert not await changes(desk, corp("mail-1"), "done", None)
    assert "Subject 1" not in await subjects(desk)
    others = await answer(desk, listed=False)
    assert [(one["subject"], one["reason"], one["track"]) for one in others["rows"]] == [
        ("Subject 1", "done", "A")
    ]
    assert others["not_listed"] == {"count": 1, "reasons": {"done": 1}, "line": "1 not listed: 1 done"}
    assert await changes(desk, corp("mail-1"), "undo", None)
    assert not await changes(desk, corp("mail-1"), "undo", None)
    assert await subjects(desk) == before


async def test_it_comes_back(desk: Desk) -> None:
    """A row for later is there again when its day begins, and not before; so it is after a restart."""
    _ = await desk.actions.set_aside(corp("mail-1"), "later", TOMORROW)
    restarted = Comms(desk.comms.inboxes, desk.ledger, SetAsides(desk.store, desk.clock), desk.clock, desk.scores)
    for comms in (desk.comms, restarted):
        assert "Subject 1" not in [one["subject"] for one in (await answer(desk, comms=comms))["rows"]]
    desk.clock.advance(DAY)
    for comms in (desk.comms, restarted):
        assert "Subject 1" in [one["subject"] for one in (await answer(desk, comms=comms))["rows"]]
    assert "later" not in (await answer(desk))["not_listed"]["reasons"]


async def test_the_last_word_of_a_person_counts(desk: Desk) -> None:
    """What is done may be set aside; another day takes the place of the first. Each answer has what was before."""
    orders: list[tuple[Set, date | None]] = [("done", None), ("later", IN_A_WEEK), ("later", TOMORROW)]
    before: SetAsideUntil | None = None
    for what, until in orders:
        assert await desk.actions.set_aside(corp("mail-1"), what, until) == before
        before = asked_for(what, until)
        assert [one["reason"] for one in (await answer(desk, listed=False))["rows"]] == [what]
    desk.clock.advance(DAY)
    assert "Subject 1" in await subjects(desk)


async def test_the_same_id_of_the_other_track(desk: Desk) -> None:
    """A row of another track, account or source with the same id stays."""
    desk.lab.held = list(desk.corp.held)
    await desk.comms.read_all()
    _ = await desk.actions.set_aside(corp("mail-1"), "done", None)
    assert [(one["track"], one["subject"]) for one in (await answer(desk, listed=False))["rows"]] == [
        ("A", "Subject 1")
    ]
    [kept] = (await desk.set_asides.records.all()).values()
    assert kept.track == "A"


@pytest.mark.parametrize(
    ("what", "until"),
    [
        ("later", None),
        ("later", TODAY),
        ("later", date(2020, 1, 1)),
        ("later", TODAY + LONGEST + timedelta(days=1)),
        ("done", TOMORROW),
        ("undo", TOMORROW),
    ],
)
async def test_days_that_are_none(desk: Desk, what: Set, until: date | None) -> None:
    """One sentence, and nothing is set aside."""
    with pytest.raises(WrongDay):
        await desk.actions.set_aside(corp("mail-1"), what, until)
    assert (await answer(desk))["not_listed"]["count"] == 0


async def test_a_day_on_which_it_would_be_gone(desk: Desk) -> None:
    """A mailbox lists some days back only, and a meeting ends: on a day behind that nothing would come back."""
    desk.corp.days = 3
    meeting = a_message(6, "meeting")
    desk.lab.held = [
        replace(meeting, received_at=START + timedelta(days=2), ends_at=START + timedelta(days=2, hours=1))
    ]
    await desk.comms.read_all()
    with pytest.raises(WrongDay, match="lists this until"):
        await desk.actions.set_aside(corp("mail-1"), "later", TODAY + timedelta(days=4))
    assert await changes(desk, corp("mail-1"), "later", TODAY + timedelta(days=3))
    row_id = RowId("B", LAB, "meeting", meeting.source_id)
    with pytest.raises(WrongDay, match="over by then"):
        await desk.actions.set_aside(row_id, "later", TODAY + timedelta(days=3))
    assert await changes(desk, row_id, "later", TODAY + timedelta(days=2))
    long = replace(a_message(7, "meeting"), ends_at=START + timedelta(days=500))
    desk.corp.held = [long]
    await desk.comms.read_all()
    assert await changes(desk, corp(long.source_id, "meeting"), "later", TODAY + LONGEST)


async def test_items_of_the_ledger(desk: Desk) -> None:
    """Done is dismissed, which is kept for 90 days; later is later; undo takes both back."""
    row_id = RowId("B", LEDGER_ACCOUNT, "action-hub", await desk.ledger.note(NewItem("B", "Call Bo")))
    assert await changes(desk, row_id, "later", TOMORROW)
    assert await changes(desk, row_id, "done", None)
    assert "Call Bo" not in await subjects(desk)
    assert await subjects(desk, listed=False) == ["Call Bo"]
    assert await desk.actions.set_aside(row_id, "undo", None) == SetAsideUntil()
    assert "Call Bo" in await subjects(desk)
    assert not await changes(desk, row_id, "undo", None)


async def test_a_row_that_is_gone(desk: Desk) -> None:
    """Nothing is kept about it."""
    with pytest.raises(RowGone):
        await desk.actions.set_aside(corp("mail-999"), "done", None)
    assert (await desk.set_asides.records.all()).is_empty


async def test_how_long_it_is_kept(desk: Desk) -> None:
    """What is done for longer than a year, what is for later until its day."""
    _ = await desk.actions.set_aside(corp("mail-1"), "done", None)
    _ = await desk.actions.set_aside(corp("teams-5", "teams"), "later", TOMORROW)
    desk.clock.advance(4 * DAY)
    assert len((await desk.set_asides.records.all()).records) == 1
    desk.clock.advance(KEEP_DONE.total_seconds())
    assert (await desk.set_asides.records.all()).is_empty


async def test_a_broken_store(desk: Desk) -> None:
    """It is reported, and the row stays where it was; the next try sets it aside."""
    broken = UnreliableStore(desk.store, commit_errors=[StoreUnavailable("The disk is full.")])
    actions = replace(desk.actions, set_asides=SetAsides(broken, desk.clock))
    with pytest.raises(StoreUnavailable):
        await actions.set_aside(corp("mail-1"), "done", None)
    assert await actions.set_aside(corp("mail-1"), "done", None) is None


async def test_what_a_newer_release_wrote() -> None:
    """It is named, and hides no row."""
    desk = Desk()
    await desk.comms.read_all()
    _ = await desk.store.commit([Put(f"set-aside:{'0' * 32}", b'{"v": 99}')])
    assert len((await answer(desk))["rows"]) == 4
    assert len(await desk.set_asides.records.unreadable()) == 1


async def test_a_conversation_is_one_row(desk: Desk) -> None:
    """Of those that wait the newest is listed; when it is done, so is what came before, and what comes waits."""

    def word(number: int, standing: Standing = UNKNOWN) -> None:
        one = replace(a_message(number), conversation="c", standing=standing)
        desk.corp.held = sorted([*desk.corp.held, one], key=lambda each: each.received_at, reverse=True)

    desk.corp.held = []
    for number in (30, 20, 10):
        word(number)
    word(5, Standing(addressed="copy"))
    await desk.comms.read_all()
    assert {"Subject 10", "Subject 20", "Subject 30"} & {*await subjects(desk)} == {"Subject 10"}
    assert (await answer(desk))["not_listed"]["line"] == (
        "3 not listed: 2 earlier in a listed conversation, 1 not to you"
    )
    _ = await desk.actions.set_aside(corp("mail-10"), "done", None)
    assert {"Subject 20", "Subject 30"} & {*await subjects(desk)} == set()
    word(1)
    desk.lab.held = [replace(a_message(40), conversation="c")]
    await desk.comms.read_all()
    assert {"Subject 1", "Subject 40"} <= {*await subjects(desk)}, "another mailbox has another conversation"


async def test_what_left_in_the_first_reading() -> None:
    """A message that the mailbox takes back is no row."""
    desk = Desk()
    desk.corp.gone = frozenset({"mail-1"})
    await desk.comms.read_all()
    assert desk.comms.inboxes[0].find("mail", "mail-1") is None
    assert desk.comms.inboxes[0].find("teams", "teams-5")

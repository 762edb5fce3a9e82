"""The list: rows of mailboxes and of the ledger as one, and what is done with them."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.cockpit.actions import Actions
from orrery.cockpit.bodies import Bodies
from orrery.cockpit.comms import IN_THE_LEDGER, Comms
from orrery.cockpit.errors import NotInLedger, NotReplyable
from orrery.cockpit.inbox import Inbox
from orrery.cockpit.ledger import Ledger, NewItem
from orrery.cockpit.rows import LEDGER_ACCOUNT, RowId
from orrery.cockpit.set_aside import SetAsides
from orrery.cockpit.settings import SCORES, CockpitSettings
from orrery.errors import StoreUnavailable
from orrery.ports.comms.errors import MailboxUnreachable, RowGone
from orrery.ports.comms.mailboxes import MessageBody
from orrery.ports.comms.messages import Source
from orrery.ports.comms.tasks import TaskBook, TaskBooks
from orrery.runtime.tasks import Tasks
from orrery.syntax.track import Track
from tests.support.clock import ManualClock, settled
from tests.support.mailboxes import ScriptedMailbox, a_message, without_address
from tests.support.unreliable_store import UnreliableStore

CORP, LAB = "ann@corp.example", "ann@lab.example"


class Desk:
    """Two mailboxes, one of each track, a ledger, and what is done with their rows."""

    def __init__(self) -> None:
        self.clock, self.tasks = ManualClock(), Tasks()
        self.store = MemoryStore(self.clock)
        self.corp = ScriptedMailbox("A", CORP, [a_message(1, priority="low"), a_message(5, "teams")])
        self.lab = ScriptedMailbox("B", LAB, [a_message(2), a_message(6, "meeting", "high")])
        self.ledger, self.scores = Ledger(self.store, self.clock), SCORES
        self.set_asides = SetAsides(self.store, self.clock)
        self.comms = self.listing([self.inbox(self.corp), self.inbox(self.lab)])
        bodies, settings = Bodies(self.clock, self.tasks), CockpitSettings.model_validate({})
        self.actions = Actions(self.comms, bodies, self.ledger, self.set_asides, IN_THE_LEDGER, settings)

    def put_tasks_of_corp(self, book: TaskBook) -> None:
        """Have the tasks of the corporate mailbox in another book."""
        books = TaskBooks({("A", CORP): book})
        self.comms = self.listing(self.comms.inboxes, books)
        self.actions = replace(self.actions, comms=self.comms, books=books)

    def listing(self, inboxes: Sequence[Inbox], books: TaskBooks = IN_THE_LEDGER) -> Comms:
        """Return the list of these mailboxes."""
        return Comms(inboxes, self.ledger, self.set_asides, self.clock, SCORES, books)

    def inbox(self, mailbox: ScriptedMailbox) -> Inbox:
        """Return the inbox of a mailbox."""
        return Inbox(mailbox, self.clock, self.tasks, SCORES)

    async def answer(self) -> dict[str, Any]:
        """Return the list as the page gets it."""
        return json.loads(b"".join(await self.comms.answer({"page": "now", "started_page": "then"})))


@pytest.fixture
def desk() -> Desk:
    """Return a desk whose mailboxes were not read yet."""
    return Desk()


def corp(source_id: str, source: Source = "mail", track: Track = "A") -> RowId:
    """Return the id of a row of the corporate mailbox."""
    return RowId(track, CORP, source, source_id)


async def test_one_list_of_all(desk: Desk) -> None:
    """Rows of both tracks and of the ledger: the meeting, and then the newest."""
    await desk.comms.read_all()
    _ = await desk.ledger.note(NewItem("B", "Call Bo"))
    found = await desk.answer()
    assert [(one["subject"], one["score"], one["track"]) for one in found["rows"]] == [
        ("Subject 6", 80, "B"),
        ("Call Bo", 50, "B"),
        ("Subject 1", 20, "A"),
        ("Subject 2", 50, "B"),
        ("Subject 5", 50, "A"),
    ]
    assert [(one["account"], one["track"], one["state"], one["count"]) for one in found["mailboxes"]] == [
        (CORP, "A", "fresh", 2),
        (LAB, "B", "fresh", 2),
        (LEDGER_ACCOUNT, None, "fresh", 1),
    ]
    assert (found["page"], found["started_page"]) == ("now", "then")


async def test_one_mailbox_that_fails_hides_no_other(desk: Desk) -> None:
    """The rows of the others are there, and its own of before with the reason."""
    await desk.comms.read_all()
    desk.lab.broken, desk.lab.held = MailboxUnreachable("Too many requests."), []
    desk.corp.held = [a_message(7)]
    await desk.comms.pulse()
    found = await desk.answer()
    assert [one["subject"] for one in found["rows"]] == ["Subject 6", "Subject 2", "Subject 7"]
    assert [(one["state"], one["why"]) for one in found["mailboxes"]] == [
        ("fresh", ""),
        ("stale", "Too many requests."),
        ("fresh", ""),
    ]


async def test_a_broken_store_hides_no_mailbox(desk: Desk) -> None:
    """The ledger says why it is not there; the mail is."""

    async def fail() -> None:
        raise StoreUnavailable("The disk is full.")

    broken = UnreliableStore(desk.store, scanned=fail)
    comms = Comms(desk.comms.inboxes, Ledger(broken, desk.clock), desk.set_asides, desk.clock, SCORES)
    await comms.read_all()
    found = json.loads(b"".join(await comms.answer({})))
    assert len(found["rows"]) == 4
    assert (found["mailboxes"][-1]["state"], found["mailboxes"][-1]["account"]) == ("failed", LEDGER_ACCOUNT)
    assert found["mailboxes"][-1]["why"] == "The disk is full."


async def test_a_refresh_asks_every_mailbox(desk: Desk) -> None:
    """Once each; what has come meanwhile is in the next answer."""
    await desk.comms.read_all()
    desk.corp.held.append(a_message(9))
    await desk.comms.pulse()
    assert (desk.corp.asked("messages"), desk.lab.asked("messages")) == (2, 2)
    assert "Subject 9" in [one["subject"] for one in (await desk.answer())["rows"]]


async def test_an_item_that_is_due_is_urgent(desk: Desk) -> None:
    """From its day on, whatever its priority is."""
    today = desk.clock.now().astimezone().date()
    _ = await desk.ledger.note(NewItem("A", "Due", until=today, priority="low"))
    _ = await desk.ledger.note(NewItem("A", "Later", until=today + timedelta(days=1), priority="low"))
    due, later = (await desk.answer())["rows"]
    assert (due["subject"], due["priority"], due["score"], due["until"]) == ("Due", "high", 80, today.isoformat())
    assert (later["subject"], later["priority"], later["score"]) == ("Later", "low", 20)


async def test_rows_with_a_task_are_known(desk: Desk) -> None:
    """While the task waits, and in its own track only."""
    await desk.comms.read_all()
    row_id = corp("teams-5", "teams")
    task = await desk.actions.add_to_tasks(row_id)
    assert (await desk.answer())["tasks"] == [str(row_id)]
    _ = await desk.actions.act(RowId("A", LEDGER_ACCOUNT, "action-hub", task.id), "dismiss")
    assert (await desk.answer())["tasks"] == []


async def test_a_task_is_made_by_the_mapping_tables(desk: Desk) -> None:
    """Score by priority, kind and bucket by source (spec 3, Cockpit records)."""
    await desk.comms.read_all()
    task = await desk.actions.add_to_tasks(RowId("B", LAB, "meeting", "meeting-6"))
    assert (task.title, task.score, task.kind, task.bucket) == ("Subject 6", 80, "prepare", "Calendar")
    assert not task.already_existed
    (item,) = (await desk.ledger.all()).values()
    assert (item.track, item.source, item.source_id, item.person) == (
        "B",
        "meeting",
        "meeting-6",
        "sender6@corp.example",
    )


async def test_a_draft_and_its_repeats(desk: Desk) -> None:
    """A double click is one draft; another comment is another; the message stays unread."""
    await desk.comms.read_all()
    desk.corp.unread = {"mail-1"}
    first, second = await asyncio.gather(*(desk.actions.draft_reply(corp("mail-1"), "Yes.") for _ in range(2)))
    other = await desk.actions.draft_reply(corp("mail-1"), "No.")
    assert sorted([first.is_new, second.is_new]) == [False, True]
    assert first.id == second.id != other.id
    assert [one.comment for one in desk.corp.drafts.values()] == ["Yes.", "No."]
    assert desk.corp.unread == {"mail-1"}
    assert desk.lab.drafts == {}


async def test_a_lost_answer_makes_no_second_draft(desk: Desk) -> None:
    """The draft was made, its answer was lost: asking again finds it."""
    await desk.comms.read_all()
    desk.corp.lose_answers = 1
    with pytest.raises(MailboxUnreachable):
        await desk.actions.draft_reply(corp("mail-1"), "")
    assert not (await desk.actions.draft_reply(corp("mail-1"), "")).is_new
    assert len(desk.corp.drafts) == 1


async def test_nobody_to_reply_to(desk: Desk) -> None:
    """A row without an address, and an item of the ledger, get no draft (decision 35)."""
    desk.corp.held = [without_address(a_message(1))]
    await desk.comms.read_all()
    item = RowId("A", LEDGER_ACCOUNT, "action-hub", await desk.ledger.note(NewItem("A", "Call Bo")))
    for row_id in (corp("mail-1"), item):
        with pytest.raises(NotReplyable):
            await desk.actions.draft_reply(row_id, "")
    assert desk.corp.asked("draft") == 0


@pytest.mark.parametrize(
    "row_id",
    [
        corp("mail-999"),
        corp("mail-1", track="B"),
        RowId("A", LAB, "mail", "mail-1"),
        RowId("B", LAB, "mail", "mail-1"),
        RowId("A", LEDGER_ACCOUNT, "mail", "mail-1"),
        RowId("A", CORP, "action-hub", "a-1"),
    ],
)
async def test_a_row_that_is_not_there(desk: Desk, row_id: RowId) -> None:
    """An id that was made up, or of another track or account, is no row: nothing is drafted or added."""
    await desk.comms.read_all()
    with pytest.raises(RowGone):
        await desk.actions.draft_reply(row_id, "")
    with pytest.raises(RowGone):
        await desk.actions.add_to_tasks(row_id)
    with pytest.raises(RowGone):
        await desk.actions.text(row_id)
    assert (await desk.ledger.all()).is_empty


async def test_a_dismissed_item_is_a_task_again(desk: Desk) -> None:
    """Adding its own row opens it again, as adding the row does that a task was made of."""
    row_id = RowId("A", LEDGER_ACCOUNT, "action-hub", await desk.ledger.note(NewItem("A", "Call Bo")))
    _ = await desk.actions.act(row_id, "dismiss")
    assert (await desk.actions.add_to_tasks(row_id)).already_existed
    assert [one["id"] for one in (await desk.answer())["rows"]] == [str(row_id)]


async def test_an_item_of_one_track_is_none_of_the_other(desk: Desk) -> None:
    """Its row cannot be reached by an id that names the other track."""
    item_id = await desk.ledger.note(NewItem("A", "Internal"))
    other = RowId("B", LEDGER_ACCOUNT, "action-hub", item_id)
    for action in (desk.actions.text(other), desk.actions.act(other, "dismiss"), desk.actions.add_to_tasks(other)):
        with pytest.raises(RowGone):
            await action


async def test_an_action_ahead_of_the_list(desk: Desk) -> None:
    """The page was there before the list, as after a restart: the mailbox is read, and the row found."""
    draft = await desk.actions.draft_reply(corp("mail-1"), "")
    assert draft.is_new
    assert (desk.corp.asked("messages"), desk.lab.asked("messages")) == (1, 0)


async def test_an_action_on_what_was_never_read(desk: Desk) -> None:
    """Nobody knows whether the row is there: the error is the mailbox's, and not that the row is gone."""
    desk.corp.broken = MailboxUnreachable("Too many requests.")
    for action in (desk.actions.draft_reply(corp("mail-1"), ""), desk.actions.add_to_tasks(corp("mail-1"))):
        with pytest.raises(MailboxUnreachable, match="Too many requests"):
            await action


async def test_a_mailbox_row_is_not_dismissed_here(desk: Desk) -> None:
    """The page keeps those dismissals, until midnight (decision 35)."""
    await desk.comms.read_all()
    with pytest.raises(NotInLedger):
        await desk.actions.act(corp("mail-1"), "dismiss")


async def test_a_text_is_plain(desk: Desk) -> None:
    """That of a message without mark-up; that of an item is what is known of it."""
    await desk.comms.read_all()
    desk.corp.bodies["mail-1"] = MessageBody("text/html", "<p>Hello <b>Ann</b></p><script>x</script>")
    assert (await desk.actions.text(corp("mail-1"))).strip() == "Hello Ann"
    item = RowId(
        "A", LEDGER_ACCOUNT, "action-hub", await desk.ledger.note(NewItem("A", "Call Bo", "bo@lab.example"))
    )
    assert await desk.actions.text(item) == "Call Bo\nFrom: bo@lab.example"


async def test_a_text_of_a_message_that_went(desk: Desk) -> None:
    """It is in the list still, and gone from the mailbox: the text says so."""
    await desk.comms.read_all()
    desk.corp.held = []
    with pytest.raises(RowGone):
        await desk.actions.text(corp("mail-1"))


async def test_a_mailbox_whose_tasks_are_elsewhere(desk: Desk) -> None:
    """Its rows become tasks there, and the list says where; those of the other mailbox stay in the ledger."""
    elsewhere = Ledger(MemoryStore(desk.clock), desk.clock)
    desk.put_tasks_of_corp(elsewhere)
    await desk.comms.read_all()
    _ = await desk.actions.add_to_tasks(corp("mail-1"))
    _ = await desk.actions.add_to_tasks(RowId("B", LAB, "mail", "mail-2"))
    kept = [[one.title for one in (await book.all()).whole()] for book in (elsewhere, desk.ledger)]
    assert kept == [["Subject 1"], ["Subject 2"]]
    states = (await desk.answer())["mailboxes"]
    assert [one["to_do"] for one in states] == [elsewhere.account, "", ""]


async def test_a_broken_store_adds_no_task(desk: Desk) -> None:
    """The error is the store's, and the next try makes the task."""
    await desk.comms.read_all()
    broken = UnreliableStore(desk.store, commit_errors=[StoreUnavailable("The disk is full.")])
    ledger = Ledger(broken, desk.clock)
    actions = replace(desk.actions, ledger=ledger)
    with pytest.raises(StoreUnavailable):
        await actions.add_to_tasks(corp("mail-1"))
    assert not (await actions.add_to_tasks(corp("mail-1"))).already_existed


async def test_a_hung_mailbox_holds_no_other_up(desk: Desk) -> None:
    """The list is answered at once while one mailbox is asked and says nothing."""
    await desk.comms.read_all()
    desk.lab.gate.clear()
    reading = asyncio.ensure_future(desk.comms.read_all())
    await settled()
    assert len((await desk.answer())["rows"]) == 4
    _ = reading.cancel()


async def test_a_row_is_found_while_its_mailbox_is_read(desk: Desk) -> None:
    """What has come of a first reading can be acted on, though the rest hangs."""
    desk.corp.batch, desk.corp.hangs_after = 1, 1
    reading = asyncio.ensure_future(desk.comms.read_all())
    await settled()
    assert (await desk.actions.add_to_tasks(corp("mail-1"))).title == "Subject 1"
    _ = reading.cancel()


async def test_a_missing_row_asks_no_mailbox_again(desk: Desk) -> None:
    """A mailbox that was read to its end is not read again for a row that it has not."""
    await desk.comms.read_all()
    with pytest.raises(RowGone):
        await desk.actions.add_to_tasks(corp("mail-999"))
    assert desk.corp.asked("messages") == 1


async def test_the_same_id_of_the_other_track_has_no_task(desk: Desk) -> None:
    """A task of track A marks no row of track B with the same source id."""
    desk.lab.held = list(desk.corp.held)
    await desk.comms.read_all()
    _ = await desk.actions.add_to_tasks(corp("mail-1"))
    assert (await desk.answer())["tasks"] == [str(corp("mail-1"))]


async def test_a_task_keeps_its_score(desk: Desk) -> None:
    """The list has the score that the mapping tables gave the task, not that of its priority now."""
    await desk.comms.read_all()
    task = await desk.actions.add_to_tasks(RowId("B", LAB, "meeting", "meeting-6"))
    _ = await desk.ledger.items.update(task.id, lambda item: item.change(score=73))
    assert [one["score"] for one in (await desk.answer())["rows"] if one["source"] == "action-hub"] == [73]


@pytest.mark.parametrize(
    "row_id",
    [RowId("A", CORP, "action-hub", "mail-1"), RowId("A", LEDGER_ACCOUNT, "mail", "mail-1"), corp("mail-1")],
)
async def test_only_a_row_of_the_ledger_is_dismissed(desk: Desk, row_id: RowId) -> None:
    """Its source and its account say so, both."""
    await desk.comms.read_all()
    with pytest.raises(NotInLedger):
        await desk.actions.act(row_id, "dismiss")


async def test_a_task_of_a_sender_without_address(desk: Desk) -> None:
    """It names the sender; otherwise it names the address, by which a person is found and erased."""
    desk.corp.held = [without_address(a_message(1)), a_message(2)]
    await desk.comms.read_all()
    for number in (1, 2):
        _ = await desk.actions.add_to_tasks(corp(f"mail-{number}"))
    assert {one.person for one in (await desk.ledger.all()).values()} == {"Sender 1", "sender2@corp.example"}

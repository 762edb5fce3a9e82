"""What stands above a message, and the draft that goes where it says; no track names the other's people."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.cockpit.actions import Actions
from orrery.cockpit.bodies import Bodies
from orrery.cockpit.comms import IN_THE_LEDGER, Comms
from orrery.cockpit.heads import MOST_NAMED
from orrery.cockpit.inbox import Inbox
from orrery.cockpit.ledger import Ledger, NewItem
from orrery.cockpit.rows import LEDGER_ACCOUNT, RowId
from orrery.cockpit.schema import PersonRead
from orrery.cockpit.set_aside import SetAsides
from orrery.cockpit.settings import SCORES, CockpitSettings
from orrery.ports.comms.errors import MailboxRefused, RowGone
from orrery.ports.comms.messages import MailboxMessage, Person, Standing
from orrery.runtime.tasks import Tasks
from tests.support.clock import START, ManualClock
from tests.support.mailboxes import ScriptedMailbox, a_message

CORP, LAB = "ann@corp.example", "ann@lab.example"
ANN, BO, DI = Person("Ann", CORP), Person("Bo", "bo@corp.example"), Person("Di", "di@corp.example")


def written(number: int, sender: str, address: str, **more: object) -> MailboxMessage:
    """Return a message; a higher number is an older one."""
    one = replace(a_message(number), sender=sender, address=address, sender_address=address, to=(ANN,))
    return replace(one, **more)  # pyright: ignore[reportArgumentType]  fields of a message


class Desk:
    """A mailbox of each track, and what is done with their rows."""

    def __init__(self, corp: Sequence[MailboxMessage], lab: Sequence[MailboxMessage] = ()) -> None:
        clock, tasks = ManualClock(), Tasks()
        store = MemoryStore(clock)
        self.corp, self.lab = ScriptedMailbox("A", CORP, [*corp]), ScriptedMailbox("B", LAB, [*lab])
        self.ledger, set_asides = Ledger(store, clock), SetAsides(store, clock)
        inboxes = [Inbox(one, clock, tasks, SCORES) for one in (self.corp, self.lab)]
        self.comms = Comms(inboxes, self.ledger, set_asides, clock, SCORES)
        settings = CockpitSettings.model_validate({})
        self.actions = Actions(self.comms, Bodies(clock, tasks), self.ledger, set_asides, IN_THE_LEDGER, settings)


def row(number: int, account: str = CORP) -> RowId:
    """Return the id of a row."""
    return RowId("A" if account == CORP else "B", account, "mail", f"mail-{number}")


def people(several: Sequence[PersonRead]) -> list[Person]:
    """Return people as a message has them."""
    return [Person(one.name, one.address) for one in several]


IN_A = [written(number, "Odile Marchetti", "odile@partner.example") for number in range(5, 9)]


async def test_the_people_of_a_track_stay_in_it() -> None:
    """Who is known in track A is nobody in track B: no warning there names a person or a domain of A."""
    poses = written(1, "Odile Marchetti", "odile@c0rp.example")
    for corp, lab, account, kinds in (
        ([*IN_A, poses], [], CORP, ["known-person", "look-alike"]),
        (IN_A, [poses], LAB, []),
    ):
        desk = Desk(corp, lab)
        await desk.comms.read_all()
        head = await desk.actions.head(row(1, account))
        assert [one.kind for one in head.warnings] == kinds
        alarms = await desk.comms.senders.alarms()
        assert bool(alarms) is bool(kinds)
        assert "corp.example" not in "".join(alarms.values()) or account == CORP


async def test_who_is_known_follows_what_was_read() -> None:
    """A refresh that brings more makes what is known anew; one that brings nothing does not."""
    desk = Desk([written(1, "Odile Marchetti", "odile@evil.example")])
    await desk.comms.read_all()
    assert (await desk.actions.head(row(1))).warnings == []
    before = await desk.comms.senders.people("A")
    await desk.comms.read_all()
    assert await desk.comms.senders.people("A") is before
    desk.corp.held += IN_A
    await desk.comms.read_all()
    assert [one.kind for one in (await desk.actions.head(row(1))).warnings] == ["known-person"]
    desk.corp.held = desk.corp.held[:1]
    desk.corp.written_to = [Person("Odile Marchetti", "odile@partner.example")]
    await desk.comms.read_all()
    assert [one.kind for one in (await desk.actions.head(row(1))).warnings] == ["known-person"]


async def test_a_draft_goes_where_the_head_says() -> None:
    """To the sender, or to all; each is a draft of its own, and made once."""
    desk = Desk([written(1, "Cy", "cy@corp.example", to=(ANN, BO), cc=(DI, Person("", LAB)))])
    await desk.comms.read_all()
    answer = (await desk.actions.head(row(1))).answer
    assert answer is not None
    assert answer.all is not None
    for to_all, shown in ((False, answer.alone), (True, answer.all)):
        draft = await desk.actions.draft_reply(row(1), "Yes.", to_all=to_all)
        assert not (await desk.actions.draft_reply(row(1), " Yes. ", to_all=to_all)).is_new
        made = desk.corp.drafts[draft.id.removeprefix("draft-")]
        assert ([*made.to], [*made.cc], made.to_all) == (people(shown.to), people(shown.cc), to_all)
    assert len(desk.corp.drafts) == 2
    cy = Person("Cy", "cy@corp.example")
    assert (people(answer.all.to), people(answer.all.cc)) == ([cy, BO], [DI])


async def test_a_draft_answers_the_newest_of_others() -> None:
    """The head names it, with what to look at about its sender; the owner's own message is not answered."""
    own = written(1, "Ann", CORP, conversation="c", standing=Standing(is_own=True))
    newest = written(2, "Bo", "bo@elsewhere.example", conversation="c", reply_to=(Person("", "x@evil.example"),))
    asked = written(3, "Cy", "cy@corp.example", conversation="c")
    desk = Desk([own, newest, asked, replace(written(4, "Nobody", ""), address="")])
    await desk.comms.read_all()
    assert (await desk.actions.head(row(4))).answer is None
    head = await desk.actions.head(row(3))
    assert head.warnings == []
    assert head.answer is not None
    assert (head.answer.sender.name, head.answer.is_newer, head.answer.all) == ("Bo", True, None)
    assert [one.kind for one in head.answer.warnings] == ["reply-to"]
    by_the_old, by_the_new = [await desk.actions.draft_reply(row(number), "Yes.") for number in (3, 2)]
    assert (by_the_new.id, by_the_new.is_new) == (by_the_old.id, False)
    [made] = desk.corp.drafts.values()
    assert made.message.source_id == "mail-2"
    assert "> Text of mail-2" in made.text.content
    assert [one.address for one in made.to] == ["x@evil.example"]


async def test_a_meeting_whose_text_needs_another_permission() -> None:
    """Its place is quoted; mail whose text is refused gets no draft."""
    meeting = replace(a_message(1, "meeting"), preview="Room 4")
    desk = Desk([meeting, a_message(2)])
    await desk.comms.read_all()
    desk.corp.troubles = [MailboxRefused("No permission.")]
    await desk.actions.draft_reply(replace(row(1), source="meeting", source_id="meeting-1"), "")
    [made] = desk.corp.drafts.values()
    assert made.text.content.endswith("> Room 4\n")
    desk.corp.troubles = [MailboxRefused("No permission.")]
    with pytest.raises(MailboxRefused):
        await desk.actions.draft_reply(row(2), "")


async def test_an_item_of_the_ledger() -> None:
    """It has a head without recipients, and what is no row has none."""
    desk = Desk([])
    noted = await desk.ledger.note(NewItem("A", "Call Bo", "Bo"))
    head = await desk.actions.head(RowId("A", LEDGER_ACCOUNT, "action-hub", noted))
    assert (head.sender.name, head.to, head.answer) == ("Bo", [], None)
    await desk.comms.read_all()
    with pytest.raises(RowGone):
        await desk.actions.head(row(9))


async def test_many_recipients_and_hostile_names() -> None:
    """Names are one line without direction characters; of many people some are named and the rest counted."""
    many = tuple(Person(f"P\u202e{number}\n", f"p{number}@many.example") for number in range(MOST_NAMED + 7))
    desk = Desk([written(1, "Cy\u202e", "cy@corp.example", cc=many)])
    await desk.comms.read_all()
    shown = await desk.actions.head(row(1))
    assert (len(shown.cc), shown.more, shown.track) == (MOST_NAMED, 7, "A")
    assert all(one.name.isprintable() for one in (shown.sender, *shown.cc))
    assert shown.answer is not None
    assert shown.answer.all is not None
    assert shown.answer.all.more == 7


async def test_the_first_contact_of_somebody_whom_the_owner_wrote_to() -> None:
    """An answer to the owner's own mail is no first contact."""
    others = [written(number, f"P{number}", f"p{number}@many.example") for number in range(10, 30)]
    desk = Desk([written(1, "New", "new@new.example"), *others])
    await desk.comms.read_all()
    assert [one.kind for one in (await desk.actions.head(row(1))).warnings] == ["first-contact"]
    desk.corp.written_to = [Person("", "NEW@new.example")]
    await desk.comms.read_all()
    assert (await desk.actions.head(row(1))).warnings == []
    assert START - timedelta(minutes=29) == (await desk.comms.senders.people("A")).since

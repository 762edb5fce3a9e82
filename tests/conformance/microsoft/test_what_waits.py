"""What waits in the mailbox of a Microsoft account: what is done there shows at the next refresh (decision 57)."""

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.cockpit.waiting import Reason, own_reason_of, why_not
from orrery.ports.comms.messages import MailboxMessage
from tests.support.graph import GraphBox
from tests.support.tracks import ANN_A

WATCHED = frozenset({"course.lab.example"})
SENT = "GET /me/mailFolders/{id}/messages/delta"


async def listed(mailbox: MicrosoftMailbox) -> list[MailboxMessage]:
    """Return every message, as it came last."""
    found: dict[str, MailboxMessage] = {}
    async for batch in mailbox.messages():
        found |= {one.source_id: one for one in batch.messages}
    return [*found.values()]


async def reasons(mailbox: MicrosoftMailbox) -> dict[str, Reason | None]:
    """Return why each message does not wait, by its subject."""
    now = mailbox.client.clock.now()
    return {one.subject: why_not(one, own_reason_of(one, WATCHED), now, None) for one in await listed(mailbox)}


@pytest.mark.parametrize("trace", [{}, {"flagged": False}, {"sent": False}])
@pytest.mark.parametrize("first", ["read before", "answered before"])
async def test_answered_by_another_program(
    box: GraphBox, mail: MicrosoftMailbox, trace: dict[str, bool], first: str
) -> None:
    """At the next refresh it waits no more, by its flag or by sent mail, also after a restart."""
    arrived = box.arrive(ANN_A, subject="A question")
    if first == "read before":
        assert (await reasons(mail))["A question"] is None
    box.lever("answer", ANN_A, id=arrived["immutable_id"], **trace)
    assert (await reasons(mail))["A question"] == "answered"
    assert (await reasons(mail))["Lunch?"] is None


@pytest.mark.parametrize("trace", [{"flagged": False}, {"sent": False}])
async def test_an_answer_to_a_later_message(box: GraphBox, mail: MicrosoftMailbox, trace: dict[str, bool]) -> None:
    """What came before it in the conversation is answered, too; what comes behind it waits."""
    box.arrive(ANN_A, subject="First", conversation="c", minutes_ago=20)
    second = box.arrive(ANN_A, subject="Second", conversation="c", minutes_ago=10)
    await listed(mail)
    box.lever("answer", ANN_A, id=second["immutable_id"], **trace)
    assert {name: why for name, why in (await reasons(mail)).items() if name in {"First", "Second"}} == {
        "First": "answered",
        "Second": "answered",
    }
    box.clock.advance(60)
    box.arrive(ANN_A, subject="Third", conversation="c")
    found = await reasons(mail)
    assert (found["First"], found["Second"], found["Third"]) == ("answered", "answered", None)


async def test_what_a_message_says(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """Whom it names, its headers, its flag; an alias of the account is the account."""
    others = [["Cy", "cy@corp.example"]]
    for subject, values in {
        "bulk": {"headers": {"List-Unsubscribe": "<https://list.example/leave>"}},
        "watched": {"headers": {"List-Id": "The course <course.lab.example>"}, "to": others},
        "machine": {"headers": {"Auto-Submitted": "auto-generated"}},
        "copy": {"to": others, "cc": [["Ann", ANN_A]]},
        "others": {"to": others},
        "alias": {"to": [["Ann", f"also.{ANN_A}"]]},
        "complete": {"flag": "complete"},
        "flagged": {"flag": "flagged"},
        "own": {"sender": {"name": "Ann", "address": ANN_A}},
    }.items():
        box.arrive(ANN_A, subject=subject, **values)
    found = await reasons(mail)
    assert {name: found[name] for name in found if found[name]} == {
        "bulk": "bulk",
        "machine": "bulk",
        "copy": "not-to-you",
        "others": "not-to-you",
        "complete": "done",
        "own": "own",
    }
    assert {"watched", "alias", "flagged"} < {*found}


async def test_flagged_complete_elsewhere(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """It waits no more at the next refresh, and again when the flag is taken away."""
    arrived = box.arrive(ANN_A, subject="To do")
    assert (await reasons(mail))["To do"] is None
    for flag, reason in (("complete", "done"), ("notFlagged", None)):
        box.lever("change", ANN_A, id=arrived["immutable_id"], flag=flag)
        assert (await reasons(mail))["To do"] == reason


async def test_the_last_word_in_a_chat(box: GraphBox, whole: MicrosoftMailbox) -> None:
    """A chat in which the account spoke last does not wait; the next word of another does."""
    mailbox = replace(whole, parts=("teams",))
    with box.client(ANN_A) as web:
        own = web.get("/me").json()["id"]
    before = await reasons(mailbox)
    topic = next(name for name, why in before.items() if why is None)
    sender = {"from": {"user": {"id": own, "displayName": "Ann"}}}
    box.clock.advance(60)
    box.lever("chat", ANN_A, chat=topic, text="I do", set=sender)
    assert (await reasons(mailbox))[topic] == "answered"
    box.clock.advance(60)
    box.lever("chat", ANN_A, chat=topic, text="Thanks")
    assert (await reasons(mailbox))[topic] is None


async def test_meetings(box: GraphBox, whole: MicrosoftMailbox) -> None:
    """What is declined, cancelled or over does not wait, nor time alone; what is under way does."""
    now = box.clock.now().astimezone(UTC)

    def add(subject: str, begins: timedelta, **values: object) -> None:
        ines: dict[str, object] = {"organizer": ["Ines", "ines@corp.example"]}
        start = f"{now + begins:%Y-%m-%dT%H:%M:%S}"
        box.lever("meeting", ANN_A, subject=subject, start=start, zone="UTC", **ines | values)

    add("over", -timedelta(minutes=31))
    add("under way", -timedelta(minutes=29))
    add("ahead", timedelta(hours=1))
    add("declined", timedelta(hours=1), response="declined")
    add("cancelled", timedelta(hours=1), cancelled=True)
    add("focus", timedelta(hours=1), organizer=None)
    add("own, with others", timedelta(hours=1), organizer=None, others=[["Cy", "cy@corp.example"]])
    wanted: dict[str, Reason | None] = {
        "over": "over",
        "under way": None,
        "ahead": None,
        "declined": "declined",
        "cancelled": "cancelled",
        "focus": "own",
        "own, with others": None,
    }
    found = await reasons(replace(whole, parts=("meeting",)))
    midnight = now.astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if now - timedelta(minutes=1) < midnight:
        del wanted["over"]  # it was yesterday's
    assert {name: found.get(name, "not there") for name in wanted} == wanted


async def test_a_whole_day_that_is_under_way(box: GraphBox, whole: MicrosoftMailbox) -> None:
    """A meeting of several days that began before today is there until its last midnight."""
    today = box.clock.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    values: dict[str, object] = {"all_day": True, "zone": "UTC", "organizer": ["Ines", "ines@corp.example"]}
    start = f"{today - timedelta(days=2):%Y-%m-%dT%H:%M:%S}"
    box.lever("meeting", ANN_A, subject="Fair", start=start, minutes=3 * 1440, **values)
    box.lever("meeting", ANN_A, subject="Fair before", start=start, minutes=2 * 1440, **values)
    found = await reasons(replace(whole, parts=("meeting",)))
    assert found["Fair"] is None
    assert "Fair before" not in found


async def test_sent_mail_that_cannot_be_read(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """The mailbox reports that, and the next refresh goes on: what is answered would be listed without a word."""
    await listed(mail)
    box.fault("graph_403", SENT, count=1)
    with pytest.raises(Exception, match="Mail"):
        await listed(mail)
    assert await listed(mail)


async def test_sent_mail_whose_state_is_lost(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """It is read again, and what was known stays known."""
    arrived = box.arrive(ANN_A, subject="A question")
    box.lever("answer", ANN_A, id=arrived["immutable_id"], flagged=False)
    assert (await reasons(mail))["A question"] == "answered"
    box.lever("expire", ANN_A)
    assert (await reasons(mail))["A question"] == "answered"


async def test_removed_while_it_is_read_for_the_first_time(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """What was listed already is taken back in the same reading."""
    box.fill(ANN_A, 300)
    batches = mail.messages()
    first = (await anext(batches)).messages[0]
    box.lever("delete", ANN_A, id=first.source_id)
    gone = [one async for batch in batches for one in batch.gone]
    assert gone == [first.source_id]
    assert first.source_id not in {one.source_id for one in await listed(mail)}

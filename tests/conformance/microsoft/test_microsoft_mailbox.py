"""The mailbox at Microsoft Graph, against the sandbox and the vendor's traps (decisions 35, 36, 38)."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.ports.comms.errors import MailboxError, MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.comms.messages import MailboxMessage
from orrery.tenants.account_tokens import AccountTokens
from tests.conformance.microsoft.signed_in import microsoft_mailbox
from tests.support.graph import GraphBox
from tests.support.mailboxes import reply_to
from tests.support.tracks import ANN_A, ANN_B
from tests.support.waiting import eventually

DELTA = "GET /me/mailFolders/{id}/messages/delta"


async def listed(mailbox: MicrosoftMailbox) -> list[MailboxMessage]:
    """Return every message."""
    return [one async for batch in mailbox.messages() for one in batch.messages]


async def until_it_breaks(mailbox: MicrosoftMailbox) -> tuple[list[MailboxMessage], MailboxError]:
    """Return what comes before a reading breaks, and why it does."""
    found = list[MailboxMessage]()
    try:
        async for batch in mailbox.messages():
            found += batch.messages
    except MailboxError as error:
        return found, error
    raise AssertionError("it did not break")


def calls(box: GraphBox, before: Counter[str]) -> Counter[str]:
    """Return the calls since."""
    return box.calls(ANN_A) - before


async def test_a_refresh_asks_for_changes_only(box: GraphBox, whole: MicrosoftMailbox) -> None:
    """In steady state the inbox, sent mail, chats and meetings are one call each, however much there is."""
    await listed(whole)
    box.arrive(ANN_A, subject="New")
    before = box.calls(ANN_A)
    found = await listed(whole)
    assert "New" in {one.subject for one in found}
    assert calls(box, before) == {DELTA: 2, "GET /me/chats": 1, "GET /me/calendarView": 1}


async def test_nothing_is_fetched_twice(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """A first reading that breaks off goes on at the page where it broke."""
    box.fill(ANN_A, 1500)
    box.fault("graph_503", DELTA, count=20, skip=3)  # behind sent mail, and two pages of the inbox
    found, _ = await until_it_breaks(mail)
    assert len(found) == 250
    box.clear_faults()
    before = box.calls(ANN_A)
    ids = [one.source_id for one in await listed(mail)]
    assert len(ids) == len(set(ids)) == 1504
    assert calls(box, before) == {DELTA: 8}


async def test_the_newest_come_first(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """The first batch of a full mailbox is small, and has the newest messages."""
    box.fill(ANN_A, 1500)
    async for batch in mail.messages():
        assert len(batch.messages) == 50
        assert {"Lunch?", "Offer for the museum"} <= {one.subject for one in batch.messages}
        break


async def test_a_list_that_the_vendor_cuts(box: GraphBox, shared: tuple[GraphBox, AccountTokens]) -> None:
    """A period gets 5,000 messages at most, without a sign of the vendor's: the rest is asked for otherwise.

    What leaves the part behind the end leaves the list, too.
    """
    box.fill(ANN_A, 6000)
    of_days = microsoft_mailbox(box, shared[1], parts=("mail",), days=36_500)
    found = await listed(of_days)
    assert len({one.source_id for one in found}) == len(found) == 6004
    box.lever("delete", ANN_A, id=found[-1].source_id)
    assert len(await listed(of_days)) == 6003


async def test_what_leaves_the_inbox(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """A message that is deleted or moved away leaves the list, and its text is gone."""
    before = await listed(mail)
    box.lever("delete", ANN_A, id=before[0].source_id)
    box.lever("move", ANN_A, id=before[1].source_id, folder="archive")
    after = await listed(mail)
    assert {one.source_id for one in before} - {one.source_id for one in after} == {
        before[0].source_id,
        before[1].source_id,
    }
    with pytest.raises(RowGone):
        await mail.body("mail", before[0].source_id)


async def test_a_message_that_is_moved_keeps_its_id(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """Ids are immutable: what is still shown can be read and answered wherever it is by now."""
    one = (await listed(mail))[0]
    box.lever("move", ANN_A, id=one.source_id, folder="archive")
    assert (await mail.body("mail", one.source_id)).content
    assert (await mail.draft(reply_to("k" * 24, one, "Yes"))).is_new


async def test_a_mailbox_that_is_renumbered(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """Every id is another: the rows of before are gone, and the list goes on with the new ones."""
    before = await listed(mail)
    box.lever("renumber", ANN_A)
    with pytest.raises(RowGone):
        await mail.body("mail", before[0].source_id)
    after = await listed(mail)
    assert not {one.source_id for one in before} & {one.source_id for one in after}
    assert [one.subject for one in before] == [one.subject for one in after]


async def test_a_state_that_is_too_old(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """Everything is read again, in the same refresh."""
    before = await listed(mail)
    box.lever("expire", ANN_A)
    assert await listed(mail) == before


async def test_read_elsewhere(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """A change of what is not listed changes no row."""
    before = await listed(mail)
    box.lever("change", ANN_A, id=before[0].source_id, read=True)
    assert await listed(mail) == before


@pytest.mark.parametrize("odd", ["no_received", "bad_received", "wrong_types"])
async def test_a_message_that_cannot_be_read(box: GraphBox, mail: MicrosoftMailbox, odd: str) -> None:
    """It is counted, and hides no other."""
    good = await listed(mail)
    box.arrive(ANN_A, odd=odd)
    batches = [one async for one in mail.messages()]
    assert [one for batch in batches for one in batch.messages] == good
    assert sum(batch.unreadable for batch in batches) == 1


@pytest.mark.parametrize(
    "odd",
    ["no_from", "null_from", "null_subject", "importance", "event_message", "unknown_fields", "long_subject"],
)
async def test_an_odd_message(box: GraphBox, mail: MicrosoftMailbox, odd: str) -> None:
    """What the list does not need may be missing or unheard of."""
    before = len(await listed(mail))
    box.arrive(ANN_A, odd=odd)
    found = await listed(mail)
    assert len(found) == before + 1
    assert all(one.priority in {"high", "normal", "low"} for one in found)


async def test_one_part_that_fails(box: GraphBox, whole: MicrosoftMailbox) -> None:
    """The others are listed, and the error names the part."""
    box.fault("graph_403", "GET /me/chats", count=1)
    found, error = await until_it_breaks(whole)
    assert {one.source for one in found} == {"mail", "meeting"}
    assert isinstance(error, MailboxRefused)
    assert str(error).startswith("Chats: ")
    assert error.unread == {"teams"}


async def test_throttled_for_a_second(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """As long as the vendor asks for, and then the answer comes."""
    box.fault("graph_429", DELTA, count=1, value=1)
    assert await listed(mail)


async def test_throttled_for_long(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """The sentence has the wait; nothing is asked again meanwhile."""
    before = box.calls(ANN_A)
    box.fault("graph_429", DELTA, count=1, value=120)
    _, error = await until_it_breaks(mail)
    assert "asks to wait for 120 s" in str(error)
    assert calls(box, before)[DELTA] == 1


@pytest.mark.parametrize("fault", ["graph_cut", "graph_html_200", "graph_half"])
async def test_an_answer_that_is_none(box: GraphBox, mail: MicrosoftMailbox, fault: str) -> None:
    """One sentence, and the next refresh goes on."""
    box.fault(fault, DELTA, count=1)
    _, error = await until_it_breaks(mail)
    assert isinstance(error, MailboxUnreachable)
    assert await listed(mail)


async def test_a_token_that_the_api_refuses(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """It is asked for once more, and then a person is."""
    box.fault("graph_401", DELTA, count=1)
    assert await listed(mail)
    box.fault("graph_401", DELTA, count=2)
    _, error = await until_it_breaks(mail)
    assert isinstance(error, SignInNeeded)


async def test_an_account_that_did_not_sign_in(box: GraphBox, shared: tuple[GraphBox, AccountTokens]) -> None:
    """It needs a person, and no request is made."""
    mailbox = microsoft_mailbox(box, shared[1], "bob@corp.example")
    _, error = await until_it_breaks(mailbox)
    assert isinstance(error, SignInNeeded)
    assert box.calls("bob@corp.example") == {}


async def test_a_next_page_elsewhere(mail: MicrosoftMailbox) -> None:
    """No address of another host is asked: it would get the token."""
    async with mail.client.session() as session:
        with pytest.raises(MailboxUnreachable, match="at another address"):
            await session.follow("https://elsewhere.example/v1.0/me")


async def test_a_draft_whose_key_was_not_stored(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """Killed between the reply and its key: the retry finds the same draft, and stores its key."""
    one = (await listed(mail))[0]
    reply = reply_to("k" * 24, one, "Yes, at noon.")
    box.fault("graph_503", "PATCH /me/messages/{id}", count=20)
    with pytest.raises(MailboxUnreachable):
        await mail.draft(reply)
    box.clear_faults()
    found = await mail.draft(reply)
    assert not found.is_new
    assert await mail.draft(reply) == found
    assert len(drafts(box)) == 1


async def test_a_draft_whose_answer_was_lost(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """Made at the vendor, and not reported here: the retry finds the same draft."""
    one = (await listed(mail))[0]
    for path, reply in (
        ("POST /me/messages/{id}/createReply", reply_to("a" * 24, one, "Yes")),
        ("PATCH /me/messages/{id}", reply_to("b" * 24, one, "No")),
        ("POST /me/messages/{id}/createReply", reply_to("c" * 24, one)),
        ("POST /me/messages", reply_to("d" * 24, replace(one, source="teams", source_id=await chat_id(mail)))),
    ):
        count = len(drafts(box))
        box.fault("graph_half", path, count=1)
        with pytest.raises(MailboxUnreachable):
            await mail.draft(reply)
        assert not (await mail.draft(reply)).is_new
        assert len(drafts(box)) == count + 1


async def chat_id(mailbox: MicrosoftMailbox) -> str:
    """Return the id of a chat message."""
    found = await listed(replace(mailbox, parts=("teams",)))
    return found[0].source_id


def drafts(box: GraphBox) -> list[dict[str, Any]]:
    """Return the drafts at the vendor."""
    with box.client(ANN_A) as web:
        return web.get("/me/mailFolders/drafts/messages", params={"$top": "50"}).raise_for_status().json()["value"]


async def test_a_draft_of_several_lines(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """The lines stay, with the original below; mark-up in a comment is text."""
    one = (await listed(mail))[0]
    original = await mail.body("mail", one.source_id)
    await mail.draft(reply_to("k" * 24, one, "Dear Tomás,\n\nyes & no <b>.\n", original))
    [draft] = drafts(box)
    content = draft["body"]["content"]
    assert content.index("yes &amp; no &lt;b&gt;.") < content.index("blockquote")
    assert "Dear Tomás,<br>\n<br>\nyes" in content
    assert "usual place" in content.partition("blockquote")[2]


async def test_an_original_that_changes_meanwhile(box: GraphBox, mail: MicrosoftMailbox) -> None:
    """Its unread state is put back against the newest version: a conflict (412) is looked at again."""
    one = next(each for each in await listed(mail) if unread(box, each))
    read, before = "GET /me/messages/{id}", box.calls(ANN_A)
    box.fault("graph_lost_answer", read, count=1, skip=1, value=1.0)

    def asked_twice() -> None:
        assert calls(box, before)[read] == 2

    def change() -> None:
        eventually(asked_twice)
        box.lever("change", ANN_A, id=one.source_id, importance="high")

    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(change))
        group.create_task(mail.draft(reply_to("k" * 24, one, "Yes")))
    assert unread(box, one)
    assert calls(box, before)["PATCH /me/messages/{id}"] == 3


def unread(box: GraphBox, one: MailboxMessage) -> bool:
    """Return whether a message is unread at the vendor."""
    with box.client(ANN_A) as web:
        return web.get(f"/me/messages/{one.source_id}").raise_for_status().json()["isRead"] is False


async def test_meetings_in_every_zone(box: GraphBox, whole: MicrosoftMailbox) -> None:
    """Each occurrence is a row at its moment, with what was answered; and a whole day is local."""
    now = box.clock.now().astimezone(UTC)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    start = f"{day:%Y-%m-%d}T20:00:00"
    for name, values in {
        "Tokyo": {"zone": "Asia/Tokyo"},
        "Berlin": {"zone": "Europe/Berlin"},
        "Cancelled": {"zone": "UTC", "cancelled": True},
        "Declined": {"zone": "UTC", "response": "declined", "organizer": ["Ines", "ines@corp.example"]},
        "Holiday": {"zone": "Europe/Berlin", "all_day": True},
    }.items():
        box.lever("meeting", ANN_A, subject=name, start=start, **values)
    meetings = await listed(replace(whole, parts=("meeting",)))
    found = {one.subject: one.received_at for one in meetings}
    standing = {one.subject: one.standing for one in meetings}
    assert standing["Cancelled"].is_cancelled
    assert standing["Declined"].is_declined
    naive = datetime.fromisoformat(start)
    if "Berlin" in found:
        assert found["Berlin"].astimezone(UTC).hour in {18, 19}
    assert found["Holiday"] == datetime(naive.year, naive.month, naive.day).astimezone()


async def test_the_track_is_that_of_the_sign_in(box: GraphBox, shared: tuple[GraphBox, AccountTokens]) -> None:
    """Only that shows it."""
    assert microsoft_mailbox(box, shared[1], ANN_A).track == "A"
    assert microsoft_mailbox(box, shared[1], ANN_B).track == "B"


async def test_nothing_sends(box: GraphBox, whole: MicrosoftMailbox) -> None:
    """Listing, reading and drafting of everything sends nothing: the vendor's own count."""
    for one in await listed(whole):
        await whole.body(one.source, one.source_id)
        if one.address:
            await whole.draft(reply_to(f"{abs(hash(one.source_id))}", one, "Yes"))
    assert box.sends == []

"""Whom a draft goes to, and what it quotes: the same for every mailbox."""

from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from orrery.cockpit.answers import newest_of, quoted, recipients_of
from orrery.ports.comms.mailboxes import MessageBody
from orrery.ports.comms.messages import MailboxMessage, Person, Standing
from tests.support.clock import START
from tests.support.tables import each_case

OWN = ["ann@corp.example", "a.lind@corp.example"]
CY, BO, DI = (Person(one, f"{one.lower()}@lab.example") for one in ("Cy", "Bo", "Di"))
ANN, ALIAS = Person("Ann", "Ann@Corp.example"), Person("", "a.lind@corp.example")
MESSAGE = MailboxMessage("mail", "1", "Cy", "cy@lab.example", "Noon", "", START, sender_address="cy@lab.example")
LIST = Person("Friends", "friends@lists.example")

WHOM: dict[str, tuple[MailboxMessage, list[Person], list[Person], list[Person]]] = {
    "the sender": (MESSAGE, [CY], [CY], []),
    "everybody but the owner": (replace(MESSAGE, to=(ANN, BO), cc=(ALIAS, DI)), [CY], [CY, BO], [DI]),
    "each once": (replace(MESSAGE, to=(BO, BO, CY), cc=(BO, DI, replace(DI, name="D."))), [CY], [CY, BO], [DI]),
    "each once in any case": (
        replace(MESSAGE, to=(Person("", "BO@LAB.example"), BO)),
        [CY],
        [CY, Person("", "BO@LAB.example")],
        [],
    ),
    "where the sender wants it": (replace(MESSAGE, reply_to=(LIST,), to=(LIST, BO)), [LIST], [LIST, BO], []),
    "not to the owner who is named there": (replace(MESSAGE, reply_to=(ANN,), to=(ANN,)), [CY], [CY], []),
    "not where an address is none": (
        replace(MESSAGE, reply_to=(Person("x", "none"),), to=(Person("y", ""),)),
        [CY],
        [CY],
        [],
    ),
    "an address without a name": (
        replace(MESSAGE, sender="cy@lab.example"),
        [Person("", "cy@lab.example")],
        [Person("", "cy@lab.example")],
        [],
    ),
    "the organizer": (replace(MESSAGE, source="meeting", to=(ANN, BO)), [CY], [CY, BO], []),
}


@each_case("name", WHOM)
def test_whom_it_goes_to(name: str) -> None:
    """To the sender alone, or to all; the owner's own addresses are left out."""
    message, alone, to, cc = WHOM[name]
    found = recipients_of(message, OWN, to_all=False)
    assert (list(found.to), found.cc) == (alone, ())
    found = recipients_of(message, OWN, to_all=True)
    assert (list(found.to), list(found.cc)) == (to, cc)


def test_which_message_is_answered() -> None:
    """The newest of the conversation that is not the owner's own (decision 65)."""
    first = replace(MESSAGE, conversation="c")
    newer = replace(first, source_id="2", received_at=START + timedelta(minutes=1))
    own = replace(first, source_id="3", received_at=START + timedelta(minutes=2), standing=Standing(is_own=True))
    other = replace(newer, source_id="4", conversation="d", received_at=START + timedelta(minutes=3))
    assert newest_of(first, [own, other, newer, first]) is newer
    assert newest_of(newer, [first, own]) is newer
    assert newest_of(MESSAGE, [replace(newer, conversation="")]) is MESSAGE


def test_quoting_a_text() -> None:
    """Who wrote and when stand in one line above each line of the original, and the comment above that."""
    text = quoted(MESSAGE, MessageBody("text/plain", "Is noon well?\n> Perhaps.\n\nCy"), " Yes.\n")
    assert text == MessageBody(
        "text/plain", "Yes.\n\nOn 2026-03-01 at 12:00 UTC, Cy wrote:\n> Is noon well?\n>> Perhaps.\n>\n> Cy\n"
    )
    berlin = replace(MESSAGE, received_at=START.astimezone(timezone(timedelta(hours=1))))
    assert quoted(berlin, text, "").content.startswith("On 2026-03-01 at 12:00 UTC, Cy wrote:\n> Yes.")


def test_quoting_mark_up() -> None:
    """It is mark-up, in which the comment and the name are text."""
    text = quoted(replace(MESSAGE, sender="<i>Cy\n"), MessageBody("text/html", "<p>Noon?</p>"), "<b>no</b>\nAnn")
    assert text.content == (
        "<p>&lt;b&gt;no&lt;/b&gt;<br>\nAnn</p>\n<p>On 2026-03-01 at 12:00 UTC, &lt;i&gt;Cy wrote:</p>\n"
        "<blockquote><p>Noon?</p></blockquote>\n"
    )


@pytest.mark.parametrize("where", ["[track:A] a", "a [track:B]", "[track:A]\na"])
def test_a_recipient_gets_no_label(where: str) -> None:
    """A label that was copied into the comment or into the original is left out."""
    for original, comment in ((where, ""), ("a", where)):
        for kind in ("text/plain", "text/html"):
            body = MessageBody("text/html" if kind == "text/html" else "text/plain", original)
            assert "track:" not in quoted(MESSAGE, body, comment).content

"""What is warned of about who wrote, and, as a longer table, what is not: false alarms cost trust."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from orrery.cockpit.correspondents import Correspondents, person_key
from orrery.cockpit.sender_warnings import ENOUGH, warnings_of
from orrery.ports.comms.messages import MailboxMessage, Person, Standing
from tests.support.clock import START
from tests.support.tables import each_case

OWN = ("Ann@Corp.example", "ann@lab.example")
BOSS = "odile.marchetti@partner.example"


def mail(sender: str, address: str, hours: float = 1, **more: Any) -> MailboxMessage:  # noqa: ANN401  fields of a message
    """Return a message that came so long ago; `lists`, `is_bulk` and the like are its standing."""
    standing = {name: more.pop(name) for name in ("lists", "is_bulk", "is_answered", "is_own") if name in more}
    one = MailboxMessage(
        "mail", f"{address} {hours}", sender, address, "Subject", "", START - timedelta(hours=hours)
    )
    return replace(one, sender_address=address, standing=Standing(**standing), **more)


def to(*addresses: str) -> tuple[Person, ...]:
    """Return people without names."""
    return tuple(Person("", one) for one in addresses)


BEFORE = [
    *(mail("Odile Marchetti", BOSS, 100 + day) for day in range(3)),
    mail("Jürgen Ødegård", "jurgen@fjord.example", 110, is_answered=True),
    mail("田中由紀", "tanaka@kyoto.example", 111, is_answered=True),
    mail("Kim Lee", "kim.lee@gmail.com", 112, is_answered=True),
    mail("Support Team", "support@hosting.example", 113, is_answered=True),
    mail("Once Only", "once@elsewhere.example", 114),
    *(mail(f"Writer {day}", f"writer{day}@many.example", 200 + day) for day in range(ENOUGH)),
]
WRITTEN_TO = [
    Person("Anna Own", "ann@lab.example"),
    Person("Wanda Keller", "wanda@keller.example"),
    Person("Ann Lind", "ann.lind@private.example"),
]
KNOWN = Correspondents(BEFORE, OWN, written_to=WRITTEN_TO)

NAME, PERSON, ALIKE, REPLY, FIRST = "name-is-address", "known-person", "look-alike", "reply-to", "first-contact"
EVIL = "x@evil.example"

WARNED: list[tuple[MailboxMessage, Sequence[str]]] = [
    (mail("boss@corp.example", EVIL), [NAME, FIRST]),
    (mail("Boss <boss@corp.example>", EVIL), [NAME, FIRST]),
    (mail("boss @ corp . example", EVIL), [NAME, FIRST]),
    (mail("boss＠corp．example", EVIL), [NAME, FIRST]),  # noqa: RUF001  the letters are of full width
    (mail("boss﹫corp.example", EVIL), [NAME, FIRST]),
    (mail("b\u200bo\u202ess@corp.example", EVIL), [NAME, FIRST]),
    (mail("boss (at) corp.example", EVIL), [NAME, FIRST]),
    (mail("boss@cоrp.example", EVIL), [NAME, FIRST]),  # noqa: RUF001  a letter is Cyrillic
    (mail("boss@corp.example via Docs", EVIL), [NAME, FIRST]),
    (mail("boss@gmail.com", "other@gmail.com"), [NAME, FIRST]),
    (mail("Odile Marchetti", EVIL), [PERSON, FIRST]),
    (mail("ODILE  MARCHETTI", EVIL), [PERSON, FIRST]),
    (mail("Marchetti, Odile", EVIL), [PERSON, FIRST]),
    (mail("Dr. Odile B. Marchetti (CEO)", EVIL), [PERSON, FIRST]),
    (mail("Odile Marchetti | Partner", EVIL), [PERSON, FIRST]),
    (mail("Odíle Märchetti", EVIL), [PERSON, FIRST]),
    (mail("Оdilе Mаrсhеtti", EVIL), [PERSON, FIRST]),  # noqa: RUF001  a letter is Cyrillic
    (mail("OdiIe Marchettl", EVIL), [PERSON, FIRST]),
    (mail("Odile Marchetti", "odile.marchetti@gmail.com"), [PERSON, FIRST]),
    (mail("Odile Marchetti", EVIL, is_bulk=True), [PERSON]),
    (mail("Jurgen Odegard", EVIL), [PERSON, FIRST]),
    (mail("田中由紀", EVIL), [PERSON, FIRST]),
    (mail("Kim Lee", "kim.lee.2@gmail.com"), [PERSON, FIRST]),
    (mail("Wanda Keller", EVIL), [PERSON, FIRST]),
    (mail("Odile Marchetti", "odile@pаrtner.example"), [PERSON, ALIKE, FIRST]),  # noqa: RUF001  a letter is Cyrillic
    (mail("Accounts", "accounts@partner.exarnple"), [ALIKE, FIRST]),
    (mail("IT", "it@c0rp.example"), [ALIKE, FIRST]),
    (mail("IT", "it@xn--crp-sed.example"), [ALIKE, FIRST]),
    (mail("Odile Marchetti", BOSS, reply_to=to(EVIL)), [REPLY]),
    (mail("Odile Marchetti", BOSS, reply_to=to(BOSS, EVIL)), [REPLY]),
    (mail("Stranger", "s@strange.example"), [FIRST]),
    (mail("Anna Own", EVIL), [FIRST]),
    (mail("Shop", "forms@shop.example", reply_to=to("visitor@gmail.com")), [REPLY, FIRST]),
]

SILENT = [
    mail("Odile Marchetti", BOSS),
    mail("Odile Marchetti", "ODILE.Marchetti@Partner.example"),
    mail("Writer 3", "writer3@many.example"),
    mail("", "writer3@many.example"),
    mail("writer3@many.example", "writer3@many.example"),
    # a colleague with two addresses at one domain; at a part of it
    mail("Odile Marchetti", "om@partner.example"),
    mail("Odile Marchetti", "odile@mail.partner.example"),
    # one who wrote by a list, which replaced the address or says where to answer
    mail("Odile Marchetti via Friends", "friends@lists.example", lists=("friends@lists.example",)),
    mail("'boss@corp.example' via Friends", "friends@lists.example", lists=("friends@lists.example",)),
    mail("Odile Marchetti", BOSS, lists=("friends@lists.example",), reply_to=to("friends@lists.example")),
    # services that write in the name of a person
    mail("Odile Marchetti (via Docs)", "comments-noreply@docs.example", reply_to=to(BOSS), is_bulk=True),
    mail("Odile Marchetti", "notifications@codehost.example", is_bulk=True, lists=("repo.codehost.example",)),
    mail("Odile Marchetti via Sign", "no-reply@sign.example", reply_to=to(BOSS), is_bulk=True),
    mail("Odile Marchetti", "reply+ab12@calendar.example", is_bulk=True, lists=("reply+ab12@calendar.example",)),
    # a notification whose name is an address of its own organization
    mail("orders@shop.example", "no-reply@mail.shop.example", is_bulk=True),
    mail("Booking.com", "no-reply@mailer.booking.example", is_bulk=True),
    mail("@handle wrote to you", "notify@social.example", is_bulk=True),
    # desks and services with the same name
    mail("Support Team", "support@otherhost.example", is_bulk=True),
    mail("Odile", "odile@shoes.example", is_bulk=True),
    # an answer that goes to somebody known, to the owner, or to the same organization
    mail("Wanda Keller", "wanda@keller.example", reply_to=to("office@www.keller.example")),
    mail("Odile Marchetti", BOSS, reply_to=to("jurgen@fjord.example")),
    mail("Odile Marchetti", BOSS, reply_to=to("ANN@corp.example")),
    mail("Odile Marchetti", BOSS, reply_to=to("")),
    # the owner's own addresses, and one of the owner's that no setting names
    mail("Ann Lind", "ann@lab.example"),
    mail("boss@corp.example", "ann@corp.example"),
    mail("Ann Lind", "ann.lind@private.example"),
    # a new colleague
    mail("Nora New", "nora@corp.example"),
    # what was read of the time before is too little to say that an address is new
    mail("Stranger", "s@strange.example", hours=10_000),
    # what the owner wrote from an address that no setting names, a chat, a list, and a service that says so
    mail("Ann Lind", "ann@elsewhere.example", is_own=True),
    replace(mail("Stranger", "s@strange.example"), source="teams"),
    mail("Stranger", "s@strange.example", lists=("a.lists.example",)),
    mail("Cy via Sign", "no-reply@sign.example", reply_to=to("cy@strange.example")),
    # a person of whom one message came is not known, and is not taken for another
    mail("Once Only", "once@other.example", is_bulk=True),
    mail("Nobody", ""),
]


@each_case(("message", "kinds"), WARNED)
def test_warned(message: MailboxMessage, kinds: Sequence[str]) -> None:
    """Each way to pose as another is found, in the order of its weight; each sentence names an address."""
    found = warnings_of(message, KNOWN)
    assert [one.kind for one in found] == kinds
    assert all(one.words.endswith(".") and one.words.isprintable() for one in found)


@each_case("message", SILENT)
def test_silent(message: MailboxMessage) -> None:
    """What looks alike and is usual is not warned of."""
    assert [one.words for one in warnings_of(message, KNOWN)] == []


def test_the_sentences() -> None:
    """Each says what is so, with both addresses, and what is written in other letters in those of the network."""

    def words(message: MailboxMessage) -> list[str]:
        return [one.words for one in warnings_of(message, KNOWN)]

    assert words(mail("boss@corp.example", EVIL))[0] == (
        "The name reads boss@corp.example, but the address is x@evil.example."
    )
    assert words(mail("Marchetti, Odile", EVIL))[0] == (
        "You know Marchetti, Odile as odile.marchetti@partner.example, but the address is x@evil.example."
    )
    assert words(mail("IT", "it@cоrp.example"))[0] == (  # noqa: RUF001  a letter is Cyrillic
        "The address is at xn--crp-sed.example, which only looks like corp.example."
    )
    assert words(mail("Odile Marchetti", BOSS, reply_to=to(EVIL))) == [
        "An answer would go to x@evil.example, not to odile.marchetti@partner.example."
    ]
    since = KNOWN.since
    assert since is not None
    day = since.astimezone()
    assert words(mail("Stranger", "s@strange.example")) == [
        f"No other mail from or to this address since {day.day} {day:%B %Y}."
    ]


def test_the_second_mail_of_an_impostor() -> None:
    """An address that wrote twice before in a known name is not known by that; one that was answered is."""
    first, second, third, fourth = (mail("Odile Marchetti", EVIL, hours) for hours in (5, 4, 3, 2))
    known = Correspondents([*BEFORE, first, second, third, fourth], OWN)
    assert [one.kind for one in warnings_of(third, known)] == [PERSON]
    assert warnings_of(fourth, known) == []
    answered = replace(first, standing=Standing(is_answered=True))
    assert warnings_of(second, Correspondents([*BEFORE, answered], OWN)) == []


def test_what_came_later_is_not_known_yet() -> None:
    """A message is judged by what was read of the time before it, so that its warning stays."""
    late = [mail("Lena Strand", "lena@strand.example", hours) for hours in (3, 2, 1)]
    known = Correspondents([*BEFORE, *late], OWN)
    assert [one.kind for one in warnings_of(late[0], known)] == [FIRST]
    assert [one.kind for one in warnings_of(late[1], known)] == []
    assert [one.kind for one in warnings_of(mail("Lena Strand", EVIL, 5), known)] == [FIRST]
    elsewhere = mail("Odile Marchetti", BOSS, 5, reply_to=to("lena@strand.example"))
    assert [one.kind for one in warnings_of(elsewhere, known)] == [REPLY]


@pytest.mark.parametrize("change", [{"standing": Standing(is_own=True)}, {"source": "teams"}])
def test_what_makes_nobody_known(change: dict[str, Any]) -> None:
    """What the owner wrote, and chats."""
    known = Correspondents([replace(one, **change) for one in BEFORE], OWN)
    assert not known.is_known(BOSS)
    assert known.since is None


@pytest.mark.parametrize(("count", "kinds"), [(ENOUGH - 1, []), (ENOUGH, [FIRST])])
def test_enough_was_read(count: int, kinds: Sequence[str]) -> None:
    """To say that an address is new needs as many messages of the time before."""
    known = Correspondents(BEFORE[:count], OWN)
    assert [one.kind for one in warnings_of(mail("Stranger", "s@strange.example"), known)] == kinds


@each_case("name", ["", "Odile", "Support", "Support Team", "O. M.", "123", "@", "(CEO)", "\u202e"])
def test_what_names_no_person(name: str) -> None:
    """A first name, a desk, initials."""
    assert person_key(name) == ""


def test_endless_texts() -> None:
    """A name of a million characters costs nothing, and ends in a short sentence."""
    for name in ("a@b." * 250_000, "@" * 1_000_000, "Odile Marchetti " * 60_000, "a." * 500_000):
        assert all(len(one.words) < 500 for one in warnings_of(mail(name, EVIL), KNOWN))

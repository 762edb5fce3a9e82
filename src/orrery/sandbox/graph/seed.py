"""What is in an account from the start, and what a lever fills a mailbox with. All people are made up."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from orrery.sandbox.graph.ids import guid
from orrery.sandbox.ground import Document

_MINUTE, _HOUR, _DAY = 60, 3600, 86400

PEOPLE = (
    ("Mira Solberg", "mira.solberg@northwind.example"),
    ("Tomás Ortega", "tomas@harbour-lane.example"),
    ("Ines Okafor", "ines.okafor@northwind.example"),
    ("Jonas Weber", "jonas.weber@tidewater.example"),
    ("Yuki Tanabe", "y.tanabe@lantern.example"),
)
"""Who writes."""

_FILLED_SUBJECTS = (
    "Minutes of the weekly meeting",
    "Invoice for the hosting",
    "Question about the course",
    "Your order has been shipped",
    "Review of the draft",
    "Holiday plan",
    "Re: Access to the lab",
)
_FILLED_EVERY = 7 * _MINUTE


def message(subject: str | None, sender: tuple[str, str] | None, received: int, **more: Any) -> Document:  # noqa: ANN401  fields of a message
    """Return a message as it is stored; times are Unix seconds."""
    values: Document = {
        "folder": "inbox",
        "subject": subject,
        "from": sender,
        "to": [],
        "received": received,
        "importance": "normal",
        "read": False,
        "draft": False,
        "body": ("text", ""),
        "conversation": f"{subject} {received}",
        "properties": {},
        "set": {},
        "drop": [],
    }
    return values | more


def first_messages(account: str, opened: int) -> list[Document]:
    """Return the messages of a new account, oldest first; all are addressed to it."""
    written = _of_ann if account.endswith("corp.example") else _of_the_lab
    found = _of_bob(opened) if account.startswith("bob") else written(opened)
    return [one | {"to": [(account, account)]} for one in found]


def _of_ann(opened: int) -> list[Document]:
    mira, tomas, ines, jonas, yuki = PEOPLE
    asked = "<p>Hi Ann,</p><p>could you look at <b>page 4</b> of the offer until Friday?</p><p>Mira</p>"
    return [
        message(
            "Your invoice 2041", jonas, opened - 6 * _DAY, read=True, body=("text", "Please find it attached.")
        ),
        message("Welcome to the reading group", yuki, opened - 3 * _DAY, folder="archive", read=True),
        message(
            "Trip to Lisbon",
            ines,
            opened - 26 * _HOUR,
            body=("text", "Hello Ann,\r\n\r\nshall I book the earlier train?\r\n\r\nInes"),
        ),
        message(
            "Offer for the museum",
            mira,
            opened - 3 * _HOUR,
            importance="high",
            body=("html", f"<html><body>{asked}</body></html>"),
        ),
        message(
            "Lunch?",
            tomas,
            opened - 25 * _MINUTE,
            importance="low",
            body=("html", "<div>At one, the usual place &amp; table.</div>"),
        ),
    ]


def _of_bob(opened: int) -> list[Document]:
    mira, _, ines, *_ = PEOPLE
    return [
        message("Rota for December", ines, opened - 2 * _DAY, read=True, body=("text", "Is Tuesday still good?")),
        message("Keys of the store room", mira, opened - 5 * _HOUR, body=("text", "Who has the second one?")),
    ]


def _of_the_lab(opened: int) -> list[Document]:
    *_, jonas, yuki = PEOPLE
    return [
        message("Lab time on Thursday", yuki, opened - 28 * _HOUR, body=("text", "The bench is free from two.")),
        message("Results of run 12", jonas, opened - 2 * _HOUR, body=("html", "<p>All <i>within</i> bounds.</p>")),
    ]


def filled(account: str, opened: int, number: int) -> Document:
    """Return the message of that number that a mailbox is filled with: older ones have higher numbers."""
    chance = random.Random(f"{account} {number}")  # noqa: S311  no secret depends on it
    return {
        "folder": "inbox",
        "subject": f"{chance.choice(_FILLED_SUBJECTS)} ({number})",
        "from": chance.choice(PEOPLE),
        "to": ((account, account),),
        "received": opened - 7 * _DAY - number * _FILLED_EVERY,
        "importance": "normal",
        "read": number % 3 > 0,
        "draft": False,
        "body": ("text", f"This is message {number}.\r\n\r\nIt waits for an answer."),
        "conversation": f"filled {number}",
        "properties": {},
        "set": {},
        "drop": (),
        "number": number,
        "moves": 0,
        "version": 0,
        "modified": opened,
    }


_BERLIN, _NEW_YORK = "Europe/Berlin", "America/New_York"


def event(number: int, subject: str, start: datetime, zone: str, **more: Any) -> Document:  # noqa: ANN401  fields of an event
    """Return an event as it is stored, by the clocks of its zone. Without `organizer` it is the account's own."""
    values: Document = {
        "number": number,
        "subject": subject,
        "start": f"{start:%Y-%m-%dT%H:%M:%S}",
        "zone": zone,
        "minutes": 30,
        "organizer": None,
        "text": f"About: {subject.lower()}.",
        "created": 0,
        "set": {},
        "drop": [],
    }
    return values | more


def first_events(account: str, opened: int) -> list[Document]:
    """Return the events of a new account, around the day that it was opened on."""
    mira, _, ines, jonas, yuki = PEOPLE
    today = datetime.fromtimestamp(opened, UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    tomorrow, weeks_ago = today + timedelta(days=1), today - timedelta(days=28)
    known: Document = {"created": opened - 40 * 86400}
    if account.endswith("lab.example"):
        return [
            event(1, "Review of run 12", today + timedelta(hours=16), _NEW_YORK, organizer=jonas, **known),
            event(2, "Bench is cleaned", today, _NEW_YORK, all_day=True, minutes=1440, show_as="free", **known),
        ]
    weekly: Document = {
        "every_days": 7,
        "organizer": ines,
        "response": "accepted",
        "exceptions": {"5": {"later": 60}, "6": {"cancelled": True, "subject": "Canceled: Weekly planning"}},
    }
    return [
        event(
            1,
            "Call with the museum",
            today + timedelta(hours=15),
            _BERLIN,
            organizer=mira,
            online=True,
            text="Who opens the side door?",
            **known,
        ),
        event(
            2, "Company day", tomorrow, _BERLIN, all_day=True, minutes=1440, show_as="oof", organizer=ines, **known
        ),
        event(
            3,
            "Canceled: Rehearsal",
            tomorrow + timedelta(hours=10),
            _BERLIN,
            organizer=yuki,
            cancelled=True,
            show_as="free",
            **known,
        ),
        event(4, "Focus time", tomorrow + timedelta(hours=13), _BERLIN, show_as="tentative", **known),
        event(5, "Weekly planning", weeks_ago + timedelta(hours=9), _BERLIN, **weekly, **known),
    ]


Line = tuple[str | None, str, int]
"""Who wrote (None: the system), what, and how many seconds ago."""


def first_chats(account: str, opened: int) -> list[Document]:
    """Return the chats of a new account. A member from elsewhere has no address."""
    mira, tomas, ines, jonas, yuki = PEOPLE
    if account.endswith("lab.example"):
        build: list[Line] = [("Bench bot (app)", "<p>Run 13 has <b>failed</b>: see the log.</p>", 50 * _MINUTE)]
        return [
            _chat(
                account,
                opened,
                "oneOnOne",
                None,
                [yuki],
                [("Yuki Tanabe", "Can you look at run 13?", 40 * _MINUTE)],
            ),
            _chat(account, opened, "group", "Bench", [yuki, jonas], build),
        ]
    about_the_offer: list[Line] = [
        ("Mira Solberg", "The offer is in the folder.", 3 * _HOUR),
        ("Ines Okafor", '<p>Thanks. <at id="0">Ann</at>, will you answer them?</p>', 2 * _HOUR),
    ]
    call: list[Line] = [("Tomás Ortega", "I am five minutes late", 25 * _HOUR), (None, "", 24 * _HOUR)]
    lunch: list[Line] = [("Tomás Ortega", "<p>Is the <em>usual place</em> fine?</p>", 15 * _MINUTE)]
    return [
        _chat(account, opened, "oneOnOne", None, [tomas], lunch),
        _chat(account, opened, "group", "Museum offer", [mira, ines], about_the_offer),
        _chat(account, opened, "meeting", "Call with the museum", [mira, ("Guest of the museum", None)], call),
        _chat(account, opened, "oneOnOne", None, [jonas], []),
    ]


def _chat(
    account: str,
    opened: int,
    kind: str,
    topic: str | None,
    members: list[tuple[str, str]] | list[tuple[str, str] | tuple[str, None]],
    lines: list[Line],
) -> Document:
    name = guid(account, kind, topic, members)
    ending = {"oneOnOne": f"{guid(account)}_{name}@unq.gbl.spaces", "meeting": f"meeting_{name}@thread.v2"}
    return {
        "id": f"19:{ending.get(kind, f'{name}@thread.v2')}",
        "type": kind,
        "topic": topic,
        "created": opened - 60 * _DAY,
        "members": [(account.partition("@")[0].title(), account), *members],
        "messages": [_message_of(one, opened) for one in lines],
    }


def _message_of(lines: Line, opened: int) -> Document:
    sender, text, ago = lines
    at = opened - ago
    return {"id": str(at * 1000), "at": at, "from": sender, "text": text, "set": {}, "drop": []}

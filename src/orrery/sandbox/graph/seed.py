"""What is in an account from the start, and what a lever fills a mailbox with. All people are made up."""

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

from orrery.sandbox.board import WEB
from orrery.sandbox.graph.ids import guid
from orrery.sandbox.ground import Document

_DAY = 86400

_AT_FIRST: dict[str, dict[str, list[Document]]] = json.loads((WEB / "accounts.json").read_text(encoding="utf-8"))
"""What each account has: times are seconds from its opening, those of events hours from that day's midnight."""

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
_FILLED_EVERY = 420


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
    to: Document = {"to": [(account, account)]}
    known = [one | to | {"received": opened + one["received"]} for one in _AT_FIRST[account]["messages"]]
    return [message(**one) for one in known]


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


def event(**more: Any) -> Document:  # noqa: ANN401  fields of an event
    """Return an event as it is stored, by the clocks of its zone. Without `organizer` it is the account's own."""
    values: Document = {"minutes": 30, "zone": "UTC", "organizer": None, "created": 0, "set": {}, "drop": []}
    return values | {"text": f"About: {more['subject'].lower()}."} | more


def first_events(account: str, opened: int) -> list[Document]:
    """Return the events of a new account, around the day that it was opened on."""
    today = datetime.fromtimestamp(opened, UTC).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    own: Document = {"created": opened - 40 * _DAY}
    return [
        event(**one | own | {"start": (today + timedelta(hours=one["start"])).isoformat()})
        for one in _AT_FIRST[account]["events"]
    ]


def first_chats(account: str, opened: int) -> list[Document]:
    """Return the chats of a new account. A member from elsewhere has no address."""
    return [_chat(account, opened, **one) for one in _AT_FIRST[account]["chats"]]


def _chat(
    account: str,
    opened: int,
    kind: str,
    topic: str | None,
    members: list[list[str | None]],
    lines: list[tuple[str | None, str, int]],
) -> Document:
    """Return a chat; a line is who wrote (None: the system), what, and how many seconds ago."""
    name = guid(account, kind, topic, *(name for name, _ in members))
    ending = {"oneOnOne": f"{guid(account)}_{name}@unq.gbl.spaces", "meeting": f"meeting_{name}@thread.v2"}
    return {
        "id": f"19:{ending.get(kind, f'{name}@thread.v2')}",
        "type": kind,
        "topic": topic,
        "created": opened - 60 * _DAY,
        "members": [(account.partition("@")[0].title(), account), *members],
        "messages": [line(sender, text, opened - ago) for sender, text, ago in lines],
    }


def line(sender: str | None, text: str, at: float, later: int = 0) -> Document:
    """Return a message of a chat as it is stored; its id is that of a message `later` milliseconds after `at`."""
    return {"id": str(int(at * 1000) + later), "at": at, "from": sender, "text": text, "set": {}, "drop": []}

"""What is in an account from the start, and what a lever fills a mailbox with. All people are made up."""

import random
from typing import Any

from orrery.sandbox.state import Document

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

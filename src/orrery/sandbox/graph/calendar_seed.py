"""The meetings that an account has from the start."""

from datetime import UTC, datetime, timedelta
from typing import Any

from orrery.sandbox.graph.seed import PEOPLE
from orrery.sandbox.state import Document

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

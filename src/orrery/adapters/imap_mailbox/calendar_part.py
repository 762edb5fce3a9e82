"""The fields of a meeting in a calendar part (RFC 5545, RFC 5546) that a person reads. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from orrery.ports.comms.mailboxes import Invitation
from orrery.ports.comms.messages import NO_PERSON, Person
from orrery.syntax.email_address import is_email_address

LARGEST = 200_000
"""Characters of a calendar part that are read: an invitation of a thousand people has as many."""

_MOST_ANSWERS = 200
_FOLD = re.compile(r"\r?\n[ \t]")
_LINE = re.compile(
    r"(?P<name>[A-Za-z0-9-]{1,100})(?P<parameters>(?:;[A-Za-z0-9-]{1,100}=(?:\"[^\"]*\"|[^\";:,]*)"
    r"(?:,(?:\"[^\"]*\"|[^\";:,]*))*)*):(?P<value>.*)"
)
_PARAMETER = re.compile(r";([A-Za-z0-9-]+)=(?:\"([^\"]*)\"|([^\";:,]*))")
_ESCAPED = re.compile(r"\\([nN\\;,])")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_DURATION = re.compile(r"\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,5})M)?(?:(\d{1,5})S)?)?")
_MAIL = re.compile(r"mailto:", re.IGNORECASE)


class _Line(NamedTuple):
    name: str
    parameters: dict[str, str]
    value: str


@dataclass(frozen=True, slots=True)
class _When:
    at: datetime
    zone: str = ""
    is_day: bool = False


def invitation_of(text: str) -> Invitation | None:
    """Return the first event of a calendar, or None where there is no event."""
    lines = [*_lines(text[:LARGEST])]
    event = _event(lines)
    if event is None:
        return None
    first = {one.name: one for one in reversed(event)}
    starts = _when(first.get("DTSTART"))
    ends = _when(first.get("DTEND")) or _after(starts, first.get("DURATION"))
    people = [one for one in event if one.name == "ATTENDEE"][:_MOST_ANSWERS]
    return Invitation(
        method=next((one.value.strip().lower() for one in lines if one.name == "METHOD"), ""),
        summary=_text(first.get("SUMMARY")),
        starts=starts.at if starts else None,
        ends=ends.at if ends and starts and (ends.at.tzinfo is None) is (starts.at.tzinfo is None) else None,
        zone=starts.zone if starts else "",
        is_all_day=starts is not None and starts.is_day,
        place=_text(first.get("LOCATION")),
        organizer=_person(first["ORGANIZER"]) if "ORGANIZER" in first else NO_PERSON,
        answers=tuple((_person(one), one.parameters.get("PARTSTAT", "needs-action").lower()) for one in people),
    )


def _lines(text: str) -> Iterator[_Line]:
    """Yield the content lines, unfolded (RFC 5545, 3.1)."""
    for line in _FOLD.sub("", text).splitlines():
        if found := _LINE.fullmatch(line):
            parameters = {
                name.upper(): quoted or plain for name, quoted, plain in _PARAMETER.findall(found["parameters"])
            }
            yield _Line(found["name"].upper(), parameters, found["value"])


def _event(lines: list[_Line]) -> list[_Line] | None:
    """Return the lines of the first event, without those of the alarms in it."""
    found, inside = list[_Line](), list[str]()
    for one in lines:
        kind = one.value.strip().upper()
        if one.name == "BEGIN":
            inside.append(kind)
        elif one.name == "END" and inside:
            if inside.pop() == "VEVENT":
                return found
        elif inside[-1:] == ["VEVENT"]:
            found.append(one)
    return found or None


def _when(line: _Line | None) -> _When | None:
    """Return a moment in UTC; one in a zone of which only the name is known as its clock shows it."""
    found = _MOMENT.fullmatch(line.value.strip()) if line else None
    if line is None or found is None:
        return None
    year, month, day, hour, minute, second, utc = found.groups()
    try:
        if hour is None:
            return _When(datetime(int(year), int(month), int(day)), is_day=True)  # noqa: DTZ001  a day has no zone
        at = datetime.combine(
            datetime(int(year), int(month), int(day)),  # noqa: DTZ001  its zone comes below
            time(int(hour), int(minute), min(int(second), 59)),
        )
        name = line.parameters.get("TZID", "")
        zone = UTC if utc else _zone(name)
        return _When(at.replace(tzinfo=zone).astimezone(UTC) if zone else at, "" if zone else name)
    except (ValueError, OverflowError):
        return None


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ValueError, OSError):  # a zone of the sender's own, or no name of one
        return None


def _after(starts: _When | None, line: _Line | None) -> _When | None:
    found = _DURATION.fullmatch(line.value.strip()) if line else None
    if starts is None or found is None:
        return None
    weeks, days, hours, minutes, seconds = (int(one or 0) for one in found.groups())
    try:
        lasts = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        return _When(starts.at + lasts, starts.zone, starts.is_day)
    except OverflowError:
        return None


def _text(line: _Line | None) -> str:
    """Return a text without its escapes (RFC 5545, 3.3.11)."""
    return _ESCAPED.sub(lambda one: "\n" if one[1] in "nN" else one[1], line.value).strip() if line else ""


def _person(line: _Line) -> Person:
    address = _MAIL.sub("", line.value.strip(), count=1)
    return Person(line.parameters.get("CN", ""), address if is_email_address(address) else "")

"""The words of the hosted pages and of the e-mails to buyers, by language, with its way to write a time."""

import tomllib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from orrery.checkout.sites import Language
from orrery.syntax.web_file import web_file

Words = Mapping[str, Any]


def words_of(language: Language) -> Words:
    """Return everything that is said in one language."""
    return _words()[language]


def date_in(words: Words, at: datetime) -> str:
    """Return a day in words: `1 March 2027`."""
    date: str = words["date"]
    return date.format(day=at.day, month=words["months"][at.month - 1], year=at.year)


def local(at: datetime, zone: str) -> datetime:
    """Return a time in a time zone; access that lasts to the end of the calendar ends there in every zone."""
    try:
        return at.astimezone(ZoneInfo(zone))
    except OverflowError:
        return at


def moment_in(words: Words, at: datetime, zone: str) -> str:
    """Return a time in a time zone, with that of UTC: `1 March 2027, 13:00 CET (2027-03-01 12:00 UTC)`."""
    there, utc = local(at, zone), at.astimezone(UTC)
    date, name, clock = date_in(words, there), there.tzname() or "", _clock(there)
    if name == "UTC":
        return f"{date}, {clock} UTC"
    moment: str = words["moment"]
    return moment.format(date=date, clock=clock, zone=name, utc=f"{utc.date()} {_clock(utc)} UTC")


def _clock(at: datetime) -> str:
    return at.time().isoformat("minutes")  # strftime takes eight times as long


@cache
def _words() -> Mapping[str, Words]:
    return tomllib.loads(web_file("guided/words.toml"))

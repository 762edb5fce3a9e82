"""What `orrery gateway pings --json` printed on the site's host, for a machine that has no store; pure."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar, cast

from pydantic import AfterValidator, AwareDatetime, TypeAdapter, ValidationError

from orrery.errors import Invalid
from orrery.gateway.causes import Ping
from orrery.gateway.cloud.findings import GuestReport

T = TypeVar("T")

_YEARS = range(1970, 9000)


def usual(at: datetime) -> datetime:
    """Return a time in UTC; raise `ValueError` for one that no clock shows, with which nothing can be reckoned."""
    if at.year not in _YEARS:
        raise ValueError("This is no usual time.")
    return at.astimezone(UTC)


Time = Annotated[AwareDatetime, AfterValidator(usual)]


@dataclass(frozen=True, kw_only=True)
class _PingRun:
    """The content of a ping."""

    state: str = ""
    probe: str = ""
    sub_state: str = ""
    result: str = ""
    exec_main_status: int = 0
    judgement: str = ""

    @property
    def ping(self) -> Ping:
        content = (self.state, self.probe, self.sub_state, self.result, self.exec_main_status)
        return Ping(*content, judgement=self.judgement)


@dataclass(frozen=True, kw_only=True)
class Stretch(_PingRun):
    """Pings in a row with the same content."""

    first_at: Time
    last_at: Time


@dataclass(frozen=True, kw_only=True)
class FiledSilence:
    """A time without pings; `until` is None while it lasts."""

    since: Time
    until: Time | None = None


@dataclass(frozen=True, kw_only=True)
class FiledPush:
    """A push of the site about the gateway."""

    at: Time
    title: str


@dataclass(frozen=True, kw_only=True)
class _LastPing(_PingRun):
    at: Time | None = None
    trouble_since: Time | None = None


@dataclass(frozen=True, slots=True)
class PingFile:
    """All of it; `unreadable` counts the items that could not be read."""

    stretches: list[Stretch]
    silences: list[FiledSilence]
    pushes: list[FiledPush]
    last: _LastPing | None
    unreadable: int

    def guest(self, now: datetime) -> GuestReport | None:
        """Return the last ping, and for how long its trouble has lasted; None without a ping.

        Raises `Invalid` when it is one of the items that could not be read.
        """
        if self.last is None and self.unreadable:
            raise Invalid("The last ping in the list cannot be read.")
        if self.last is None or self.last.at is None:
            return None
        lasts = now - self.last.trouble_since if self.last.trouble_since else timedelta(0)
        return GuestReport(self.last.ping, lasts)


def read_pings(text: str) -> PingFile:
    """Return what is in the text; raise `Invalid` when the command did not print it."""
    try:
        found: object = json.loads(text)
    except (RecursionError, ValueError):
        found = None
    if not isinstance(found, dict) or "stretches" not in found:
        raise Invalid("That is not what `orrery gateway pings --json` prints.")
    given = cast("dict[str, object]", found)
    stretches, bad_stretches = _items(given["stretches"], Stretch)
    silences, bad_silences = _items(given.get("silences"), FiledSilence)
    pushes, bad_pushes = _items(given.get("pushes"), FiledPush)
    last, bad_last = _items([given["last_ping"]] if given.get("last_ping") else [], _LastPing)
    unreadable = bad_stretches + bad_silences + bad_pushes + bad_last
    return PingFile(stretches, silences, pushes, next(iter(last), None), unreadable)


def _items(found: object, kind: type[T]) -> tuple[list[T], int]:
    """Return the items that can be read, and the number of the others."""
    if not isinstance(found, list):
        return [], 0
    read, items, wrong = TypeAdapter(kind), list[T](), 0
    for one in cast("list[object]", found):
        try:
            items.append(read.validate_python(one))
        except ValidationError:
            wrong += 1
    return items, wrong

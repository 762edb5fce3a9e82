"""What `orrery gateway pings --json` printed on the site's host, for a machine that has no store; pure."""

import json
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from orrery.errors import Invalid
from orrery.gateway.causes import Ping
from orrery.gateway.cloud.findings import GuestSaid

M = TypeVar("M", bound=BaseModel)


class _Said(BaseModel):
    """What a ping said."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    state: str = ""
    probe: str = ""
    sub_state: str = ""
    result: str = ""
    exec_main_status: int = 0
    restarts: int = 0

    @property
    def ping(self) -> Ping:
        return Ping(self.state, self.probe, self.sub_state, self.result, self.exec_main_status)


class Stretch(_Said):
    """Pings in a row that said the same."""

    first_at: AwareDatetime
    last_at: AwareDatetime


class Silence(BaseModel):
    """A time without pings; `until` is None while it lasts."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    since: AwareDatetime
    until: AwareDatetime | None = None


class Push(BaseModel):
    """A push of the site about the gateway."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: AwareDatetime
    title: str


class _LastPing(_Said):
    at: AwareDatetime | None = None
    trouble_since: AwareDatetime | None = None


class PingFile(BaseModel):
    """All of it; `unreadable` counts the items that could not be read."""

    model_config = ConfigDict(frozen=True)

    stretches: list[Stretch]
    silences: list[Silence]
    pushes: list[Push]
    last: _LastPing | None
    unreadable: int

    def guest(self, now: datetime) -> GuestSaid | None:
        """Return what the last ping said, and for how long its trouble has lasted; None without a ping."""
        if self.last is None or self.last.at is None:
            return None
        lasts = now - self.last.trouble_since if self.last.trouble_since else timedelta(0)
        return GuestSaid(self.last.ping, lasts)


def read_pings(text: str) -> PingFile:
    """Return what is in the text; raise `Invalid` when the command did not print it."""
    try:
        found: object = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or "stretches" not in found:
        raise Invalid("That is not what `orrery gateway pings --json` prints.")
    given = cast("dict[str, object]", found)
    read, bad = list[list[Any]](), 0
    for name, kind in (("stretches", Stretch), ("silences", Silence), ("pushes", Push)):
        items, wrong = _items(given.get(name), kind)
        read.append(items)
        bad += wrong
    last = _items([given["last_ping"]] if given.get("last_ping") else [], _LastPing)
    return PingFile(
        stretches=read[0],
        silences=read[1],
        pushes=read[2],
        last=next(iter(last[0]), None),
        unreadable=bad + last[1],
    )


def _items(found: object, kind: type[M]) -> tuple[list[M], int]:
    """Return the items that can be read, and the number of the others."""
    if not isinstance(found, list):
        return [], 0
    items, wrong = list[M](), 0
    for one in cast("list[object]", found):
        try:
            items.append(kind.model_validate(one))
        except ValidationError:
            wrong += 1
    return items, wrong

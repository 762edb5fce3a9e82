"""What the stores that have a database share: a caller's commit, the times in it, and the bounds of a scan."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from orrery.ports.store import Check, Write, encode_key

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

REMEMBERED = timedelta(hours=24) // _MICROSECOND
"""How long a commit id is remembered at least, in microseconds (ports.store: "at least a day")."""

_BEYOND = b"\xff"
"""Orders after every UTF-8 text: no encoded character begins with this byte."""


@dataclass(frozen=True, slots=True)
class Request:
    """One caller's commit. `named`: the caller chose the id, and so may have sent it before."""

    writes: Sequence[Write]
    checks: Sequence[Check]
    commit_id: str
    named: bool


def microseconds(time: datetime) -> int:
    """Return `time` as whole microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def from_microseconds(stamp: int) -> datetime:
    """Return the time of `stamp`, microseconds since 1970."""
    return _EPOCH + stamp * _MICROSECOND


def scan_bounds(prefix: str, after: str | None, *, reverse: bool) -> tuple[bytes, bytes]:
    """Return the least key of a scan and the first that is beyond it."""
    low = encode_key(prefix)
    high = low + _BEYOND
    if after is None:
        return low, high
    beyond = encode_key(after)
    return (low, min(high, beyond)) if reverse else (max(low, beyond + b"\0"), high)

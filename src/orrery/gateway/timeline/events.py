"""What happened, and when: one kind of event for all sources; pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Source = Literal["machine", "job", "service", "guest", "ping", "push"]

Kind = Literal[
    "down",
    "up",
    "asked",
    "began",
    "ended",
    "boot",
    "retry",
    "recovering",
    "recovered",
    "noted",
]
"""`asked`: a start was asked for; `retry`: systemd's automatic restart; `noted`: it changes nothing by itself."""


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event. `down` and `up` of a source belong together, as do `began` and `ended` of a job."""

    at: datetime
    source: Source
    kind: Kind
    text: str

"""The journal of the gateway's machine, as `journalctl -o json` writes it; pure."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from orrery.gateway.cloud.ping_file import usual
from orrery.gateway.timeline.events import Kind, TimelineEvent
from orrery.syntax.lines import one_line

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

LONGEST_MESSAGE = 300
"""Characters of a message that are kept: anybody may write into a journal."""

_OF_THE_UNIT: Mapping[str, tuple[Kind, str]] = {
    "39f53479d3a045ac8e11786248231fbf": ("up", "The service has started."),
    "9d1aaa27d60140bd96365438aad20286": ("down", "The service has stopped."),
    "d9b373ed55a64feb8242e02dbe79a49c": ("down", "The service has failed."),
    "be02cf6855d2428ba40df7e9d022f03d": ("down", "The service could not be started."),
    "5eb03494b6584870a536b337290809b3": ("retry", "systemd restarts the service by itself."),
}
"""What systemd's messages about a unit mean, by their ids (systemd's catalog)."""


@dataclass(frozen=True, slots=True)
class Journal:
    """What was read, and how many lines could not be."""

    events: tuple[TimelineEvent, ...]
    unreadable: int


def read_journal(lines: Iterable[str], unit: str, guest_tag: str) -> Journal:
    """Return the events of a unit, of its guest, whose lines have a tag, and of the machine's boots."""
    events: list[TimelineEvent] = []
    unreadable, boot = 0, ""
    for line in filter(None, map(str.strip, lines)):
        try:
            entry = _entry(line)
            at = usual(_EPOCH + timedelta(microseconds=int(entry["__REALTIME_TIMESTAMP"])))
        except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
            unreadable += 1
            continue
        if entry.get("_BOOT_ID", boot) != boot:
            events += [TimelineEvent(at, "machine", "boot", "The machine boots.")] if boot else []
            boot = entry["_BOOT_ID"]
        if event := _event(entry, at, unit, guest_tag):
            events.append(event)
    return Journal(tuple(events), unreadable)


def _entry(line: str) -> dict[str, str]:
    found: object = json.loads(line)
    if not isinstance(found, dict):
        raise TypeError(line)
    # A field that is no text, such as one of raw bytes, is none that is looked at.
    fields = cast("dict[str, object]", found)
    return {name: value for name, value in fields.items() if isinstance(value, str)}


def _event(entry: Mapping[str, str], at: datetime, unit: str, guest_tag: str) -> TimelineEvent | None:
    if entry.get("UNIT") == unit and (known := _OF_THE_UNIT.get(entry.get("MESSAGE_ID", ""))):
        kind, text = known
        return TimelineEvent(at, "service", kind, text)
    message = one_line(entry.get("MESSAGE", ""), LONGEST_MESSAGE)
    if entry.get("SYSLOG_IDENTIFIER") != guest_tag:
        return None
    if message.startswith(f"{unit} is recovered: "):
        return TimelineEvent(at, "guest", "recovering", f"The guest acts: {message.partition(': ')[2]}")
    if message.startswith(f"{unit} has recovered: "):
        return TimelineEvent(at, "guest", "recovered", f"The guest: {message.partition(': ')[2]}")
    return TimelineEvent(at, "guest", "noted", f"The guest: {message}")

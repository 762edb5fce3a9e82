"""The events of the pings and of the site's pushes; pure."""

from collections.abc import Iterator

from orrery.gateway.causes import diagnosis
from orrery.gateway.cloud.ping_file import PingFile
from orrery.gateway.timeline.events import TimelineEvent


def ping_events(found: PingFile) -> Iterator[TimelineEvent]:
    """Yield an event for each change in the pings, for each silence, and for each push."""
    for one in found.stretches:
        if one.ping.is_good:
            yield TimelineEvent(one.first_at, "ping", "up", "The guest's ping is good.")
        else:
            yield TimelineEvent(one.first_at, "ping", "down", f"The guest's ping: {diagnosis(one.ping).cause}")
    for silence in found.silences:
        # What ends it is the next ping, which shows whether the gateway works.
        yield TimelineEvent(silence.since, "ping", "down", "The last ping before a silence.")
    for push in found.pushes:
        yield TimelineEvent(push.at, "push", "noted", f"Push: {push.title}")

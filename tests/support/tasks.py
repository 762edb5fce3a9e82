"""A task as the cockpit makes it of a row."""

from orrery.ports.comms.messages import Source
from orrery.ports.comms.tasks import NewTask
from orrery.syntax.track import Track


def a_task(
    source_id: str = "m-1", *, track: Track = "A", source: Source = "mail", title: str = "Hello"
) -> NewTask:
    """Return the task of a row."""
    return NewTask(track, source, source_id, title, "bo@lab.example", 50, "answer", "Inbox")

"""A list of tasks, as a port: the cockpit's own by default."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from orrery.ports.comms.messages import Priority, Source
from orrery.syntax.track import Track


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task that is made of a row; there is one for each track, source and source id (decision 35).

    `web_link` is an address of http or https, or empty.
    """

    track: Track
    source: Source
    source_id: str
    title: str
    person: str
    score: int
    kind: str
    bucket: str
    priority: Priority = "normal"
    web_link: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A task as it is in the list; `already_existed`: it was there before, and is as it was but open."""

    id: str
    title: str
    score: int
    kind: str
    bucket: str
    already_existed: bool


class TaskBook(Protocol):
    """Keeps tasks. Raises the errors of a mailbox, and the store's."""

    @property
    def account(self) -> str:
        """The account whose list it is; the cockpit's own has the one of the rows of the action ledger."""
        ...

    async def add(self, task: NewTask) -> Task:
        """Return the task of this track, source and source id, made now unless it is there.

        However often it is called, at the same time too, there is one task. One that was dismissed or completed is
        open again.
        """
        ...


@dataclass(frozen=True, slots=True)
class TaskBooks:
    """The books that take the place of the cockpit's own, by the track and account of a row's mailbox.

    None is of an account of another track.
    """

    of_mailbox: Mapping[tuple[Track, str], TaskBook]

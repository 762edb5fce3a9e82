"""Tasks in Microsoft To Do of one account; see `TaskBook`. A task is found again by what it is linked with."""

import asyncio
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.client import GraphClient, GraphSession, Json, segment
from orrery.adapters.microsoft_mailbox.shapes import GraphShape, items_of, next_of, read_all
from orrery.errors import TrackRefused
from orrery.ports.comms.errors import MailboxError, MailboxRefused, MailboxUnreachable, RowGone, SignInNeeded
from orrery.ports.comms.tasks import NewTask, Task
from orrery.syntax.lines import one_line
from orrery.syntax.track import Track

APPLICATION = "Orrery"

LONGEST_TITLE = 255
"""Characters of a title in To Do."""

_LISTS = "/me/todo/lists"
_COMPLETED = "completed"


class TaskList(GraphShape):
    """A list."""

    id: str
    display_name: str | None = None


class LinkedResource(GraphShape):
    """What a task was made of; the id is ours, and nothing keeps it unique."""

    external_id: str | None = None


class TodoTask(GraphShape):
    """A task of a list."""

    id: str
    title: str | None = None
    status: str | None = None
    created_date_time: str = ""
    linked_resources: tuple[LinkedResource, ...] | None = None

    @property
    def is_completed(self) -> bool:
        return self.status == _COMPLETED


@dataclass(slots=True)
class TaskListing:
    """What the list had when it was read, and what was made since."""

    list_id: str
    by_key: dict[str, TodoTask]


@dataclass
class ToDo:
    """The list of a name in To Do of one account, which takes tasks of one track only.

    Calls wait for each other. One reading of the list serves every call that was waiting when it began.
    """

    client: GraphClient
    track: Track
    list_name: str
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _ticks: "count[int]" = field(default_factory=lambda: count(1), init=False)
    _listing: TaskListing | None = field(default=None, init=False)
    _listed: int = field(default=0, init=False)

    @property
    def account(self) -> str:
        return self.client.account

    async def add(self, task: NewTask) -> Task:
        """See `TaskBook`."""
        if task.track != self.track:
            raise TrackRefused(f"A task of track {task.track} cannot go to To Do of track {self.track}.")
        asked = next(self._ticks)
        async with self._turn, self.client.session() as session:
            listing, self._listing = self._listing, None  # what fails leaves nothing that is believed
            try:
                if listing is None or self._listed < asked:
                    self._listed = next(self._ticks)
                    listing = await _listing(session, self.list_name)
                found = await _added(session, listing, task)
            except SignInNeeded:
                raise
            except RowGone:
                raise MailboxUnreachable("To Do: the list or the task was deleted meanwhile; try again.") from None
            except MailboxRefused as error:
                raise MailboxRefused(
                    f"To Do: {error} It needs Tasks.ReadWrite in the scopes of [tenants.{self.track}]."
                ) from None
            except MailboxError as error:
                raise MailboxUnreachable(f"To Do: {error}") from None
            except ValidationError:
                raise MailboxUnreachable("To Do: its answer is not as documented.") from None
            self._listing = listing
            return found


async def _listing(session: GraphSession, name: str) -> TaskListing:
    """Read the list of a name, which is made unless it is there."""
    lists, _ = read_all(TaskList, await _items(session, _LISTS))
    found = next((one for one in lists if one.display_name == name), None)
    if found is None:
        made = TaskList.model_validate(await session.post(_LISTS, {"displayName": name}))
        return TaskListing(made.id, {})
    items = await _items(session, _tasks_of(found.id), {"$expand": "linkedResources"})
    return TaskListing(found.id, _by_key(read_all(TodoTask, items)[0]))


def _by_key(tasks: Iterable[TodoTask]) -> dict[str, TodoTask]:
    """Return the task of each key: of several an open one, and of these the oldest."""
    best_last = sorted(tasks, key=lambda one: (one.is_completed, one.created_date_time), reverse=True)
    return {link.external_id: one for one in best_last for link in one.linked_resources or () if link.external_id}


async def _added(session: GraphSession, listing: TaskListing, task: NewTask) -> Task:
    key = key_of(task)
    old = listing.by_key.get(key)
    path = _tasks_of(listing.list_id)
    if old is None:
        now = TodoTask.model_validate(await session.post(path, _new(task, key)))
    elif old.is_completed:
        changed = await session.patch(f"{path}/{segment(old.id)}", {"status": "notStarted"})
        now = TodoTask.model_validate(changed)
    else:
        now = old
    listing.by_key[key] = now
    return Task(now.id, now.title or "", task.score, task.kind, task.bucket, already_existed=old is not None)


async def _items(session: GraphSession, path: str, params: dict[str, str] | None = None) -> list[Json]:
    """Return what is on every page."""
    page = await session.get(path, {"$top": "100", **(params or {})})
    found = items_of(page)
    while following := next_of(page):
        page = await session.follow(following)
        found += items_of(page)
    return found


def key_of(task: NewTask) -> str:
    """Return what a task is found by: one for each track, source and source id (decision 35)."""
    named = json.dumps([task.track, task.source, task.source_id])
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def _tasks_of(list_id: str) -> str:
    return f"{_LISTS}/{segment(list_id)}/tasks"


def _new(task: NewTask, key: str) -> Json:
    """Return a task with its link: the vendor makes both at once, so no kill comes between."""
    title = one_line(task.title, LONGEST_TITLE) or "(no subject)"
    link = {"applicationName": APPLICATION, "displayName": title, "externalId": key}
    return {
        "title": title,
        "importance": task.priority,
        "body": {"contentType": "text", "content": f"From: {one_line(task.person)}" if task.person else ""},
        "linkedResources": [link | ({"webUrl": task.web_link} if task.web_link else {})],
    }

"""To Do: lists, tasks, and what tasks are linked with. Nothing keeps a link's external id unique."""

from collections.abc import Sequence
from typing import cast

from orrery.sandbox.graph.call import Created, GraphCall, digest, guid, item_id, next_link, refusal
from orrery.sandbox.graph.mail import mailbox_of
from orrery.sandbox.graph.mailbox import TASKS, Mailboxes
from orrery.sandbox.graph.messages import utc
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import GRAPH

_CHANGEABLE = (
    "title",
    "status",
    "importance",
    "body",
    "dueDateTime",
    "reminderDateTime",
    "isReminderOn",
    "categories",
)
_LINKED = ("webUrl", "applicationName", "displayName", "externalId")
_PAGE = 100


class Tasks:
    """The calls about tasks. An account's lists are kept as one document."""

    def __init__(self, world: Mailboxes) -> None:
        self._world = world

    def lists(self, call: GraphCall) -> Document:
        shown = [_list(one) for one in self._lists(call)]
        return self._page(shown, call, "/me/todo/lists", "/todo/lists")

    def create_list(self, call: GraphCall) -> Created:
        lists = self._lists(call)
        made = _new_list(call.account, len(lists), call.body["displayName"], "none")
        self._save(call.account, [*lists, made])
        return Created(_list(made))

    def tasks(self, call: GraphCall) -> Document:
        """List the tasks of a list; their links only where `$expand` asks for them."""
        _, found = self._found_list(call)
        linked = "$expand" in call.query
        shown = [_shown(one, linked=linked) for one in reversed(found["tasks"])]
        path = f"/me/todo/lists/{call.ids[0]}/tasks"
        return self._page(shown, call, path, f"/todo/lists('{call.ids[0]}')/tasks")

    def create(self, call: GraphCall) -> Created:
        """Make a task, with links if they come with it."""
        lists, found = self._found_list(call)
        now = self._now()
        number = sum(len(one["tasks"]) for one in lists)
        task: Document = {
            "id": item_id(f"{call.account} tasks", number, 0, immutable=False),
            "created": now,
            "modified": now,
            "version": 1,
            "links": [],
            "fields": _fields(call.body),
        }
        for one in cast("list[Document]", call.body.get("linkedResources") or []):
            task["links"].append(_new_link(task, one))
        found["tasks"].append(task)
        self._save(call.account, lists)
        return Created(_shown(task, linked=True))

    def change(self, call: GraphCall) -> Document:
        lists, task = self._found_task(call)
        task["fields"] |= _fields(call.body)
        self._touch(task)
        self._save(call.account, lists)
        return _shown(task, linked=False)

    def link(self, call: GraphCall) -> Created:
        """Add a link, whether or not there is one with its external id."""
        lists, task = self._found_task(call)
        made = _new_link(task, call.body)
        task["links"].append(made)
        self._touch(task)
        self._save(call.account, lists)
        return Created(made)

    def _touch(self, task: Document) -> None:
        task["modified"] = self._now()
        task["version"] += 1
        if task["fields"].get("status") == "completed":
            task.setdefault("completed", task["modified"])
        else:
            _ = task.pop("completed", None)

    def _now(self) -> float:
        return self._world.ground.clock.now().timestamp()

    def _lists(self, call: GraphCall) -> list[Document]:
        account = mailbox_of(self._world, call).account
        kept = self._world.ground.state.get(TASKS, account)
        if kept is not None:
            return kept["lists"]
        seeds = (("Tasks", "defaultList"), ("Flagged Emails", "flaggedEmails"))
        return [_new_list(account, number, name, known) for number, (name, known) in enumerate(seeds)]

    def _save(self, account: str, lists: list[Document]) -> None:
        self._world.ground.state.save({"object": TASKS, "id": account, "lists": lists})

    def _found_list(self, call: GraphCall) -> tuple[list[Document], Document]:
        lists = self._lists(call)
        for one in lists:
            if one["id"] == call.ids[0]:
                return lists, one
        raise refusal("not_found", "The list does not exist.")

    def _found_task(self, call: GraphCall) -> tuple[list[Document], Document]:
        lists, found = self._found_list(call)
        for one in found["tasks"]:
            if one["id"] == call.ids[1]:
                return lists, one
        raise refusal("not_found", "The task does not exist.")

    def _page(self, shown: Sequence[Document], call: GraphCall, path: str, name: str) -> Document:
        top, skip = call.number("$top", _PAGE, 1, 1000), call.number("$skip", 0, 0, 1 << 31)
        page: Document = {
            "@odata.context": f"{GRAPH}/v1.0/$metadata#users('{call.account}'){name}",
            "value": shown[skip : skip + top],
        }
        if skip + top < len(shown):
            page["@odata.nextLink"] = next_link(f"{self._world.url}/v1.0{path}", call, "$skip", skip + top)
        return page


def _new_list(account: str, number: int, name: str, known: str) -> Document:
    shown = item_id(f"{account} lists", number, 0, immutable=False)
    return {"id": shown, "displayName": name, "wellknownListName": known, "tasks": []}


def _list(stored: Document) -> Document:
    return {
        "@odata.etag": f'W/"{digest(stored["id"], stored["displayName"])}"',
        "displayName": stored["displayName"],
        "isOwner": True,
        "isShared": False,
        "wellknownListName": stored["wellknownListName"],
        "id": stored["id"],
    }


def _new_link(task: Document, given: Document) -> Document:
    shown = {name: given.get(name) for name in _LINKED}
    return shown | {"id": guid(task["id"], len(task["links"]))}


def _fields(body: Document) -> Document:
    return {name: body[name] for name in _CHANGEABLE if name in body}


def _shown(task: Document, *, linked: bool) -> Document:
    shown: Document = {
        "@odata.etag": f'W/"{digest(task["id"], task["version"])}"',
        "importance": "normal",
        "isReminderOn": False,
        "status": "notStarted",
        "title": "",
        "createdDateTime": utc(task["created"]),
        "lastModifiedDateTime": utc(task["modified"]),
        "hasAttachments": False,
        "categories": [],
        "id": task["id"],
        "body": {"content": "", "contentType": "text"},
        **task["fields"],
    }
    if "completed" in task:
        shown["completedDateTime"] = {"dateTime": f"{utc(task['completed'])[:-1]}.0000000", "timeZone": "UTC"}
    return shown | ({"linkedResources": task["links"]} if linked else {})

"""To Do: lists, tasks, and what tasks are linked with. Nothing keeps a link's external id unique."""

from typing import cast

from orrery.sandbox.graph.call import Created, GraphCall, page, refusal
from orrery.sandbox.graph.ids import digest, guid, item_id
from orrery.sandbox.graph.messages import utc
from orrery.sandbox.ground import Document

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
_FIRST = ((0, "Tasks", "defaultList"), (1, "Flagged Emails", "flaggedEmails"))
_LINKED = ("webUrl", "applicationName", "displayName", "externalId")


def lists(call: GraphCall) -> Document:
    return page(call, f"users('{call.account}')/todo/lists", _lists(call), _list)


def create_list(call: GraphCall) -> Created:
    known = _lists(call)
    made = _new_list(call.account, len(known), call.body["displayName"], "none")
    known.append(made)
    return Created(_list(made))


def tasks(call: GraphCall) -> Document:
    """List the tasks of a list; their links only where `$expand` asks for them."""
    found = _found_list(call)
    context = f"users('{call.account}')/todo/lists('{call.ids[0]}')/tasks"
    return page(call, context, found["tasks"][::-1], lambda one: _shown(one, linked="$expand" in call.query))


def create(call: GraphCall) -> Created:
    """Make a task, with links if they come with it."""
    found = _found_list(call)
    number, now = sum(len(one["tasks"]) for one in _lists(call)), _now(call)
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
    return Created(_shown(task, linked=True))


def change(call: GraphCall) -> Document:
    task = _found_task(call)
    task["fields"] |= _fields(call.body)
    _touch(task, _now(call))
    return _shown(task, linked=False)


def add_link(call: GraphCall) -> Created:
    """Add a link, whether or not there is one with its external id."""
    task = _found_task(call)
    made = _new_link(task, call.body)
    task["links"].append(made)
    _touch(task, _now(call))
    return Created(made)


def _touch(task: Document, now: float) -> None:
    task |= {"modified": now, "version": task["version"] + 1}
    if task["fields"].get("status") == "completed":
        task.setdefault("completed", now)
    else:
        _ = task.pop("completed", None)


def _now(call: GraphCall) -> float:
    return call.world.ground.clock.now().timestamp()


def _lists(call: GraphCall) -> list[Document]:
    account = call.mailbox.account
    return call.world.kept("tasks", account, lambda: [_new_list(account, *seed) for seed in _FIRST])


def _found_list(call: GraphCall) -> Document:
    return _named(_lists(call), call.ids[0], "list")


def _found_task(call: GraphCall) -> Document:
    return _named(_found_list(call)["tasks"], call.ids[1], "task")


def _named(known: list[Document], wanted: str, kind: str) -> Document:
    found = next((one for one in known if one["id"] == wanted), None)
    if found is None:
        raise refusal("not_found", f"The {kind} does not exist.")
    return found


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

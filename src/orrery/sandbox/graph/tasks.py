"""To Do: lists, tasks, and what tasks are linked with. Nothing keeps a link's external id unique."""

from typing import Any

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
_FIRST = (("Tasks", "defaultList"), ("Flagged Emails", "flaggedEmails"))
_LINKED = ("webUrl", "applicationName", "displayName", "externalId")
_LINKS = "linkedResources"


def lists(call: GraphCall) -> Document:
    return page(call, f"users('{call.account}')/todo/lists", _lists(call), _shown)


def create_list(call: GraphCall) -> Created:
    known = _lists(call)
    known.append(_new_list(call.account, len(known), call.body["displayName"], "none"))
    return Created(_shown(known[-1]))


def tasks(call: GraphCall) -> Document:
    """List the tasks of a list; their links only where `$expand` asks for them."""
    context, linked = f"users('{call.account}')/todo/lists('{call.ids[0]}')/tasks", "$expand" in call.query
    return page(call, context, _found_list(call)["tasks"][::-1], lambda one: _shown(one, linked=linked))


def create(call: GraphCall) -> Created:
    """Make a task, with links if they come with it."""
    found, number = _found_list(call), sum(len(one["tasks"]) for one in _lists(call))
    task: Document = {
        "importance": "normal",
        "isReminderOn": False,
        "status": "notStarted",
        "title": "",
        "createdDateTime": _now(call),
        "hasAttachments": False,
        "categories": [],
        "id": item_id(f"{call.account} tasks", number, 0, immutable=False),
        "body": {"content": "", "contentType": "text"},
        _LINKS: [],
    }
    task[_LINKS] += [_new_link(task, one) for one in call.body.get(_LINKS) or ()]
    found["tasks"].append(task)
    return Created(_shown(_changed(call, task, call.body), linked=True))


def change(call: GraphCall) -> Document:
    return _shown(_changed(call, _found_task(call), call.body))


def add_link(call: GraphCall) -> Created:
    """Add a link, whether or not there is one with its external id."""
    task = _found_task(call)
    made = _new_link(task, call.body)
    task[_LINKS].append(made)
    _ = _changed(call, task, {})
    return Created(made)


def _changed(call: GraphCall, task: Document, body: Document) -> Document:
    task |= {name: body[name] for name in _CHANGEABLE if name in body} | {"lastModifiedDateTime": _now(call)}
    if task["status"] == "completed":
        _ = task.setdefault("completedDateTime", {"dateTime": f"{_now(call)[:-1]}.0000000", "timeZone": "UTC"})
    else:
        _ = task.pop("completedDateTime", None)
    return task


def _now(call: GraphCall) -> str:
    return utc(call.world.ground.clock.now().timestamp())


def _lists(call: GraphCall) -> list[Document]:
    account = call.mailbox.account
    first = [_new_list(account, number, *names) for number, names in enumerate(_FIRST)]
    return call.world.kept("tasks", account, lambda: first)


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
    shown = {"id": item_id(f"{account} lists", number, 0, immutable=False), "displayName": name}
    return shown | {"isOwner": True, "isShared": False, "wellknownListName": known, "tasks": list[Any]()}


def _new_link(task: Document, given: Document) -> Document:
    return {name: given.get(name) for name in _LINKED} | {"id": guid(task["id"], len(task[_LINKS]))}


def _shown(stored: Document, *, linked: bool = False) -> Document:
    """Return a list without its tasks, or a task, with its links if they are asked for."""
    hidden = {"tasks"} if linked else {"tasks", _LINKS}
    shown = {name: value for name, value in stored.items() if name not in hidden}
    return {"@odata.etag": f'W/"{digest(shown)}"', **shown}

"""What changed in a folder since the last time, page by page."""

import base64
import json
from typing import Any, cast

from orrery.sandbox.graph import extended, listing, rendering
from orrery.sandbox.graph.call import Call
from orrery.sandbox.graph.conditions import parsed
from orrery.sandbox.graph.errors import bad_argument, inefficient, resync
from orrery.sandbox.graph.listing import seconds_of
from orrery.sandbox.graph.mail import check_properties, chosen, folder_of, mailbox_of
from orrery.sandbox.graph.mailbox import Change, Mailbox
from orrery.sandbox.graph.pages import link, selected
from orrery.sandbox.graph.world import World
from orrery.sandbox.identity.config import GRAPH
from orrery.sandbox.state import Document

_ORDERS = {"", "receiveddatetime desc"}
_LARGEST = 1000
_FILTERED = 5000
"""How many messages a first round has at most that is filtered: the vendor says nothing about the rest."""

_TYPE = {"@odata.type": "#microsoft.graph.message"}


class Delta:
    """The first round lists a folder; each later one lists what changed since the round before.

    A token holds the query of the first request, so that links need nothing else.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def messages(self, call: Call) -> Document:
        mailbox = mailbox_of(self._world, call)
        folder = folder_of(mailbox, call.ids[0])
        # The vendor writes links so, and takes ids both ways.
        address = f"{self._world.url}/v1.0/me/mailFolders('{call.ids[0]}')/messages/delta"
        token = call.query.get("$skiptoken") or call.query.get("$deltatoken")
        state = _state(token) if token else _begun(mailbox, call)
        if (state.get("run"), state.get("folder", folder)) != (mailbox.run, folder):
            raise resync(f"{address}?%24deltatoken=")
        state["folder"] = folder
        turn = _listed if "before" in state else _changed
        values, more = turn(mailbox, state, call, _size(call))
        name, parameter = ("@odata.nextLink", "$skiptoken") if more else ("@odata.deltaLink", "$deltatoken")
        following = link(address, [(parameter, _token(state))])
        return {"@odata.context": f"{GRAPH}/v1.0/$metadata#Collection(message)", "value": values, name: following}


def _begun(mailbox: Mailbox, call: Call) -> Document:
    """Return the state of a first round, with what its query asks for."""
    if call.query.get("$orderby", "").lower() not in _ORDERS:
        raise inefficient()
    state: Document = {"run": mailbox.run, "version": mailbox.about["version"], "before": None}
    if names := chosen(call):
        state["select"] = list(names)
    if expand := call.query.get("$expand", ""):
        check_properties(call)
        _ = extended.expanded(expand, {})
        state["expand"] = expand
    if text := call.query.get("$filter", ""):
        condition = parsed(text)
        [first, *more] = condition.comparisons
        if more or condition.paths() != [listing.RECEIVED] or first.operator not in {"ge", "gt"}:
            raise inefficient()
        state |= {"since": first.value, "left": _FILTERED}
    return state


def _listed(mailbox: Mailbox, state: Document, call: Call, size: int) -> tuple[list[Document], bool]:
    """Return a page of the first round, and whether there is more; the state moves behind it.

    The last one has what left the folder meanwhile, whether or not it was on a page.
    """
    before = cast("list[int] | None", state["before"])
    since = seconds_of(state["since"]) if "since" in state else None
    numbers = mailbox.numbers(state["folder"], since=since, until=None if before is None else before[0])
    messages = [one for number in numbers if (one := mailbox.get(number)) is not None]
    if before is not None:
        messages = [one for one in messages if [one["received"], one["number"]] < before]
    messages = messages[: state.get("left", len(messages))]
    page, more = messages[:size], len(messages) > size
    if "left" in state:
        state["left"] -= len(page)
    if more:
        state["before"] = [page[-1]["received"], page[-1]["number"]]
        return [_shown(mailbox, one, state, call) for one in page], more
    del state["before"]
    left = [one for one in mailbox.changes_since(state["version"], state["folder"]) if not one.is_there]
    state["version"] = mailbox.about["version"] if left else state["version"]
    shown = [_shown(mailbox, one, state, call) for one in page]
    return [*shown, *(_change(mailbox, one, state, call) for one in left)], more


def _changed(mailbox: Mailbox, state: Document, call: Call, size: int) -> tuple[list[Document], bool]:
    """Return a page of what changed since the state, and whether there is more; the state moves behind it."""
    changes = list(mailbox.changes_since(state["version"], state["folder"]))
    page, more = changes[:size], len(changes) > size
    state["version"] = page[-1].version if more else mailbox.about["version"]
    return [_change(mailbox, one, state, call) for one in page], more


def _change(mailbox: Mailbox, change: Change, state: Document, call: Call) -> Document:
    message = mailbox.get(change.number)
    if change.is_there and message is not None:
        return _shown(mailbox, message, state, call)
    return {**_TYPE, "id": change.ids[call.immutable], "@removed": {"reason": "deleted"}}


def _shown(mailbox: Mailbox, message: Document, state: Document, call: Call) -> Document:
    names = state.get("select", ())
    shown = selected(_TYPE | rendering.rendered(mailbox, message, call, names), names)
    return shown | extended.expanded(state.get("expand", ""), message["properties"])


def _size(call: Call) -> int:
    text = call.preferences.get("odata.maxpagesize", "")
    return min(int(text), _LARGEST) if text.isdecimal() and int(text) else call.number("$top", 10, 1, _LARGEST)


def _token(state: Document) -> str:
    return base64.urlsafe_b64encode(json.dumps(state, separators=(",", ":")).encode()).decode().rstrip("=")


def _state(token: str) -> dict[str, Any]:
    try:
        found: object = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError as error:
        raise bad_argument("The token is badly formed.") from error
    if not isinstance(found, dict):
        raise bad_argument("The token is badly formed.")
    return cast("dict[str, Any]", found)

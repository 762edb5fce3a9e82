"""The calls about mail: lists, one message, drafts, changes, and what changed since the last time."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from orrery.sandbox.graph.call import (
    EXTENDED,
    Created,
    GraphCall,
    expanded_properties,
    filter_of,
    given_properties,
    link,
    page,
    refusal,
    selected,
)
from orrery.sandbox.graph.ids import number_of
from orrery.sandbox.graph.mailbox import Change, Mailbox
from orrery.sandbox.graph.messages import BODY_PROPERTIES, body_of, change_key, found_in, rendered
from orrery.sandbox.graph.seed import message as message_of
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import GRAPH

_ONLY_OF_DRAFTS = frozenset({"subject", "body", "toRecipients", "ccRecipients"})


def folder_messages(call: GraphCall) -> Document:
    """List the messages of a folder, by its id or its well-known name."""
    mailbox, wanted = call.mailbox, filter_of(call)
    if wanted.mark is not None:
        _check_properties(call)
    found = found_in(mailbox, _folder(mailbox, call.ids[0]), wanted)
    return page(call, f"users('{call.account}')/messages", found, lambda one: _shown(mailbox, one, call))


def message(call: GraphCall) -> Document:
    return _one(call.mailbox, _found(call), call)


def create(call: GraphCall) -> Created:
    """Make a draft of a new message."""
    return _draft(call, {}, call.body)


def attachments(call: GraphCall) -> Document:
    """List what is attached to a message; its content comes unless `$select` leaves it out."""
    names, context = call.names("$select"), f"users('{call.account}')/messages('{call.ids[0]}')/attachments"
    held: list[Document] = _found(call).get("attachments", [])
    listed = list(enumerate(held))
    return page(call, context, listed, lambda one: selected(_attached(*one), names))


def create_reply(call: GraphCall) -> Created:
    """Make a draft that answers a message, which the vendor marks as read by it."""
    return _reply(call, _found(call), {})


def create_reply_to_all(call: GraphCall) -> Created:
    """Make one that answers all whom the message names, but for the account itself."""
    original = _found(call)
    return _reply(call, original, _to_all(original, call.account))


def _reply(call: GraphCall, original: Document, recipients: Document) -> Created:
    # The vendor's library writes these names with a capital.
    body = {name.lower(): value for name, value in call.body.items()}
    given, comment = cast("Document", body.get("message") or {}), body.get("comment")
    if comment is not None and "body" in given:
        raise refusal("bad_request", "Comment and message body cannot both be specified.")
    # It is not published whether the vendor keeps extended properties that come with a reply.
    given = {name: value for name, value in given.items() if name != EXTENDED}
    made = _draft(call, _answering(original, str(comment or "")) | recipients, given)
    _ = call.mailbox.store(original | {"read": True})
    return made


def _draft(call: GraphCall, answering: Document, given: Document) -> Created:
    mailbox = call.mailbox
    new = message_of("", None, mailbox.now(), folder="drafts", read=True, draft=True, body=("html", ""))
    # What was not sent has no sender.
    own: Document = {"conversation": f"draft {mailbox.next}", "drop": ["from", "sender"]}
    return Created(_one(mailbox, mailbox.new(**new | own | answering | _changed(given)), call))


def change(call: GraphCall) -> Document:
    mailbox, known = call.mailbox, _found(call)
    if call.if_match not in {"", "*", f'W/"{change_key(known)}"'}:
        raise refusal("changed_meanwhile")
    if not known["draft"] and call.body.keys() & _ONLY_OF_DRAFTS:
        raise refusal("bad_argument", "The property can be set on a draft only.")
    changes = _changed(call.body)
    properties = known["properties"] | changes.pop("properties", {})
    return _one(mailbox, mailbox.store(known | changes | {"properties": properties}), call)


def _one(mailbox: Mailbox, found: Document, call: GraphCall) -> Document:
    context = f"{GRAPH}/v1.0/$metadata#users('{call.account}')/messages/$entity"
    return {"@odata.context": context, **_shown(mailbox, found, call)}


def _shown(mailbox: Mailbox, found: Document, call: GraphCall) -> Document:
    names, expand = call.names("$select"), call.query.get("$expand", "")
    if expand or BODY_PROPERTIES & set(names):
        _check_properties(call)
    shown = selected(rendered(mailbox, found, call, names), names)
    return shown | expanded_properties(expand, found["properties"])


def _folder(mailbox: Mailbox, text: str) -> str:
    folder = mailbox.folder(text)
    if folder is None:
        raise refusal("item_not_found" if number_of(text) is not None else "malformed_id")
    return folder


def _found(call: GraphCall) -> Document:
    """Return the message of the id in the path, or refuse the id."""
    found = call.mailbox.found(call.ids[0])
    if found is None:
        raise refusal("item_not_found" if number_of(call.ids[0]) is not None else "malformed_id")
    return found


def _check_properties(call: GraphCall) -> None:
    """Refuse what Mail.ReadBasic does not show."""
    if not call.may("Mail.Read", "Mail.ReadWrite"):
        raise refusal("access_denied")


def _answering(original: Document, comment: str) -> Document:
    """Return what a reply takes of the message that it answers."""
    subject, sender = original["subject"] or "", original["from"]
    quoted = body_of(original, "html")["content"]
    text = f"<html><body>{comment}<hr>{quoted}</body></html>"
    return {
        "subject": subject if subject.lower().startswith("re:") else f"Re: {subject}",
        "to": original.get("reply_to") or ([] if sender is None else [sender]),
        "body": ("html", text),
        "conversation": original["conversation"],
    }


def _to_all(original: Document, account: str) -> Document:
    """Return the recipients of a reply to all, without the account itself."""
    first = original.get("reply_to") or ([] if original["from"] is None else [original["from"]])
    to, cc = ([one for one in original.get(name, ()) if one[1] != account] for name in ("to", "cc"))
    return {"to": [*first, *to], "cc": cc}


def _attached(place: int, given: Document) -> Document:
    """Return an attachment with all of the vendor's fields."""
    return {
        "@odata.type": "#microsoft.graph.fileAttachment",
        "id": f"AAMkAttachment{place}=",
        "lastModifiedDateTime": "2026-11-01T08:00:00Z",
        "name": "file",
        "contentType": "application/octet-stream",
        "size": 0,
        "isInline": False,
        "contentBytes": "",
        **given,
    }


def _changed(body: Document) -> Document:
    """Return the fields that a body sets; the vendor ignores what cannot be set."""
    changes = dict(_CHANGES[name](body[name]) for name in body.keys() & _CHANGES.keys())
    return changes | ({"properties": given_properties(body)} if EXTENDED in body else {})


def _people(given: Any) -> list[tuple[str, str]]:  # noqa: ANN401  any JSON
    addresses: list[Document] = [one["emailAddress"] for one in given or ()]
    return [(str(one.get("name") or one["address"]), one["address"]) for one in addresses]


_CHANGES: dict[str, Callable[[Any], tuple[str, object]]] = {
    "subject": lambda given: ("subject", given),
    "importance": lambda given: ("importance", given),
    "isRead": lambda given: ("read", given),
    "toRecipients": lambda given: ("to", _people(given)),
    "ccRecipients": lambda given: ("cc", _people(given)),
    "body": lambda given: ("body", (given["contentType"].lower(), given["content"])),
}
"""The stored field of each that can be set, and its value."""


_LARGEST = 1000
_FILTERED = 5000
"""How many messages a first round has at most that is filtered: the vendor leaves out the rest without a word."""

_TYPE = {"@odata.type": "#microsoft.graph.message"}


def delta(call: GraphCall) -> Document:
    """List a folder in the first round, and in each later one what changed since the round before.

    A token holds the query of the first request, so that links need nothing else.
    """
    mailbox = call.mailbox
    folder = _folder(mailbox, call.ids[0])
    # The vendor writes links so, and takes ids both ways.
    address = f"{call.world.url}/v1.0/me/mailFolders('{call.ids[0]}')/messages/delta"
    token = call.query.get("$skiptoken") or call.query.get("$deltatoken")
    state = _state(token) if token else _begun(mailbox, call)
    if (state["run"], state.get("folder", folder)) != (mailbox.run, folder):
        raise refusal("resync", Location=f"{address}?%24deltatoken=")
    state["folder"] = folder
    turn = _listed_page if "before" in state else _changed_page
    asked = replace(call, query=call.query | state["query"])
    values, more = turn(mailbox, state, asked, _size(call))
    name, parameter = ("@odata.nextLink", "$skiptoken") if more else ("@odata.deltaLink", "$deltatoken")
    following = link(address, {parameter: _token(state)})
    return {"@odata.context": f"{GRAPH}/v1.0/$metadata#Collection(message)", "value": values, name: following}


def _begun(mailbox: Mailbox, call: GraphCall) -> Document:
    """Return the state of a first round, with what its query asks for."""
    wanted, query = filter_of(call), {name: call.query.get(name, "") for name in ("$select", "$expand")}
    state: Document = {"run": mailbox.run, "version": mailbox.version, "before": None, "query": query}
    if call.query.get("$filter"):
        if wanted.since is None or wanted.until is not None:
            raise refusal("inefficient")
        state |= {"since": wanted.since, "left": _FILTERED}
    return state


def _listed_page(mailbox: Mailbox, state: Document, call: GraphCall, size: int) -> tuple[list[Document], bool]:
    """Return a page of the first round, and whether there is more; the state moves behind it.

    The last one has what left the folder meanwhile, whether or not it was on a page.
    """
    before = cast("list[int] | None", state["before"])
    until = None if before is None else before[0]
    found = mailbox.messages(state["folder"], since=state.get("since"), until=until)
    messages = [one for one in found if before is None or [one["received"], one["number"]] < before]
    messages = messages[: state.get("left", len(messages))]
    listed, more = messages[:size], len(messages) > size
    shown = [_TYPE | _shown(mailbox, one, call) for one in listed]
    if "left" in state:
        state["left"] -= len(listed)
    if more:
        state["before"] = [listed[-1]["received"], listed[-1]["number"]]
        return shown, more
    del state["before"]
    left = [one for one in mailbox.changes_since(state["version"], state["folder"]) if not one.is_there]
    state["version"] = mailbox.version if left else state["version"]
    return [*shown, *(_change(mailbox, one, call) for one in left)], more


def _changed_page(mailbox: Mailbox, state: Document, call: GraphCall, size: int) -> tuple[list[Document], bool]:
    """Return a page of what changed since the state, and whether there is more; the state moves behind it."""
    changes = list(mailbox.changes_since(state["version"], state["folder"]))
    listed, more = changes[:size], len(changes) > size
    state["version"] = listed[-1].version if more else mailbox.version
    return [_change(mailbox, one, call) for one in listed], more


def _change(mailbox: Mailbox, change: Change, call: GraphCall) -> Document:
    if change.is_there:
        return _TYPE | _shown(mailbox, change.message, call)
    gone = mailbox.id_of(change.message, immutable=call.immutable)
    return {**_TYPE, "id": gone, "@removed": {"reason": "deleted"}}


def _size(call: GraphCall) -> int:
    text = call.preferences.get("odata.maxpagesize", "")
    return min(int(text), _LARGEST) if text.isdecimal() and int(text) else call.number("$top", 10, 1, _LARGEST)


def _token(state: Document) -> str:
    return base64.urlsafe_b64encode(json.dumps(state, separators=(",", ":")).encode()).decode().rstrip("=")


def _state(token: str) -> Document:
    try:
        found: object = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError as error:
        raise refusal("bad_argument", "The token is badly formed.") from error
    if not isinstance(found, dict):
        raise refusal("bad_argument", "The token is badly formed.")
    return cast("Document", found)

"""The calls about mail: lists, one message, drafts, changes, and what changed since the last time."""

import base64
import json
from typing import Any, cast

from orrery.sandbox.graph.call import (
    Created,
    GraphCall,
    check_selected,
    link,
    next_link,
    number_of,
    refusal,
    selected,
)
from orrery.sandbox.graph.mailbox import Change, Mailbox, Mailboxes
from orrery.sandbox.graph.messages import (
    BODY_PROPERTIES,
    MESSAGE,
    MESSAGE_PROPERTIES,
    RECEIVED,
    body_of,
    condition_of,
    etag,
    page_of,
    rendered,
    seconds_of,
)
from orrery.sandbox.graph.query import EXTENDED, expanded_properties, given_properties, needs_names, parsed_filter
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import GRAPH

_ONLY_OF_DRAFTS = frozenset({"subject", "body", "toRecipients", "ccRecipients"})
_CHANGEABLE = _ONLY_OF_DRAFTS | {"isRead", "importance", EXTENDED}
_KINDS = {"text", "html"}


class Mail:
    """The calls about messages."""

    def __init__(self, world: Mailboxes) -> None:
        self._world = world

    def folder_messages(self, call: GraphCall) -> Document:
        """List the messages of a folder, by its id or its well-known name."""
        mailbox = mailbox_of(self._world, call)
        folder = folder_of(mailbox, call.ids[0])
        return self._listed(call, folder, f"/me/mailFolders/{call.ids[0]}/messages")

    def message(self, call: GraphCall) -> Document:
        mailbox = mailbox_of(self._world, call)
        return self._one(mailbox, found_message(mailbox, call.ids[0]), call)

    def create(self, call: GraphCall) -> Created:
        """Make a draft of a new message."""
        mailbox = mailbox_of(self._world, call)
        draft = mailbox.new(**_new(mailbox, {}) | _changed(call.body))
        return Created(self._one(mailbox, stored_message(mailbox, draft), call))

    def attachments(self, call: GraphCall) -> Document:
        """List what is attached to a message; its content comes unless `$select` leaves it out."""
        mailbox, names = mailbox_of(self._world, call), call.names("$select")
        message = found_message(mailbox, call.ids[0])
        context = f"{GRAPH}/v1.0/$metadata#users('{mailbox.account}')/messages('{call.ids[0]}')/attachments"
        listed = enumerate(message.get("attachments", ()))
        return {
            "@odata.context": context,
            "value": [selected(_attached(place, one), names) for place, one in listed],
        }

    def create_reply(self, call: GraphCall) -> Created:
        """Make a draft that answers a message, which the vendor marks as read by it."""
        return self._reply(call, to_all=False)

    def create_reply_to_all(self, call: GraphCall) -> Created:
        """Make one that answers all whom the message names, but for the account itself."""
        return self._reply(call, to_all=True)

    def _reply(self, call: GraphCall, *, to_all: bool) -> Created:
        mailbox = mailbox_of(self._world, call)
        original = found_message(mailbox, call.ids[0])
        # The vendor's library writes these names with a capital.
        body = {name.lower(): value for name, value in call.body.items()} if call.given is not None else {}
        message, comment = cast("Document", body.get("message") or {}), body.get("comment")
        if comment is not None and "body" in message:
            raise refusal("bad_request", "Comment and message body cannot both be specified.")
        # It is not published whether the vendor keeps extended properties that come with a reply.
        message = {name: value for name, value in message.items() if name != EXTENDED}
        answering = _answering(original, str(comment or "")) | (
            _to_all(original, mailbox.account) if to_all else {}
        )
        draft = mailbox.new(**_new(mailbox, answering) | _changed(message))
        mailbox.store(original | {"read": True})
        return Created(self._one(mailbox, stored_message(mailbox, draft), call))

    def change(self, call: GraphCall) -> Document:
        mailbox = mailbox_of(self._world, call)
        message = found_message(mailbox, call.ids[0])
        if call.if_match not in {"", "*", etag(message)}:
            raise refusal("changed_meanwhile")
        if not message["draft"] and call.body.keys() & _ONLY_OF_DRAFTS:
            raise refusal("bad_argument", "The property can be set on a draft only.")
        changes = _changed(call.body)
        properties = message["properties"] | changes.pop("properties", {})
        mailbox.store(message | changes | {"properties": properties})
        return self._one(mailbox, stored_message(mailbox, message), call)

    def _one(self, mailbox: Mailbox, message: Document, call: GraphCall) -> Document:
        names = chosen_names(call)
        shown = selected(rendered(mailbox, message, call, names), names)
        context = f"{GRAPH}/v1.0/$metadata#users('{mailbox.account}')/messages/$entity"
        return {"@odata.context": context, **shown, **self._expanded(message, call)}

    def _listed(self, call: GraphCall, folder: str, path: str) -> Document:
        mailbox, names = mailbox_of(self._world, call), chosen_names(call)
        if (condition := condition_of(call)) is not None and needs_names(condition):
            check_properties(call)
        page, following = page_of(mailbox, folder, call)
        listed: Document = {"@odata.context": f"{GRAPH}/v1.0/$metadata#users('{mailbox.account}')/messages"}
        listed["value"] = [
            selected(rendered(mailbox, one, call, names), names) | self._expanded(one, call) for one in page
        ]
        if following is not None:
            listed["@odata.nextLink"] = next_link(f"{self._world.url}/v1.0{path}", call, "$skip", following)
        return listed

    def _expanded(self, message: Document, call: GraphCall) -> Document:
        text = call.query.get("$expand", "")
        if text:
            check_properties(call)
        return expanded_properties(text, message["properties"])


def mailbox_of(world: Mailboxes, call: GraphCall) -> Mailbox:
    """Return the mailbox of who asks; a guest has none in the tenant that it is a guest of."""
    if call.issued.account.is_guest(call.issued.tenant):
        raise refusal("no_mailbox")
    return world.mailbox(call.account)


def folder_of(mailbox: Mailbox, text: str) -> str:
    folder = mailbox.folder(text)
    if folder is None:
        raise refusal("item_not_found") if number_of(text) is not None else refusal("malformed_id")
    return folder


def found_message(mailbox: Mailbox, text: str) -> Document:
    """Return the message of an id, or refuse the id."""
    message = mailbox.found(text)
    if message is None:
        raise refusal("item_not_found") if number_of(text) is not None else refusal("malformed_id")
    return message


def stored_message(mailbox: Mailbox, message: Document) -> Document:
    """Return a message as it is now."""
    return mailbox.get(message["number"]) or message


def check_properties(call: GraphCall) -> None:
    """Refuse what Mail.ReadBasic does not show."""
    if not call.issued.scopes & {"Mail.Read", "Mail.ReadWrite"}:
        raise refusal("access_denied")


def chosen_names(call: GraphCall) -> tuple[str, ...]:
    """Return what `$select` names, which the scopes must show."""
    names = call.names("$select")
    check_selected(names, MESSAGE_PROPERTIES, MESSAGE)
    if BODY_PROPERTIES & set(names):
        check_properties(call)
    return names


def _new(mailbox: Mailbox, answering: Document) -> Document:
    """Return what a new draft has."""
    now = mailbox.now()
    new: Document = {
        "folder": "drafts",
        "subject": "",
        "from": None,
        "to": [],
        "received": now,
        "importance": "normal",
        "read": True,
        "draft": True,
        "body": ("html", ""),
        "conversation": f"draft {mailbox.about['next']}",
        "properties": {},
        "set": {},
        "drop": ["from", "sender"],
    }
    return new | answering


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
    changes: Document = {}
    for name in body.keys() & _CHANGEABLE:
        value = body[name]
        match name:
            case "isRead":
                changes["read"] = bool(value)
            case "toRecipients" | "ccRecipients":
                changes[name[:2]] = [_person(one) for one in cast("list[Document]", value or [])]
            case "body":
                changes["body"] = _body(value)
            case "singleValueExtendedProperties":
                changes["properties"] = given_properties(body)
            case _:
                changes[name] = value
    return changes


def _person(given: Document) -> tuple[str, str]:
    address = cast("Document", given.get("emailAddress") or {})
    text = str(address.get("address", ""))
    return str(address.get("name") or text), text


def _body(given: Document) -> tuple[str, str]:
    kind = str(given.get("contentType", "text")).lower()
    if kind not in _KINDS:
        raise refusal("bad_argument", f"Cannot convert the literal '{kind}' to the expected type 'BodyType'.")
    return kind, str(given.get("content") or "")


_ORDERS = {"", "receiveddatetime desc"}
_LARGEST = 1000
_FILTERED = 5000
"""How many messages a first round has at most that is filtered: the vendor leaves out the rest without a word."""

_TYPE = {"@odata.type": "#microsoft.graph.message"}


class Delta:
    """The first round lists a folder; each later one lists what changed since the round before.

    A token holds the query of the first request, so that links need nothing else.
    """

    def __init__(self, world: Mailboxes) -> None:
        self._world = world

    def messages(self, call: GraphCall) -> Document:
        mailbox = mailbox_of(self._world, call)
        folder = folder_of(mailbox, call.ids[0])
        # The vendor writes links so, and takes ids both ways.
        address = f"{self._world.url}/v1.0/me/mailFolders('{call.ids[0]}')/messages/delta"
        token = call.query.get("$skiptoken") or call.query.get("$deltatoken")
        state = _state(token) if token else _begun(mailbox, call)
        if (state.get("run"), state.get("folder", folder)) != (mailbox.run, folder):
            raise refusal("resync", Location=f"{address}?%24deltatoken=")
        state["folder"] = folder
        turn = _listed_page if "before" in state else _changed_page
        values, more = turn(mailbox, state, call, _size(call))
        name, parameter = ("@odata.nextLink", "$skiptoken") if more else ("@odata.deltaLink", "$deltatoken")
        following = link(address, [(parameter, _token(state))])
        return {"@odata.context": f"{GRAPH}/v1.0/$metadata#Collection(message)", "value": values, name: following}


def _begun(mailbox: Mailbox, call: GraphCall) -> Document:
    """Return the state of a first round, with what its query asks for."""
    if call.query.get("$orderby", "").lower() not in _ORDERS:
        raise refusal("inefficient")
    state: Document = {"run": mailbox.run, "version": mailbox.about["version"], "before": None}
    if names := chosen_names(call):
        state["select"] = list(names)
    if expand := call.query.get("$expand", ""):
        check_properties(call)
        _ = expanded_properties(expand, {})
        state["expand"] = expand
    if text := call.query.get("$filter", ""):
        condition = parsed_filter(text)
        [first, *more] = condition.comparisons
        if more or condition.paths() != [RECEIVED] or first.operator not in {"ge", "gt"}:
            raise refusal("inefficient")
        state |= {"since": first.value, "left": _FILTERED}
    return state


def _listed_page(mailbox: Mailbox, state: Document, call: GraphCall, size: int) -> tuple[list[Document], bool]:
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
        return [_shown_change(mailbox, one, state, call) for one in page], more
    del state["before"]
    left = [one for one in mailbox.changes_since(state["version"], state["folder"]) if not one.is_there]
    state["version"] = mailbox.about["version"] if left else state["version"]
    shown = [_shown_change(mailbox, one, state, call) for one in page]
    return [*shown, *(_change(mailbox, one, state, call) for one in left)], more


def _changed_page(mailbox: Mailbox, state: Document, call: GraphCall, size: int) -> tuple[list[Document], bool]:
    """Return a page of what changed since the state, and whether there is more; the state moves behind it."""
    changes = list(mailbox.changes_since(state["version"], state["folder"]))
    page, more = changes[:size], len(changes) > size
    state["version"] = page[-1].version if more else mailbox.about["version"]
    return [_change(mailbox, one, state, call) for one in page], more


def _change(mailbox: Mailbox, change: Change, state: Document, call: GraphCall) -> Document:
    message = mailbox.get(change.number)
    if change.is_there and message is not None:
        return _shown_change(mailbox, message, state, call)
    return {**_TYPE, "id": change.ids[call.immutable], "@removed": {"reason": "deleted"}}


def _shown_change(mailbox: Mailbox, message: Document, state: Document, call: GraphCall) -> Document:
    names = state.get("select", ())
    shown = selected(_TYPE | rendered(mailbox, message, call, names), names)
    return shown | expanded_properties(state.get("expand", ""), message["properties"])


def _size(call: GraphCall) -> int:
    text = call.preferences.get("odata.maxpagesize", "")
    return min(int(text), _LARGEST) if text.isdecimal() and int(text) else call.number("$top", 10, 1, _LARGEST)


def _token(state: Document) -> str:
    return base64.urlsafe_b64encode(json.dumps(state, separators=(",", ":")).encode()).decode().rstrip("=")


def _state(token: str) -> dict[str, Any]:
    try:
        found: object = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except ValueError as error:
        raise refusal("bad_argument", "The token is badly formed.") from error
    if not isinstance(found, dict):
        raise refusal("bad_argument", "The token is badly formed.")
    return cast("dict[str, Any]", found)

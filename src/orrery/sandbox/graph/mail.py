"""Mail: messages of folders, one message, drafts of replies, changes."""

from typing import cast

from orrery.sandbox.graph import extended, listing, rendering
from orrery.sandbox.graph.call import Call
from orrery.sandbox.graph.errors import (
    Created,
    access_denied,
    bad_argument,
    bad_request,
    changed_meanwhile,
    item_not_found,
    malformed_id,
    no_mailbox,
)
from orrery.sandbox.graph.ids import number_of
from orrery.sandbox.graph.mailbox import EVERYWHERE, Mailbox
from orrery.sandbox.graph.pages import check_selected, next_link, selected
from orrery.sandbox.graph.world import World
from orrery.sandbox.identity.config import GRAPH
from orrery.sandbox.state import Document

_ONLY_OF_DRAFTS = frozenset({"subject", "body", "toRecipients", "ccRecipients"})
_CHANGEABLE = _ONLY_OF_DRAFTS | {"isRead", "importance", extended.NAME}
_KINDS = {"text", "html"}


class Mail:
    """The calls about messages."""

    def __init__(self, world: World) -> None:
        self._world = world

    def messages(self, call: Call) -> Document:
        """List the messages of all folders."""
        return self._listed(call, EVERYWHERE, "/me/messages")

    def folder_messages(self, call: Call) -> Document:
        """List the messages of a folder, by its id or its well-known name."""
        mailbox = mailbox_of(self._world, call)
        folder = folder_of(mailbox, call.ids[0])
        return self._listed(call, folder, f"/me/mailFolders/{call.ids[0]}/messages")

    def message(self, call: Call) -> Document:
        mailbox = mailbox_of(self._world, call)
        return self._one(mailbox, found(mailbox, call.ids[0]), call)

    def create(self, call: Call) -> Created:
        """Make a draft of a new message."""
        mailbox = mailbox_of(self._world, call)
        draft = mailbox.new(**_new(mailbox, {}) | _changed(call.body))
        return Created(self._one(mailbox, stored(mailbox, draft), call))

    def attachments(self, call: Call) -> Document:
        """List what is attached to a message; its content comes unless `$select` leaves it out."""
        mailbox, names = mailbox_of(self._world, call), call.names("$select")
        message = found(mailbox, call.ids[0])
        context = f"{GRAPH}/v1.0/$metadata#users('{mailbox.account}')/messages('{call.ids[0]}')/attachments"
        listed = enumerate(message.get("attachments", ()))
        return {
            "@odata.context": context,
            "value": [selected(_attached(place, one), names) for place, one in listed],
        }

    def create_reply(self, call: Call) -> Created:
        """Make a draft that answers a message, which the vendor marks as read by it."""
        return self._reply(call, to_all=False)

    def create_reply_to_all(self, call: Call) -> Created:
        """Make one that answers all whom the message names, but for the account itself."""
        return self._reply(call, to_all=True)

    def _reply(self, call: Call, *, to_all: bool) -> Created:
        mailbox = mailbox_of(self._world, call)
        original = found(mailbox, call.ids[0])
        # The vendor's library writes these names with a capital.
        body = {name.lower(): value for name, value in call.body.items()} if call.given is not None else {}
        message, comment = cast("Document", body.get("message") or {}), body.get("comment")
        if comment is not None and "body" in message:
            raise bad_request("Comment and message body cannot both be specified.")
        # Nothing says whether the vendor keeps extended properties that come with a reply.
        if not mailbox.about.get("keeps_properties"):
            message = {name: value for name, value in message.items() if name != extended.NAME}
        answering = _answering(original, str(comment or "")) | (
            _to_all(original, mailbox.account) if to_all else {}
        )
        draft = mailbox.new(**_new(mailbox, answering) | _changed(message))
        mailbox.store(original | {"read": True})
        return Created(self._one(mailbox, stored(mailbox, draft), call))

    def change(self, call: Call) -> Document:
        mailbox = mailbox_of(self._world, call)
        message = found(mailbox, call.ids[0])
        if call.if_match not in {"", "*", rendering.etag(message)}:
            raise changed_meanwhile()
        if not message["draft"] and call.body.keys() & _ONLY_OF_DRAFTS:
            raise bad_argument("The property can be set on a draft only.")
        changes = _changed(call.body)
        properties = message["properties"] | changes.pop("properties", {})
        mailbox.store(message | changes | {"properties": properties})
        return self._one(mailbox, stored(mailbox, message), call)

    def _one(self, mailbox: Mailbox, message: Document, call: Call) -> Document:
        names = chosen(call)
        shown = selected(rendering.rendered(mailbox, message, call, names), names)
        context = f"{GRAPH}/v1.0/$metadata#users('{mailbox.account}')/messages/$entity"
        return {"@odata.context": context, **shown, **self._expanded(message, call)}

    def _listed(self, call: Call, folder: str, path: str) -> Document:
        mailbox, names = mailbox_of(self._world, call), chosen(call)
        if (condition := listing.condition_of(call)) is not None and extended.needs_names(condition):
            check_properties(call)
        page, following = listing.page_of(mailbox, folder, call)
        listed: Document = {"@odata.context": f"{GRAPH}/v1.0/$metadata#users('{mailbox.account}')/messages"}
        listed["value"] = [
            selected(rendering.rendered(mailbox, one, call, names), names) | self._expanded(one, call)
            for one in page
        ]
        if following is not None:
            listed["@odata.nextLink"] = next_link(f"{self._world.url}/v1.0{path}", call, "$skip", following)
        return listed

    def _expanded(self, message: Document, call: Call) -> Document:
        text = call.query.get("$expand", "")
        if text:
            check_properties(call)
        return extended.expanded(text, message["properties"])


def mailbox_of(world: World, call: Call) -> Mailbox:
    """Return the mailbox of who asks; a guest has none in the tenant that it is a guest of."""
    if call.issued.account.is_guest(call.issued.tenant):
        raise no_mailbox()
    return world.mailbox(call.account)


def folder_of(mailbox: Mailbox, text: str) -> str:
    folder = mailbox.folder(text)
    if folder is None:
        raise item_not_found() if number_of(text) is not None else malformed_id()
    return folder


def found(mailbox: Mailbox, text: str) -> Document:
    """Return the message of an id, or refuse the id."""
    message = mailbox.found(text)
    if message is None:
        raise item_not_found() if number_of(text) is not None else malformed_id()
    return message


def stored(mailbox: Mailbox, message: Document) -> Document:
    """Return a message as it is now."""
    return mailbox.get(message["number"]) or message


def check_properties(call: Call) -> None:
    """Refuse what Mail.ReadBasic does not show."""
    if not call.issued.scopes & {"Mail.Read", "Mail.ReadWrite"}:
        raise access_denied()


def chosen(call: Call) -> tuple[str, ...]:
    """Return what `$select` names, which the scopes must show."""
    names = call.names("$select")
    check_selected(names, rendering.PROPERTIES, rendering.MESSAGE)
    if rendering.BODY_PROPERTIES & set(names):
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
    quoted = rendering.body_of(original, "html")["content"]
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
    """Return an attachment with all that the vendor says of one."""
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
            case extended.NAME:
                changes["properties"] = extended.given(body)
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
        raise bad_argument(f"Cannot convert the literal '{kind}' to the expected type 'BodyType'.")
    return kind, str(given.get("content") or "")

"""Chats: which there are, and their messages."""

from collections.abc import Sequence

from orrery.sandbox.graph.call import GraphCall, page, refusal
from orrery.sandbox.graph.ids import guid
from orrery.sandbox.graph.mailbox import Mailboxes
from orrery.sandbox.graph.messages import doctored, utc
from orrery.sandbox.graph.seed import first_chats, line
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import ACCOUNTS, GRAPH
from orrery.sandbox.identity.tokens import Issued

_PREVIEW = ("id", "createdDateTime", "messageType", "from", "body", "eventDetail")
_MOST = 50
"""The vendor's limit of `$top`."""


def chats(call: GraphCall) -> Document:
    """List the chats, the one with the newest message first; a guest has none."""
    known = [] if call.is_guests else chats_of(call.world, call.account)
    found = sorted(known, key=lambda one: one["messages"][-1]["at"] if one["messages"] else one["created"])
    return page(call, "chats", found[::-1], lambda one: _shown(one, call.names("$expand"), call.issued), _MOST)


def message(call: GraphCall) -> Document:
    chat_id, message_id = call.ids
    for chat in [] if call.is_guests else chats_of(call.world, call.account):
        for one in chat["messages"]:
            if (chat["id"], one["id"]) == (chat_id, message_id):
                context = f"{GRAPH}/v1.0/$metadata#chats('{chat_id}')/messages/$entity"
                return {"@odata.context": context, **_message(one, chat, call.issued)}
    raise refusal("not_found", "The message does not exist, or the caller is no member of the chat.")


def chats_of(world: Mailboxes, account: str) -> list[Document]:
    return world.kept("chats", account, lambda: first_chats(account, world.mailbox(account).opened))


def write(world: Mailboxes, account: str, chat: str, text: str, sender: str, **more: Document) -> str:
    """Add a message to a chat that is named by its id or topic; the last one is the newest. Return its id."""
    known = chats_of(world, account)
    [found] = [one for one in known if chat in {one["id"], one["topic"]}] or known[:1]
    at = world.ground.clock.now().timestamp()
    written: Document = line(sender, text, at, len(found["messages"])) | more
    found["messages"].append(written)
    return written["id"]


def _shown(chat: Document, wanted: Sequence[str], issued: Issued) -> Document:
    tenant = issued.tenant
    shown: Document = {
        "id": chat["id"],
        "topic": chat["topic"],
        "createdDateTime": utc(chat["created"]),
        "lastUpdatedDateTime": utc(chat["created"]),
        "chatType": chat["type"],
        "webUrl": f"https://teams.example/l/chat/{chat['id']}/0?tenantId={tenant}",
        "tenantId": tenant,
        "onlineMeetingInfo": None,
        "viewpoint": {"isHidden": False, "lastMessageReadDateTime": utc(chat["created"])},
    }
    if "members" in wanted:
        shown["members"] = [_member(one, issued) for one in chat["members"]]
    if "lastMessagePreview" in wanted:
        last = _message(chat["messages"][-1], chat, issued) if chat["messages"] else None
        preview = None if last is None else {name: last[name] for name in _PREVIEW if name in last}
        shown["lastMessagePreview"] = None if preview is None else preview | {"isDeleted": False}
    return shown


def _member(person: Sequence[str | None], issued: Issued) -> Document:
    name, address = person
    return {
        "@odata.type": "#microsoft.graph.aadUserConversationMember",
        "id": guid("member", name, address),
        "roles": ["owner"],
        "displayName": name,
        "visibleHistoryStartDateTime": "0001-01-01T00:00:00Z",
        "userId": _user_id(person, issued),
        "email": address,
        "tenantId": issued.tenant,
    }


def _user_id(person: Sequence[str | None], issued: Issued) -> str:
    """Return a person's id: of an account that can sign in, the one that it has in the tenant, or at home."""
    name, address = person
    account = ACCOUNTS.get(address or "")
    if account is None:
        return guid("user", address or name)
    return account.object_ids.get(issued.tenant, account.object_ids[account.home])


def _message(message: Document, chat: Document, issued: Issued) -> Document:
    is_system = message["from"] is None
    shown: Document = {
        "id": message["id"],
        "replyToId": None,
        "etag": message["id"],
        "messageType": "systemEventMessage" if is_system else "message",
        "createdDateTime": utc(message["at"]),
        "lastModifiedDateTime": utc(message["at"]),
        "lastEditedDateTime": None,
        "deletedDateTime": None,
        "subject": None,
        "summary": None,
        "importance": "normal",
        "locale": "en-us",
        "webUrl": None,
        "from": None if is_system else _sender(message["from"], chat, issued),
        "body": {"contentType": "html", "content": "<systemEventMessage/>" if is_system else message["text"]},
        "attachments": [],
        "mentions": [],
        "reactions": [],
    }
    if is_system:
        shown["eventDetail"] = {"@odata.type": "#microsoft.graph.callEndedEventMessageDetail"}
    return doctored(shown, message)


def _sender(name: str, chat: Document, issued: Issued) -> Document:
    """Return the sender: a member of the chat, another person, or an application, by its name."""
    person = next((one for one in chat["members"] if name in one), (name, None))
    identity = {"id": _user_id(person, issued), "displayName": person[0]}
    if name.endswith("(app)"):
        bot = {**identity, "@odata.type": "#microsoft.graph.teamworkApplicationIdentity"}
        return {"application": bot, "device": None, "user": None}
    user = {**identity, "@odata.type": "#microsoft.graph.teamworkUserIdentity", "userIdentityType": "aadUser"}
    return {"application": None, "device": None, "user": user}

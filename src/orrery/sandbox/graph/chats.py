"""Chats: which there are, and their messages."""

from collections.abc import Sequence

from orrery.sandbox.graph.call import GraphCall, guid, next_link, refusal
from orrery.sandbox.graph.mailbox import CHATS, Mailboxes
from orrery.sandbox.graph.messages import doctored, utc
from orrery.sandbox.graph.seed import first_chats
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import ACCOUNTS, GRAPH
from orrery.sandbox.identity.tokens import Issued

_PREVIEW = ("id", "createdDateTime", "messageType", "from", "body", "eventDetail")


class Chats:
    """The calls about chats. An account's chats are kept as one document."""

    def __init__(self, world: Mailboxes) -> None:
        self._world = world

    def chats(self, call: GraphCall) -> Document:
        """List the chats, the one with the newest message first."""
        wanted = call.names("$expand")
        chats = sorted(self.known(call.account, call), key=_newest, reverse=True)
        shown = [_shown(one, wanted, call.issued) for one in chats]
        return self._page(shown, call, "/me/chats", "chats")

    def message(self, call: GraphCall) -> Document:
        chat = self._chat(call)
        for one in chat["messages"]:
            if one["id"] == call.ids[1]:
                context = f"{GRAPH}/v1.0/$metadata#chats('{call.ids[0]}')/messages/$entity"
                return {"@odata.context": context, **_message(one, chat, call.issued)}
        raise refusal("not_found", "The message does not exist.")

    def known(self, account: str, call: GraphCall | None = None) -> list[Document]:
        """Return the chats of an account, which a guest has none of."""
        if call is not None and call.issued.account.is_guest(call.issued.tenant):
            return []
        kept = self._world.ground.state.get(CHATS, account)
        return kept["chats"] if kept is not None else self._opened(account)

    def write(self, account: str, chat: str, text: str, sender: str, **more: Document) -> str:
        """Add a message to a chat that is named by its id or topic; the last one is the newest."""
        chats = self.known(account)
        [found] = [one for one in chats if chat in {one["id"], one["topic"]}] or chats[:1]
        now = self._world.ground.clock.now().timestamp()
        number = str(int(now * 1000) + len(found["messages"]))
        message: Document = {"id": number, "at": now, "from": sender, "text": text, "set": {}, "drop": []}
        found["messages"].append(message | more)
        self._save(account, chats)
        return number

    def _opened(self, account: str) -> list[Document]:
        chats = first_chats(account, self._world.mailbox(account).about["opened"])
        self._save(account, chats)
        return chats

    def _save(self, account: str, chats: list[Document]) -> None:
        self._world.ground.state.save({"object": CHATS, "id": account, "chats": chats})

    def _chat(self, call: GraphCall) -> Document:
        for one in self.known(call.account, call):
            if one["id"] == call.ids[0]:
                return one
        raise refusal("not_found", "The chat does not exist, or the caller is not a member of it.")

    def _page(self, shown: Sequence[Document], call: GraphCall, path: str, name: str) -> Document:
        top = _top(call)
        skip = int(call.query.get("$skiptoken", "0"))
        page: Document = {
            "@odata.context": f"{GRAPH}/v1.0/$metadata#{name}",
            "@odata.count": len(shown[skip : skip + top]),
            "value": shown[skip : skip + top],
        }
        if skip + top < len(shown):
            page["@odata.nextLink"] = next_link(f"{self._world.url}/v1.0{path}", call, "$skiptoken", skip + top)
        return page


def _top(call: GraphCall) -> int:
    text = call.query.get("$top", "20")
    if not text.isdecimal() or not 1 <= int(text) <= 50:  # noqa: PLR2004  the vendor's limit
        raise refusal("bad_request", f"Invalid page size specified: '{text}'. Must be between 1 and 50 inclusive.")
    return int(text)


def _newest(chat: Document) -> float:
    return chat["messages"][-1]["at"] if chat["messages"] else chat["created"]


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

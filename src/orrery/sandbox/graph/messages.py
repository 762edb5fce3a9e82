"""Messages as the vendor shows them, and the pages of a folder that a query asks for."""

import html
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from orrery.sandbox.graph.call import GraphCall, digest, guid, item_id, refusal
from orrery.sandbox.graph.mailbox import Mailbox
from orrery.sandbox.graph.query import Condition, Getter, parsed_filter, value_at
from orrery.sandbox.ground import Document

MESSAGE = "Microsoft.OutlookServices.Message"
BODY_PROPERTIES = frozenset({"body", "bodyPreview", "uniqueBody"})
"""What Mail.ReadBasic does not show."""

MESSAGE_PROPERTIES = frozenset(
    {
        "bccRecipients",
        "body",
        "bodyPreview",
        "categories",
        "ccRecipients",
        "changeKey",
        "conversationId",
        "conversationIndex",
        "createdDateTime",
        "flag",
        "from",
        "hasAttachments",
        "importance",
        "inferenceClassification",
        "internetMessageHeaders",
        "internetMessageId",
        "isDeliveryReceiptRequested",
        "isDraft",
        "isRead",
        "isReadReceiptRequested",
        "lastModifiedDateTime",
        "parentFolderId",
        "receivedDateTime",
        "replyTo",
        "sender",
        "sentDateTime",
        "subject",
        "toRecipients",
        "uniqueBody",
        "webLink",
    }
)
"""What `$select` may name."""

HEADERS = "internetMessageHeaders"
_PREVIEW = 255
_TAG = re.compile(r"<(?:style|script).*?</(?:style|script)>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def utc(seconds: float) -> str:
    """Return a Unix time as the vendor writes it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def recipient(person: tuple[str, str]) -> Document:
    name, address = person
    return {"emailAddress": {"name": name, "address": address}}


def etag(message: Document) -> str:
    return f'W/"{change_key(message)}"'


def change_key(message: Document) -> str:
    return digest("change", message["number"], message["version"])


def plain(markup: str) -> str:
    """Return the text of a mark-up, roughly."""
    return html.unescape(_TAG.sub("", re.sub(r"(?i)<(?:br|/p|/div)[^>]*>", "\r\n", markup))).strip()


def body_of(message: Document, wanted: str) -> Document:
    """Return the body, as text or mark-up if one of them is wanted."""
    kind, content = message["body"]
    if wanted == "text" and kind == "html":
        kind, content = "text", plain(content)
    elif wanted == "html" and kind == "text":
        kind, content = "html", f"<html><body><pre>{html.escape(content)}</pre></body></html>"
    return {"contentType": kind, "content": content}


def rendered(mailbox: Mailbox, message: Document, call: GraphCall, names: Sequence[str] = ()) -> Document:
    """Return a message with all its properties, but for those that a lever dropped or changed.

    The headers are there only when `names` asks for them, and never in a draft: it was not sent.
    """
    shown = _head(mailbox, message, call) | _people(message) | _text(message, call)
    if HEADERS in names and not message["draft"]:
        held = {
            "Message-ID": shown["internetMessageId"],
            "Subject": message["subject"],
            **message.get("headers", {}),
        }
        shown[HEADERS] = [{"name": name, "value": value} for name, value in held.items()]
    return doctored(shown, message)


def doctored(shown: Document, stored: Document) -> Document:
    """Return what is shown with the changes that a lever asked for."""
    return {name: value for name, value in shown.items() if name not in stored["drop"]} | stored["set"]


def _head(mailbox: Mailbox, message: Document, call: GraphCall) -> Document:
    shown = mailbox.id_of(message, immutable=call.immutable)
    received = utc(message["received"])
    return {
        "@odata.etag": etag(message),
        "id": shown,
        "createdDateTime": received,
        "lastModifiedDateTime": utc(message["modified"]),
        "changeKey": change_key(message),
        "categories": [],
        "receivedDateTime": received,
        "sentDateTime": received,
        "hasAttachments": any(not one.get("isInline") for one in message.get("attachments", ())),
        "internetMessageId": f"<{guid(mailbox.account, message['number'])}@mail.example>",
        "importance": message["importance"],
        "parentFolderId": mailbox.folder_id(message["folder"]),
        "conversationId": item_id(f"conversation {message['conversation']}", 0, 0, immutable=False),
        "conversationIndex": "AQHc",
        "isDeliveryReceiptRequested": None if message["draft"] else False,
        "isReadReceiptRequested": False,
        "isRead": message["read"],
        "isDraft": message["draft"],
        "webLink": f"https://outlook.example/owa/?ItemID={shown}&exvsurl=1&viewmodel=ReadMessageItem",
        "inferenceClassification": "focused",
        "flag": {"flagStatus": message.get("flag", "notFlagged")},
    }


def _people(message: Document) -> Document:
    sender: Any = None if message["from"] is None else recipient(message["from"])
    return {
        "sender": sender,
        "from": sender,
        "toRecipients": [recipient(one) for one in message["to"]],
        "ccRecipients": [recipient(one) for one in message.get("cc", ())],
        "bccRecipients": [],
        "replyTo": [recipient(one) for one in message.get("reply_to", ())],
    }


def _text(message: Document, call: GraphCall) -> Document:
    kind, content = message["body"]
    preview = plain(content[:20_000]) if kind == "html" else content
    shown: Document = {"subject": message["subject"]}
    if call.issued.scopes & {"Mail.Read", "Mail.ReadWrite"}:
        shown["bodyPreview"] = preview[:_PREVIEW]
        shown["body"] = body_of(message, call.preferences.get("outlook.body-content-type", ""))
    return shown


RECEIVED = "receivedDateTime"
_EXTENDED = "singleValueExtendedProperties"

_STORED: dict[str, Callable[[Document], object]] = {
    RECEIVED: lambda message: utc(message["received"]),
    "isRead": lambda message: message["read"],
    "isDraft": lambda message: message["draft"],
    "subject": lambda message: message["subject"],
    "importance": lambda message: message["importance"],
    _EXTENDED: lambda message: [{"id": name, "value": value} for name, value in message["properties"].items()],
}
"""What a filter reads without showing the whole message: a mailbox may have 50,000."""


def page_of(mailbox: Mailbox, folder: str, call: GraphCall) -> tuple[list[Document], int | None]:
    """Return a page of a folder, newest first, and where the next one begins if there is one."""
    top, skip = call.number("$top", 10, 1, 1000), call.number("$skip", 0, 0, 1 << 31)
    page = list(islice(_found(mailbox, folder, call), skip, skip + top + 1))
    return page[:top], skip + top if len(page) > top else None


def condition_of(call: GraphCall) -> Condition | None:
    """Return the filter of a query, which must begin with the property that it is sorted by, if it is."""
    text, order = call.query.get("$filter", ""), call.query.get("$orderby", "").lower()
    if order not in {"", "receiveddatetime desc"}:
        raise refusal("bad_query", f"The sandbox does not sort by '{order}'.")
    condition = parsed_filter(text) if text else None
    if condition is not None and order and condition.paths()[0] != RECEIVED:
        raise refusal("inefficient")
    return condition


def _found(mailbox: Mailbox, folder: str, call: GraphCall) -> Iterable[Document]:
    condition = condition_of(call)
    since, until = (None, None) if condition is None else _bounds(condition)
    numbers = mailbox.numbers(folder, since=since, until=until)
    messages: Iterable[Document] = (one for number in numbers if (one := mailbox.get(number)) is not None)
    if condition is None:
        return messages
    return (one for one in messages if condition.holds(_getter(mailbox, one, call)))


def _bounds(condition: Condition) -> tuple[int | None, int | None]:
    """Return the times between which a message must have been received, as far as the filter bounds them."""
    since: int | None = None
    until: int | None = None
    for one in condition.comparisons if condition.word == "and" else ():
        if one.path == RECEIVED and isinstance(one.value, str):
            seconds = seconds_of(one.value)
            if one.operator in {"ge", "gt", "eq"}:
                since = seconds if since is None else max(since, seconds)
            if one.operator in {"le", "lt", "eq"}:
                until = seconds if until is None else min(until, seconds)
    return since, until


def seconds_of(time: str) -> int:
    """Return the Unix time of a time in a filter."""
    return int(datetime.fromisoformat(time).timestamp())


def _getter(mailbox: Mailbox, message: Document, call: GraphCall) -> Getter:
    def get(path: str) -> Any:  # noqa: ANN401  whatever the property is
        if path in _STORED:
            return _STORED[path](message)
        if path.partition("/")[0] not in MESSAGE_PROPERTIES:
            raise refusal("bad_query", f"Could not find a property named '{path}' on type '{MESSAGE}'.")
        return value_at(rendered(mailbox, message, call), path)

    return get

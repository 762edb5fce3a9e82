"""Messages as the vendor shows them, and the pages of a folder that a query asks for."""

import html
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from orrery.sandbox.graph.call import Filter, GraphCall
from orrery.sandbox.graph.ids import digest, guid, item_id
from orrery.sandbox.graph.mailbox import Mailbox
from orrery.sandbox.ground import Document

BODY_PROPERTIES = frozenset({"body", "bodyPreview", "uniqueBody"})
"""What Mail.ReadBasic does not show."""

HEADERS = "internetMessageHeaders"
_PREVIEW = 255
_TAG = re.compile(r"<(?:style|script).*?</(?:style|script)>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def utc(seconds: float) -> str:
    """Return a Unix time as the vendor writes it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def recipient(person: tuple[str, str]) -> Document:
    name, address = person
    return {"emailAddress": {"name": name, "address": address}}


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
        "@odata.etag": f'W/"{change_key(message)}"',
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
        "conversationId": conversation_id(message),
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
    if call.may("Mail.Read", "Mail.ReadWrite"):
        shown["bodyPreview"] = preview[:_PREVIEW]
        shown["body"] = body_of(message, call.preferences.get("outlook.body-content-type", ""))
    return shown


def found_in(mailbox: Mailbox, folder: str, wanted: Filter) -> list[Document]:
    """Return the messages of a folder that a filter asks for, newest first."""
    found = mailbox.messages(folder, since=wanted.since, until=wanted.until)
    if wanted.mark is not None:
        name, value = wanted.mark
        return [one for one in found if one["properties"].get(name) == value]
    return [one for one in found if wanted.conversation in {"", conversation_id(one)}]


def conversation_id(message: Document) -> str:
    return item_id(f"conversation {message['conversation']}", 0, 0, immutable=False)

"""A message's mark-up as text that a page may show."""

import re

from selectolax.lexbor import LexborHTMLParser

from orrery.ports.comms.mailboxes import MessageBody

MOST_CHARACTERS = 2_000_000
"""Characters of a message that are read."""

TOO_LONG = "[Cut here: the message is longer than 2 MB.]"
NO_TEXT = "[No text: this message has only images or layout.]"

_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def plain_text(body: MessageBody) -> str:
    """Return the text of a body, which is never empty when the body was not."""
    source = body.content[:MOST_CHARACTERS].encode("utf-8", "replace").decode()
    text = source
    if body.media_type == "text/html":
        root = LexborHTMLParser(source).body
        text = root.text(separator="\n", strip=True) if root else ""
    text = _FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if len(body.content) > MOST_CHARACTERS:
        text = f"{text}\n\n{TOO_LONG}"
    return text or (NO_TEXT if body.content else "")

"""A message's mark-up as text: pure, linear in the size of the message, and never empty without saying why.

Nothing that the mark-up names is ever fetched.
"""

from selectolax.lexbor import LexborHTMLParser

from orrery.cockpit.plain_text.bounds import UNFINISHED, bounded
from orrery.cockpit.plain_text.characters import cleaned, has_visible, well_formed
from orrery.cockpit.plain_text.layout import laid_out
from orrery.ports.comms.mailboxes import MessageBody

MOST_CHARACTERS = 2_000_000
"""Characters of a message that are read. Source: one of 5 MB is to take less than 1 s (spec 3, Limits)."""

MOST_SHOWN = 500_000
"""Characters of a text: a hundred of them are kept in memory. A novel has as many."""

TOO_MUCH = "[Cut here: the text is longer than 500,000 characters.]"
TOO_LONG = "[Cut here: the message is longer than 2 MB.]"
NO_TEXT = "[No text: this message has only images or layout.]"
EMPTY = "[No text: this message is empty.]"


def plain_text(body: MessageBody) -> str:
    """Return the text of a body. What is missing at its end is named in its last line; it is never empty."""
    source = well_formed(body.content[:MOST_CHARACTERS])
    is_html = body.media_type == "text/html"
    text, cut = _from_html(source) if is_html else (source, "")
    if max(len(body.content), len(text)) > MOST_CHARACTERS:
        cut = TOO_LONG if cut in {"", UNFINISHED} else cut
    shown = cleaned(text[:MOST_CHARACTERS])
    if len(shown) > MOST_SHOWN:
        shown, cut = shown[:MOST_SHOWN], cut or TOO_MUCH
    if not has_visible(shown):
        shown = NO_TEXT if is_html and has_visible(source) else EMPTY
    return f"{shown}\n\n{cut}" if cut else shown


def _from_html(source: str) -> tuple[str, str]:
    """Return the text and, where the mark-up is cut, the line that says so."""
    found = bounded(source)
    root = LexborHTMLParser(found.html).body
    return laid_out(root) if root else "", found.cut

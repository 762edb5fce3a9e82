"""A message's mark-up as text: pure, linear in the size of the message, and never empty without a reason.

Nothing that the mark-up names is ever fetched.
"""

from collections.abc import Iterator
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser

from orrery.cockpit.plain_text.bounds import UNFINISHED, Bounded, bounded
from orrery.cockpit.plain_text.characters import cleaned, has_visible, well_formed
from orrery.cockpit.plain_text.layout import laid_out
from orrery.cockpit.plain_text.named import (
    TROUBLES,
    attachments_of,
    invitation_lines,
    protections_of,
    without_armour,
)
from orrery.ports.comms.mailboxes import MessageBody

MOST_CHARACTERS = 2_000_000
"""Characters of a message that are read. Source: one of 5 MB is to take less than 1 s (spec 3, Limits)."""

MOST_SHOWN = 500_000
"""Characters of a text: a hundred of them are kept in memory. A novel has as many."""

TOO_MUCH = "[Cut here: the text is longer than 500,000 characters.]"
TOO_LONG = "[Cut here: the message is longer than 2 MB.]"
NO_TEXT = "[No text: this message has only images or layout.]"
SUSPECTED = "[Some of this text may be hidden elsewhere: the message has a style sheet that hides parts of it.]"
EMPTY = "[No text: this message is empty.]"


def plain_text(body: MessageBody) -> str:
    """Return the text of a body, below the lines that name what else it has; it is never empty.

    What is missing at its end is named in its last lines.
    """
    source = well_formed(body.content[:MOST_CHARACTERS])
    is_html = body.media_type == "text/html"
    found = _from_html(source) if is_html else Bounded(source, "")
    text, cut = found.html, found.cut
    if max(len(body.content), len(text)) > MOST_CHARACTERS:
        cut = TOO_LONG if cut in {"", UNFINISHED} else cut
    shown = cleaned(text[:MOST_CHARACTERS])
    protections = protections_of(body, shown)
    if protections:
        shown = cleaned(without_armour(shown))
    if len(shown) > MOST_SHOWN:
        shown, cut = shown[:MOST_SHOWN], cut or TOO_MUCH
    above = [*protections, *invitation_lines(body.invitation), *attachments_of(body)]
    below = [*_hidden(found), *(TROUBLES[one] for one in body.troubles), *filter(None, [cut])]
    if not has_visible(shown):
        is_layout = is_html and has_visible(source)
        shown = "" if above or below[: len(below) - bool(cut)] else NO_TEXT if is_layout else EMPTY
    return "\n\n".join(filter(None, ["\n".join(above), shown.strip("\n"), "\n".join(below)]))


def _from_html(source: str) -> Bounded:
    """Return the text, in the place of its mark-up."""
    found = bounded(source)
    root = LexborHTMLParser(found.html).body
    return replace(found, html=laid_out(root) if root else "")


def _hidden(found: Bounded) -> Iterator[str]:
    if found.preheader:
        yield f"[The mail begins with a hidden preview of {_characters(found.preheader)}, as newsletters do.]"
    if found.hidden:
        yield f"[Not shown: {_characters(found.hidden)} that the sender's style hides.]"
    if found.is_suspected and has_visible(found.html):
        yield SUSPECTED


def _characters(count: int) -> str:
    return "1 character" if count == 1 else f"{count:,} characters"

"""Mark-up made safe to parse, in one linear pass: shallow, closed in order, and of few tags and attributes.

The parser's time grows with the square of the depth and of an element's attributes, and mis-nested formatting
makes a tree of a product. So it is given block elements, links and images only, with the attributes that become
text. All else in a message, and what is hidden in it, ends here.
"""

import re
from dataclasses import dataclass, field
from html import unescape

from orrery.cockpit.plain_text.hiding import MAY_HIDE, NOTHING, ElementStyle, Hiding, sheet_hides, style_of

DEEPEST = 256
"""Elements open at a time. Source: half of what Chromium allows; a long thread of replies has about 100."""

MOST_TAGS = 100_000
"""Tags and comments that are read. Source: a mail of 2 MB has about 50,000; these take less than 1 s."""

TOO_DEEP = "[Cut here: it is nested too deeply.]"
TOO_MANY = "[Cut here: it has too many tags.]"
UNFINISHED = "[Cut here: its mark-up stops in the middle of a tag or a comment.]"

_TAG = re.compile(
    r"""<(/?)([a-zA-Z][^\s/>]*+)
    ((?>[^>=]++|=\s*+(?>"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+)(>|\Z)
    |<(?:!--|[!?/])""",
    re.VERBOSE,
)
_COMMENT_END = re.compile("--!?>")
_ATTRIBUTE = re.compile(
    r"""([^\s=/>][^\s=/>]*+)(?:\s*+=\s*+(?:"([^"]*+)(?:"|\Z)|'([^']*+)(?:'|\Z)|([^\s>]*+)))?+""",
)
_SHEET = re.compile(r"<style|<link\b|\bbackground\s*=", re.IGNORECASE)
_VOID = frozenset({"area", "base", "basefont", "bgsound", "col", "embed", "input", "link", "meta", "param", "wbr"})
"""Elements that have no end, besides those that become text."""

_CELLS = ("td", "th")
_ROWS = (*_CELLS, "tr")
_STRUCTURE = ("table", *_CELLS)
_LISTS = ("ul", "ol", "dl", "menu", "dir")
_ITEMS = ("li", "dt", "dd")
_OTHER_BLOCKS = """
address article aside blockquote caption center details dialog div fieldset figcaption figure footer form
h1 h2 h3 h4 h5 h6 header hgroup legend main nav noscript option p pre section summary template
"""
_BLOCKS = frozenset(_OTHER_BLOCKS.split()).union(_ROWS, _STRUCTURE, _LISTS, _ITEMS)
_EMPTY = frozenset({"br", "hr", "img"})
_UNSEEN = frozenset({"template", "noscript"})
_DROPPED_TEXT = frozenset({"script", "style", "title", "iframe", "noembed", "noframes"})
_SHOWN_TEXT = frozenset({"textarea", "xmp", "plaintext"})

_STOPS = {
    **dict.fromkeys(_ROWS, ("table",)),
    **dict.fromkeys((*_ITEMS, "p"), _STRUCTURE + _LISTS),
    "table": (),
}
"""What an end does not reach out of: an end of `div` in a cell is not that of a `div` around the table."""

_CLOSED_BY = {
    "li": ("li",),
    "dt": ("dt", "dd"),
    "dd": ("dt", "dd"),
    "tr": ("tr",),
    "td": ("td", "th"),
    "th": ("td", "th"),
    "option": ("option",),
    "a": ("a",),
}
"""Whose end the start of an element implies. Every block implies that of a paragraph."""

_KEPT = {"a": "href", "img": "alt", "ol": "start"}
_STYLING = ("hidden", "style", "bgcolor", "color")


@dataclass(frozen=True, slots=True)
class Bounded:
    """Mark-up to parse; `cut` is the line with the reason why its end is missing, or empty.

    `hidden` counts the characters that the sender's style hides, `preheader` those of a hidden beginning.
    `is_suspected`: a style sheet would hide some of what is there.
    """

    html: str
    cut: str
    hidden: int = 0
    preheader: int = 0
    is_suspected: bool = False


class _Cut(Exception):
    """The rest is not read; its text is the line that reports it."""


def bounded(source: str) -> Bounded:
    """Return the part of a document that becomes text."""
    bounds = _Bounds(source)
    cut = ""
    try:
        bounds.read()
    except _Cut as reached:
        cut = str(reached)
    bounds.hiding.close()
    hiding = bounds.hiding
    return Bounded("".join(bounds.out), cut, hiding.hidden, hiding.preheader, hiding.is_suspected)


@dataclass(slots=True)
class _Bounds:
    """A pass over one document. `open` holds the names of the open elements, `places` where each is in it."""

    source: str
    out: list[str] = field(default_factory=list[str])
    open: list[str] = field(default_factory=list[str])
    places: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _BLOCKS | {"a", "span"}})
    hidden_at: int = 0
    hidden_inline: str = ""
    hidden_level: int = 0
    is_unseen: bool = False
    hiding: Hiding = field(init=False)

    def __post_init__(self) -> None:
        self.hiding = Hiding(has_sheet=_SHEET.search(self.source) is not None)

    def read(self) -> None:
        source, at = self.source, 0
        for left in range(MOST_TAGS, -1, -1):
            found = _TAG.search(source, at)
            self._text(source[at : found.start() if found else None])
            if found is None:
                return
            if not left:
                raise _Cut(TOO_MANY)
            at = self._tag(found) if found[2] else self._comment(found)

    def _text(self, text: str) -> None:
        if self.hidden_at or self.hiding.hides:
            if not self.is_unseen and text:
                self.hiding.hid(unescape(text))
            return
        self.hiding.saw(text)
        self.out.append(text.replace("<", "&lt;"))  # two pieces must not make a tag

    def _comment(self, found: re.Match[str]) -> int:
        source, at = self.source, found.end()
        if found[0] != "<!--":
            end = source.find(">", at) + 1
        elif source.startswith((">", "->"), at):
            end = source.index(">", at) + 1
        else:
            close = _COMMENT_END.search(source, at)
            end = close.end() if close else 0
        if not end:
            raise _Cut(UNFINISHED)
        return end

    def _tag(self, found: re.Match[str]) -> int:
        end, name, attributes, close = found.groups()
        if not close:
            raise _Cut(UNFINISHED)
        name = name.lower()
        if end:
            self._end(name)
        elif name in _DROPPED_TEXT or name in _SHOWN_TEXT:
            return self._raw(name, found.end())
        else:
            self._start(name, attributes)
        return found.end()

    def _raw(self, name: str, at: int) -> int:
        """Pass over an element whose content is not mark-up; return where it ends."""
        end = (
            None
            if name == "plaintext"
            else re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(self.source, at)
        )
        if name == "style":
            self.hiding.is_suspected |= sheet_hides(self.source[at : end.start() if end else None])
        if name in _SHOWN_TEXT:
            self._text(self.source[at : end.start() if end else None])
        elif end is None:
            raise _Cut(UNFINISHED)
        return end.start() if end else len(self.source)

    def _start(self, name: str, written: str) -> None:
        attributes = _attributes(name, written)
        style = _style(attributes)
        hidden = name in _UNSEEN or (attributes is not None and ("hidden" in attributes or style.is_gone))
        if name in _EMPTY:
            if name == "hr":
                self._imply(name)
            if not hidden and not self.hidden_at and not (self.hiding.hides and name == "img"):
                self.out.append(_opened(name, attributes))
        elif name in _ROWS and not self.places["table"]:
            self.out.append(" " if name in _CELLS else "<br>")
        elif name in self.places and name != "span":
            self._imply(name)
            self._open(name, attributes)
            if hidden and not self.hidden_at:
                self.hidden_at, self.is_unseen = len(self.open), name in _UNSEEN
            if style is not NOTHING:
                self.hiding.enter(name, len(self.open), style, is_block=True)
        elif name not in _VOID:
            self._inline(name, style, hidden=hidden)

    def _inline(self, name: str, style: ElementStyle, *, hidden: bool) -> None:
        """Leave the element out; what it hides stays hidden until it ends, or the block that it is in."""
        if style is not NOTHING:
            self.hiding.enter(name, len(self.open), style, is_block=False)
        else:
            self.hiding.again(name)
        if hidden and not self.hidden_at:
            self._open("span", None)
            self.hidden_at, self.hidden_inline, self.hidden_level = len(self.open), name, 1
        elif name == self.hidden_inline:
            self.hidden_level += 1

    def _imply(self, name: str) -> None:
        if name != "a":
            self._close("p")
        for one in _CLOSED_BY.get(name, ()):
            self._close(one)

    def _open(self, name: str, attributes: dict[str, str] | None) -> None:
        if len(self.open) == DEEPEST:
            raise _Cut(TOO_DEEP)
        if not self.hidden_at:
            self.out.append(_opened(name, attributes))
        self.places[name].append(len(self.open))
        self.open.append(name)

    def _end(self, name: str) -> None:
        self.hiding.end(name)
        if name == self.hidden_inline:
            self.hidden_level -= 1
            if not self.hidden_level:
                self._close_to(self.hidden_at - 1)
        elif name in self.places and name != "span":
            self._close(name)
        elif name == "br":
            self._start(name, "")

    def _close(self, name: str) -> None:
        """End the innermost `name` and all that is open in it, unless what it is in keeps it out of reach."""
        if not (places := self.places[name]):
            return
        for stop in _STOPS.get(name, _STRUCTURE):
            if (found := self.places[stop]) and found[-1] > places[-1]:
                return
        self._close_to(places[-1])

    def _close_to(self, depth: int) -> None:
        while len(self.open) > depth:
            if self.hidden_at in {0, len(self.open)}:
                self.hidden_at, self.hidden_inline, self.hidden_level = 0, "", 0
                self.is_unseen = False
                self.out.append(f"</{self.open[-1]}>")
            _ = self.places[self.open.pop()].pop()
        self.hiding.leave(depth)


def _attributes(name: str, written: str) -> dict[str, str] | None:
    """Return the attributes that matter here, decoded; None when nothing there can matter."""
    if name not in _KEPT and not MAY_HIDE.search(written):
        return None
    wanted = {_KEPT.get(name, ""), *_STYLING}
    found: dict[str, str] = {}
    for key, *values in _ATTRIBUTE.findall(written):
        lowered = key.lower()
        if lowered in wanted:
            _ = found.setdefault(lowered, unescape("".join(values)))
    return found


def _style(attributes: dict[str, str] | None) -> ElementStyle:
    if not attributes:
        return NOTHING
    return style_of(*(attributes.get(name, "") for name in ("style", "bgcolor", "color")))


def _opened(name: str, attributes: dict[str, str] | None) -> str:
    key = _KEPT.get(name)
    if key is None or not attributes or key not in attributes:
        return f"<{name}>"
    value = attributes[key].replace("&", "&amp;").replace('"', "&quot;")
    return f'<{name} {key}="{value}">'

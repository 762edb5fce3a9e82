"""The lines of a parsed document: blocks apart, quotes marked, a table's row on a line."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

DEEPEST_PREFIX = 8
"""Quotes and lists in one another that are shown: deeper ones look like these, so that lines stay short."""

QUOTE = "> "
BETWEEN_CELLS = " | "
RULE = "-" * 20

_SPACES = re.compile(r"[^\S\x1c-\x1f\x85]+")
_ADDRESS = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_IDLE = re.compile(r"^(?:https?://|mailto:)|/$", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,6}")

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_APART = frozenset({"p", "blockquote", "pre", "table", "figure", "fieldset"}) | _HEADINGS | _LISTS
_INLINE = frozenset({"a", "span"})


@dataclass(slots=True)
class _Lines:
    """The lines of a document or of a cell, each a prefix and a text, and the line that is being written."""

    done: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    current: list[str] = field(default_factory=list[str])
    gap: int = 0
    """1 when the next text starts a line, 2 when a blank line goes before it."""


@dataclass(slots=True)
class _Link:
    address: str
    label: list[str] = field(default_factory=list[str])


class _Layout:
    """What is written so far, and where: in which quotes, lists, cells and links."""

    def __init__(self) -> None:
        self.lines = _Lines()
        self._outer: list[_Lines] = []
        self._rows: list[list[_Lines]] = []
        self._prefix: list[str] = []
        self._not_shown = 0
        self._numbers: list[int | None] = []
        self._links: list[_Link] = []
        self._pre = 0
        self._on_start: dict[str, Callable[[LexborNode], None]] = {
            "br": self._break,
            "hr": self._rule,
            "img": self._image,
            "a": self._link,
            "pre": self._open_pre,
            "blockquote": self._open_quote,
            "ol": self._open_list,
            "ul": self._open_list,
            "li": self._open_item,
            "tr": self._open_row,
            "td": self._open_cell,
            "th": self._open_cell,
        }
        self._on_end: dict[str, Callable[[], None]] = {
            "a": self._end_link,
            "pre": self._close_pre,
            "blockquote": self._close_prefix,
            "ol": self._close_list,
            "ul": self._close_list,
            "li": self._close_prefix,
            "tr": self._close_row,
            "td": self._close_cell,
            "th": self._close_cell,
        }

    def start(self, name: str, node: LexborNode) -> None:
        self._edge(name)
        if act := self._on_start.get(name):
            act(node)

    def end(self, name: str) -> None:
        if name in {"blockquote", "li", "td", "th"}:
            self._end_line()
        if act := self._on_end.get(name):
            act()
        self._edge(name)

    def text(self, text: str) -> None:
        if self._pre and "\n" in text:
            self._preformatted(text)
        elif self._pre:
            self._add(text)
        else:
            current = self.lines.current
            spaced = _SPACES.sub(" ", text)
            if not current or current[-1].endswith(" "):
                spaced = spaced.lstrip(" ")
            if spaced:
                self._add(spaced)

    def _add(self, text: str) -> None:
        self.lines.current.append(text)
        if self._links:
            self._links[-1].label.append(text)

    def _preformatted(self, text: str) -> None:
        first, _, rest = text.partition("\n")
        middle, newline, last = rest.rpartition("\n")
        self._add(first)
        self._break(None)
        if newline:
            prefix = "".join(self._prefix)
            self._done(prefix, middle.replace("\n", f"\n{prefix}"))
            self.lines.gap = 1
        self._add(last)

    def _edge(self, name: str) -> None:
        if name in {"br", "img"} or name in _INLINE:
            return
        apart = name in _APART and not (self._numbers and name in _LISTS)
        self._end_line()
        self.lines.gap = max(self.lines.gap, 2 if apart else 1)

    def _break(self, _: LexborNode | None) -> None:
        empty = not "".join(self.lines.current).strip()
        self._end_line()
        self.lines.gap = 2 if empty else max(self.lines.gap, 1)

    def _end_line(self) -> None:
        text = "".join(self.lines.current).rstrip()
        self.lines.current.clear()
        if text:
            self._done("".join(self._prefix), text)
            self._prefix = [one if one == QUOTE else " " * len(one) for one in self._prefix]

    def _done(self, prefix: str, text: str) -> None:
        lines = self.lines
        if lines.done and lines.gap > 1:
            lines.done.append((_shared(lines.done[-1][0], prefix), ""))
        lines.done.append((prefix, text))
        lines.gap = 0

    def _rule(self, _: LexborNode) -> None:
        self._add(RULE)
        self._end_line()

    def _image(self, node: LexborNode) -> None:
        if alt := _SPACES.sub(" ", node.attributes.get("alt") or "").strip():
            self._add(f"[image: {alt}]")

    def _link(self, node: LexborNode) -> None:
        self._links.append(_Link(_address(node.attributes.get("href") or "")))

    def _end_link(self) -> None:
        link = self._links.pop()
        label = "".join(link.label).strip()
        if self._links:
            self._links[-1].label += link.label
        if link.address and label and _IDLE.sub("", label) != _IDLE.sub("", link.address):
            self._add(f" ({link.address})" if self.lines.current else f"({link.address})")

    def _open_pre(self, _: LexborNode) -> None:
        self._pre += 1

    def _close_pre(self) -> None:
        self._pre -= 1

    def _open_quote(self, _: LexborNode) -> None:
        self._open_prefix(QUOTE)

    def _open_prefix(self, prefix: str) -> None:
        if len(self._prefix) < DEEPEST_PREFIX:
            self._prefix.append(prefix)
        else:
            self._not_shown += 1

    def _close_prefix(self) -> None:
        if self._not_shown:
            self._not_shown -= 1
        else:
            _ = self._prefix.pop()

    def _open_list(self, node: LexborNode) -> None:
        number = None
        if node.tag == "ol":
            written = _NUMBER.fullmatch(node.attributes.get("start") or "")
            number = int(written[0]) if written else 1
        self._numbers.append(number)

    def _close_list(self) -> None:
        _ = self._numbers.pop()

    def _open_item(self, _: LexborNode) -> None:
        number = self._numbers[-1] if self._numbers else None
        if number is None:
            self._open_prefix("- ")
        else:
            self._numbers[-1] = number + 1
            self._open_prefix(f"{number}. ")

    def _open_row(self, _: LexborNode) -> None:
        self._rows.append([])

    def _open_cell(self, _: LexborNode) -> None:
        self._outer.append(self.lines)
        self.lines = _Lines()

    def _close_cell(self) -> None:
        self._rows[-1].append(self.lines)
        self.lines = self._outer.pop()

    def _close_row(self) -> None:
        """A row of short cells is a line; in one that lays out the message, the cells follow one another."""
        row = self._rows.pop()
        filled = [cell.done for cell in row if cell.done]
        if len(filled) > 1 and all(len(cell) == 1 and "\n" not in cell[0][1] for cell in filled):
            texts = [cell.done[0][1] if cell.done else "" for cell in row]
            while not texts[-1]:
                _ = texts.pop()
            filled = [[(filled[0][0][0], BETWEEN_CELLS.join(texts))]]
        for (prefix, text), *rest in filled:
            self._done(prefix, text)
            self.lines.done += rest
            self.lines.gap = 2
        self.lines.gap = min(self.lines.gap, 1)


def laid_out(root: LexborNode) -> str:
    """Return the text below `root`, walked without recursion."""
    layout = _Layout()
    node, open_nodes = root.first_child, list[tuple[str, LexborNode]]()
    while node is not None or open_nodes:
        if node is None:
            name, node = open_nodes.pop()
            layout.end(name)
            node = node.next
            continue
        name = node.tag or ""
        if name == "-text":
            layout.text(node.text_content or "")
            node = node.next
        elif name[:1] == "-":
            node = node.next
        else:
            layout.start(name, node)
            open_nodes.append((name, node))
            node = node.first_child
    layout.end("")
    return "\n".join(f"{prefix}{text}" for prefix, text in layout.lines.done)


def _shared(one: str, other: str) -> str:
    """Return what two prefixes begin with."""
    length = len(one)
    while not other.startswith(one[:length]):
        length -= 1
    return one[:length]


def _address(href: str) -> str:
    """Return an address that may be shown, or nothing."""
    written = re.sub("[\t\n\r]", "", href).strip().replace(" ", "%20")
    return written if _ADDRESS.match(written) else ""

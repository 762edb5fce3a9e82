"""What a sender's style hides: the declarations of one element, and what those around it leave of them. Pure."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice

from orrery.cockpit.plain_text.characters import has_visible, visible_length

LONGEST_PREHEADER = 300
"""Characters of a hidden beginning that a mail program shows beside the subject: newsletters have one."""

Colour = tuple[int, int, int]

MAY_HIDE = re.compile(
    "hidden|display|visib|font|opacity|colou?r|background|height|width|indent|left|top|clip|transform",
    re.IGNORECASE,
)
"""What an element must have in its attributes to be looked at."""

_DECLARATION = re.compile(r"(?:^|[;{\s])([a-z-]{3,30}+)\s*+:\s*+([^;]{1,200})", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_LONGEST_STYLE = 4000
_RULE = re.compile(r"\{([^{}]{3,4000})")
_MOST_RULES = 2000
_LENGTH = re.compile(r"(-?[0-9]*\.?[0-9]+)\s*(px|pt|em|rem|ex|%|vh|vw|cm|mm|in|)(?![\w.])", re.IGNORECASE)
_HEX = re.compile(r"#([0-9a-f]{3,8})\b", re.IGNORECASE)
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:[\s,/]+([\d.]+%?))?", re.IGNORECASE)
_NO_CLIP = re.compile(r"rect\(\s*(?:0|1px)|inset\(\s*(?:100|50)%", re.IGNORECASE)
_NAMED: dict[str, Colour] = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
}

_TINY = 1.0
"""Pixels or points of a letter that cannot be seen."""

_FAR = 500.0
"""Pixels beyond an edge that are out of sight on every screen."""

_SAME = 12
"""How little two colours may differ in each of red, green and blue, and look the same."""

_RELATIVE = frozenset({"em", "%", "ex"})
_WHITE = _NAMED["white"]


@dataclass(frozen=True, slots=True)
class ElementStyle:
    """The style of one element. `is_gone`: nothing in it is seen; the rest may be taken back further inside."""

    is_gone: bool = False
    is_tiny: bool | None = None
    is_unseen: bool | None = None
    colour: Colour | None = None
    ground: Colour | None = None
    has_picture: bool = False


NOTHING = ElementStyle()
"""Of an element without a style, always this one."""


@lru_cache(maxsize=4096)
def style_of(style: str, ground: str = "", colour: str = "") -> ElementStyle:
    """Return what the attributes `style`, `bgcolor` and `color` of an element hide or show."""
    declared = {
        name.lower(): value.replace("!important", "").strip().lower()
        for name, value in _DECLARATION.findall(_COMMENT.sub(" ", style[:_LONGEST_STYLE]))
    }
    behind = declared.get("background-color") or declared.get("background", ground.lower())
    found = ElementStyle(
        is_gone=_is_gone(declared),
        is_tiny=_is_tiny(declared.get("font-size") or declared.get("font", "")),
        is_unseen={"hidden": True, "collapse": True, "visible": False}.get(declared.get("visibility", "")),
        colour=_colour(declared.get("color", colour.lower())),
        ground=_colour(behind),
        has_picture="url(" in declared.get("background", "") + declared.get("background-image", ""),
    )
    return NOTHING if found == NOTHING else found


def sheet_hides(sheet: str) -> bool:
    """Return whether a rule of a style sheet hides what it is for; its selector is not read."""
    rules = islice(_RULE.finditer(_COMMENT.sub(" ", sheet)), _MOST_RULES)
    styles = (style_of(one[1]) for one in rules if MAY_HIDE.search(one[1]))
    return any(one.is_gone or one.is_tiny or one.is_unseen for one in styles)


def _is_gone(declared: dict[str, str]) -> bool:
    if declared.get("display") == "none" or declared.get("color") == "transparent":
        return True
    if _number(declared.get("opacity", "")) == 0 or "scale(0" in declared.get("transform", ""):
        return True
    if "hidden" in declared.get("overflow", "") and any(
        _number(declared.get(one, "")) == 0 for one in ("height", "max-height", "width", "max-width")
    ):
        return True
    if declared.get("position") in {"absolute", "fixed"} and (
        any((_number(declared.get(one, "")) or 0) <= -_FAR for one in ("left", "top", "right", "bottom"))
        or _NO_CLIP.search(declared.get("clip", "") + declared.get("clip-path", "")) is not None
    ):
        return True
    return any(
        (_number(declared.get(one, "")) or 0) <= -_FAR for one in ("text-indent", "margin-left", "margin-top")
    )


def _number(value: str) -> float | None:
    found = _LENGTH.match(value)
    return float(found[1]) if found else None


def _is_tiny(value: str) -> bool | None:
    """Return whether letters are too small to be seen; None where it is not set, or depends on those around."""
    found = _LENGTH.search(value)
    if found is None:
        return False if value and value[0].isalpha() and "inherit" not in value else None
    size, unit = float(found[1]), found[2].lower()
    if unit in _RELATIVE:
        return True if size == 0 else None
    return size <= _TINY and unit in {"", "px", "pt"}


def _colour(value: str) -> Colour | None:
    if found := _HEX.search(value):
        digits = found[1] if len(found[1]) > 4 else "".join(2 * one for one in found[1])  # noqa: PLR2004  the short forms
        return (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)) if len(digits) >= 6 else None  # noqa: PLR2004  the long forms
    if found := _RGB.search(value):
        red, green, blue, _ = found.groups()
        return int(red), int(green), int(blue)
    return _NAMED.get(value.split(maxsplit=1)[0]) if value else None


@dataclass(slots=True)
class _Layer:
    """An element with a style: its name, how many elements were open in it, and what holds in it.

    `level` counts the elements of its name that are open in it, which are not kept otherwise; of a block it is 0.
    """

    name: str
    depth: int
    level: int
    style: ElementStyle


@dataclass(slots=True)
class Hiding:
    """Where in a document nothing is seen, and how much text is there.

    A style that is in the element itself counts. What only a style sheet hides is shown: which rule of several
    holds for an element is a browser's work, and a mistake would keep a text from its reader.
    `is_suspected`: a sheet hides something.
    """

    has_sheet: bool
    preheader: int = 0
    hidden: int = 0
    is_suspected: bool = False
    _is_begun: bool = False
    _layers: list[_Layer] = field(default_factory=list[_Layer])
    hides: bool = False

    def enter(self, name: str, depth: int, style: ElementStyle, *, is_block: bool) -> None:
        """Begin an element with a style."""
        around = (
            self._layers[-1].style if self._layers else ElementStyle(ground=None if self.has_sheet else _WHITE)
        )
        self._layers.append(_Layer(name, depth, 0 if is_block else 1, _inside(around, style)))
        self._look()

    def again(self, name: str) -> None:
        """Begin an element that is not kept and has no style."""
        if self._layers and self._layers[-1].level and self._layers[-1].name == name:
            self._layers[-1].level += 1

    def end(self, name: str) -> None:
        """End an element that is not kept."""
        if self._layers and self._layers[-1].level and self._layers[-1].name == name:
            self._layers[-1].level -= 1
            if not self._layers[-1].level:
                _ = self._layers.pop()
                self._look()

    def leave(self, depth: int) -> None:
        """End what was begun deeper than this."""
        while self._layers and self._layers[-1].depth > depth:
            _ = self._layers.pop()
        self._look()

    def close(self) -> None:
        """End the document: a hidden beginning of nothing is no preview."""
        if not self._is_begun:
            self.hidden, self.preheader = self.hidden + self.preheader, 0

    def saw(self, text: str) -> None:
        """Take a text that is shown."""
        self._is_begun = self._is_begun or has_visible(text)

    def hid(self, text: str) -> None:
        """Count a text that is not."""
        length = visible_length(text)
        if self._is_begun or self.preheader + length > LONGEST_PREHEADER:
            self.hidden += length
        else:
            self.preheader += length

    def _look(self) -> None:
        style = self._layers[-1].style if self._layers else NOTHING
        alike = style.colour is not None and style.ground is not None and _alike(style.colour, style.ground)
        self.hides = bool(style.is_tiny or style.is_unseen or alike)


@lru_cache(maxsize=4096)
def _inside(around: ElementStyle, style: ElementStyle) -> ElementStyle:
    """Return what holds in an element of this style."""
    return ElementStyle(
        is_tiny=around.is_tiny if style.is_tiny is None else style.is_tiny,
        is_unseen=around.is_unseen if style.is_unseen is None else style.is_unseen,
        colour=style.colour or around.colour,
        ground=None if style.has_picture else style.ground or around.ground,
    )


def _alike(one: Colour, other: Colour) -> bool:
    return all(abs(a - b) <= _SAME for a, b in zip(one, other, strict=True))

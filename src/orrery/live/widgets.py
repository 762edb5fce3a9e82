"""The scripts that any site may take: pill, tile and the owner's widget, with this deployment's defaults."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
"""A line of nothing but a comment: readers of the source want it, visitors do not."""

NAMES = ("pill.js", "tile.js", "admin.js")


@dataclass(frozen=True, slots=True)
class Widget:
    """One script as it is served; `etag` changes with its text."""

    text: str
    etag: str


def widgets(*, min_visible: int, interval: int) -> Mapping[str, Widget]:
    """Return the scripts by name: `min_visible` is LIVE_MIN_VISIBLE, `interval` the poll's seconds."""
    defaults = {"MIN_VISIBLE = 1;": f"MIN_VISIBLE = {min_visible};", "INTERVAL = 45;": f"INTERVAL = {interval};"}
    return {name: _widget(name, defaults) for name in NAMES}


def _widget(name: str, defaults: Mapping[str, str]) -> Widget:
    written_out = files("orrery").joinpath("web", "live", name).read_text(encoding="utf-8")
    text = _COMMENT.sub("", written_out)
    for written, wanted in defaults.items():
        text = text.replace(f"const {written}", f"const {wanted}")
    return Widget(text, f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"')

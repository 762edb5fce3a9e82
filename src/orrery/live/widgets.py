"""The scripts that any site may take: pill, tile and the owner's widget, with this deployment's defaults."""

from collections.abc import Mapping

from orrery.syntax.script import Script

NAMES = ("pill.js", "tile.js", "admin.js")


def widgets(*, min_visible: int, interval: int) -> Mapping[str, Script]:
    """Return the scripts by name: `min_visible` is LIVE_MIN_VISIBLE, `interval` the poll's seconds."""
    defaults = {"MIN_VISIBLE = 1;": f"MIN_VISIBLE = {min_visible};", "INTERVAL = 45;": f"INTERVAL = {interval};"}
    return {name: Script.of_file(f"live/{name}", defaults) for name in NAMES}

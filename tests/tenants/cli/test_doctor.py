"""`orrery tenants doctor` as a process."""

import json
from pathlib import Path

from tests.support.destinations import SETTINGS, settings_file_in
from tests.support.program import run_orrery

NO_LIST = "scanner: watch-list"
"""There is a track A in these settings, and no list of its names."""


def states(config: Path) -> tuple[int, dict[str, str]]:
    """Return the exit code, and the state of each part."""
    told = run_orrery("tenants", "doctor", "--json", "--config", str(config))
    return told.returncode, {one["part"]: one["state"] for one in json.loads(told.stdout)}


def test_it_needs_no_store(tmp_path: Path) -> None:
    """All parts but the watch-list are well, and none needs the store, which nobody made."""
    code, found = states(settings_file_in(tmp_path))
    assert (code, [part for part, state in found.items() if state == "broken"]) == (1, [NO_LIST])
    assert {"place of the store", "place of the sign-ins", "place of the settings"} <= found.keys()
    assert not (tmp_path / "own").exists()


def test_what_orrery_keeps_is_looked_for(tmp_path: Path) -> None:
    """Store, sign-ins and settings that lie in a destination are broken, and so is the exit code."""
    settings_file_in(tmp_path)
    inside = tmp_path / "blog" / "orrery.toml"
    inside.write_text(SETTINGS.replace('folder = "blog"', 'folder = "."').replace('"team"\n\n', '"../team"\n\n'))
    code, found = states(inside)
    broken = {part for part, state in found.items() if state == "broken"}
    assert (code, broken) == (1, {"place of the store", "place of the sign-ins", "place of the settings", NO_LIST})

"""Walks over the declarations of a copy of the package, and types commands with old names: run with that copy.

usage: former_names_session.py FOLDER   Prints one JSON object: what came of each step.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from orrery.app.settings.reader import load
from orrery.runtime.module import load as loaded
from tests.architecture.typed import typed
from tests.support import former_names as walk

OF_THE_FIRST = '[calendar]\nlimit = 7\ncolour = "red"\n[calendar.issue]\ntitle = "old"\n[moon]\nfull = true\n'
VARIABLES = {"ORRERY_CALENDAR__DATES": "[3]", "ORRERY_CALENDAR_TOKEN": "of-the-first"}

GIVEN: list[tuple[str, dict[str, str]]] = [
    ("[almanac]\nlimit = 1\nmost = 2\n", {}),
    ("[almanac]\nmost = 2\n", {"ORRERY_YEARBOOK__MAXIMUM": "1"}),
    ("[almanac]\nmost = 2\n", {"ORRERY_YEARBOOK__MOST": "1"}),
    ("[yearbook]\nmaximum = 2\n", {"ORRERY_YEARBOOK__LIMIT": "1"}),
    ("", {"ORRERY_ALMANAC_TOKEN": "aaaaaaaa", "ORRERY_YEARBOOK_TOKEN": "aaaaaaaa"}),
    ("[yearbook]\nmaximum = 0\n", {"ORRERY_ALMANAC__DAYS": "[3]"}),
    ("[calendar.issue]\nname = 1\n", {}),
    ("[yearbook]\npages = [{number = 1}, {count = 'x'}]\n", {}),
    ("", {"ORRERY_YEARBOOK_TOKEN": "a b c d e f g"}),
]
"""What cannot be used: a file, and variables."""


def cases() -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Yield each step of the walk by its name; it is given an empty folder."""
    for role, release in walk.RELEASE_CASES:
        yield f"release {release} {role}", partial(walk.check_release, role=role, release=release)
    for role, one in walk.SETTINGS:
        yield f"setting {one} {role}", lambda _, role=role, one=one: walk.check_setting(role, one)
    for role, one, source in walk.SECRET_CASES:
        yield f"secret {one} {role} {source}", partial(walk.check_secret, role=role, one=one, source=source)


def walked() -> dict[str, str]:
    """Return each step of the walk, in a folder of its own, with why it failed, or nothing."""
    found = dict[str, str]()
    for name, check in cases():
        folder = Path(mkdtemp(dir=sys.argv[1]))
        os.chdir(folder)
        try:
            check(folder)
            found[name] = ""
        except Exception as error:  # noqa: BLE001  the test names each step that failed
            found[name] = f"{type(error).__name__}: {error}"
    return found


def upgraded() -> dict[str, Any]:
    """Return what the present release makes of what the first one wrote."""
    given(OF_THE_FIRST, VARIABLES)
    settings, secrets = load()
    kind: Any = loaded("orrery.almanac.settings:AlmanacSettings")
    almanac = settings[kind]
    said: dict[str, Any] = {
        "read": [almanac.most, almanac.days, almanac.edition.name, secrets.reveal("almanac_token")],
        "created": typed("store", "create"),
    }
    for name in ("config check", "doctor"):
        rows = json.loads(typed(*name.split(), "--json")[1])
        said[name] = [one for one in rows if one["part"] == "outdated settings"]
    given("[yearbook]\nmaximum = 7\n", {"ORRERY_ALMANAC__DAYS": "[3]", "ORRERY_YEARBOOK_TOKEN": ""})
    almanac = load()[0][kind]
    said["joined"] = [almanac.most, almanac.days]
    return said


def told() -> list[str]:
    """Return what commands of the other roles print about a section that is no more."""
    given("[moon]\nfull = true\n", {})
    _ = typed("cockpit", "store", "create", "-c", "orrery.toml")
    commands = ["tenants scan orrery.toml --config", "cockpit ledger list -c", "gateway cloud status -c"]
    return [typed(*words.split(), Path("orrery.toml").absolute())[1] for words in commands]


def given(text: str, variables: Mapping[str, str]) -> None:
    """Write the settings file, and set these variables alone."""
    Path("orrery.toml").write_text(text)
    for name in [name for name in os.environ if name.startswith("ORRERY_")]:  # noqa: TID251  it plays the environment
        del os.environ[name]  # noqa: TID251  the same
    os.environ.update(variables)  # noqa: TID251  the same


def refused() -> list[tuple[int, str]]:
    """Return how a start ends with each of `GIVEN`."""
    found = list[tuple[int, str]]()
    for text, variables in GIVEN:
        given(text, variables)
        found.append(typed("serve"))
    return found


if __name__ == "__main__":
    came: dict[str, Any] = {"walked": walked(), "rows": sorted(walk.documented())}
    os.chdir(sys.argv[1])
    came |= {"upgraded": upgraded(), "refused": refused(), "told": told()}
    print(json.dumps(came))  # noqa: T201  what the test reads

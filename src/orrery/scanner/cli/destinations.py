"""`orrery tenants scan --destinations`: search all places where data of the public track may go."""

import json
from collections.abc import Callable
from pathlib import Path

from orrery.errors import Invalid
from orrery.scanner.cli.arguments import explain, put
from orrery.scanner.deployment import ScanDeployment
from orrery.scanner.destinations import look, notify
from orrery.scanner.protection import gaps
from orrery.scanner.pushed import SearchedDestination
from orrery.scanner.report import json_of, line_of
from orrery.scanner.scanning import Scan


def scan_destinations(
    config: Path | None,
    deployment: ScanDeployment,
    compose: Callable[[], Scan],
    *,
    notifies: bool,
    as_json: bool,
) -> int:
    """Print what was found in each destination, and push what is new if asked to; return the exit code."""
    rounds = deployment.rounds()
    places = rounds.places(config)
    if not places and not deployment.protected().all(config):
        raise Invalid("There is no destination with a folder: add one to [tenants.B] of the settings.")
    file, push = (rounds.pushed(config), rounds.push(config)) if notifies else (None, None)
    looked = [*look(places, compose, deployment.sources), *gaps(config, deployment)]
    for one in looked:
        _print(one, as_json=as_json)
    failed = notify(looked, file, push, rounds.now().isoformat()) if file and push else []
    for why in failed:
        explain(f"{why} The next round tries again.")
    return int(bool(failed) or any(one.findings or one.trouble for one in looked))


def _print(looked: SearchedDestination, *, as_json: bool) -> None:
    for finding in looked.findings:
        put(
            json.dumps({"destination": looked.name, **json.loads(json_of(finding))})
            if as_json
            else line_of(finding)
        )
    if as_json and looked.trouble:
        put(json.dumps({"destination": looked.name, "trouble": looked.trouble}))
    elif looked.trouble:
        explain(f"{looked.name}: {looked.trouble}")
    elif not looked.findings:
        explain(f"{looked.name}: no finding.")

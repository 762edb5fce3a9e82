"""Whether git runs our hooks in each protected repository: one that is lost in silence would look like a guard."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from orrery.errors import OrreryError
from orrery.ports.scanner import NO_NAMES
from orrery.scanner.deployment import ScanDeployment
from orrery.scanner.hooks import HOOKS, Hooks, HookState
from orrery.scanner.pushed import SearchedDestination


def states(folder: Path, deployment: ScanDeployment, settings: Path | None = None) -> Mapping[Path, HookState]:
    """Return each hook of a repository with its state, of all its work trees; raise what `hooks_folders` does."""
    every = [Hooks(one, deployment.this_orrery(), settings) for one in deployment.hooks_folders(folder)]
    return {one.folder.path / hook: one.state(hook) for one in every for hook in HOOKS}


def gaps(config: Path | None, deployment: ScanDeployment) -> Iterator[SearchedDestination]:
    """Yield a look at the watch-list and one at the hooks: each with its trouble, or none.

    A trouble names no place, which may have a customer's name in it and goes to a push server and into logs;
    `detail` has the places.
    """
    with suppress(OrreryError):  # what cannot be loaded is the trouble of each destination
        yield SearchedDestination(
            "watch-list", trouble=NO_NAMES if deployment.load(config).policy.is_blind else ""
        )
    folders = deployment.protected().all(config)
    wrong = {str(one): why for one in folders if (why := _wrong(one, deployment))}
    why = (
        f"Protected repositories: {len(folders)}; of these {len(wrong)} without a hook, or with another program's "
        "in its place, or core.hooksPath leads past it. See: orrery tenants hooks list"
    )
    yield SearchedDestination("hooks", trouble=why if wrong else "", detail=str(wrong))


def _wrong(folder: Path, deployment: ScanDeployment) -> str:
    try:
        found = states(folder, deployment)
    except OrreryError as error:
        return str(error)
    return ", ".join(f"{place}: {state}" for place, state in found.items() if state != "installed")

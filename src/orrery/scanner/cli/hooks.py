"""`orrery tenants hooks`: have git search each commit and each push."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from orrery.errors import NotConfigured, NotFound, OrreryError
from orrery.ports.scanner import NO_NAMES
from orrery.scanner.cli.arguments import explain, put
from orrery.scanner.deployment import ScanDeployment
from orrery.scanner.hooks import HOOKS, Hooks
from orrery.scanner.protection import states
from orrery.syntax.lines import visible


def command(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """Return 0 when it is done, 1 for what is not as it should be, and 2 for what cannot be done (decision 54)."""
    options = _parser().parse_intermixed_args(arguments)
    options.config = options.config and options.config.absolute()
    try:
        return {"install": _install, "remove": _remove, "list": _list}[options.action](options, deployment)
    except OSError as error:
        _ = sys.stderr.write(f"{visible(str(error.filename))} cannot be written: {error.strerror}.\n")
        return OrreryError.exit_code


def _install(options: Namespace, deployment: ScanDeployment) -> int:
    folders: list[Path] = options.folders or [Path()]
    # Each folder is looked at before the first one is changed.
    every = [one for folder in folders for one in deployment.hooks_folders(folder)]
    checked = [Hooks(one, deployment.this_orrery(), options.config) for one in every]
    for one in checked:
        one.check(may_be_shared=options.shared)
    loaded = deployment.load(options.config)
    without_list = loaded.policy.is_blind
    if without_list and not options.without_watch_list:
        raise NotConfigured(NO_NAMES)
    for note in loaded.notes:
        explain(note)
    if without_list:
        listed = ", ".join(str(one.work_tree) for one in every)
        deployment.write_journal(options.config, f"Hooks search without a watch-list, so for no name: {listed}")
    for one in every:
        hooks = Hooks(one, deployment.this_orrery(), options.config, without_list)
        for hook in HOOKS:
            first = "; the one that was there before runs first" if hooks.install(hook) else ""
            put(f"{visible(str(one.path / hook))}: installed{first}")
    for folder in folders:
        deployment.protected().add(folder)
    return 0


def _remove(options: Namespace, deployment: ScanDeployment) -> int:
    folders: list[Path] = options.folders or [Path()]
    found: list[Hooks] = []
    for folder in folders:
        with suppress(NotFound):  # a folder that is gone is forgotten
            found += [Hooks(one, deployment.this_orrery()) for one in deployment.hooks_folders(folder)]
    for hooks in found:
        for hook in HOOKS:
            done = "removed" if hooks.remove(hook) else f"left as it is ({hooks.state(hook)})"
            put(f"{visible(str(hooks.folder.path / hook))}: {done}")
    for folder in folders:
        deployment.protected().forget(folder)
    return 0


def _list(options: Namespace, deployment: ScanDeployment) -> int:
    given: list[Path] = options.folders
    protected = [] if given else [*deployment.protected().all(options.config)]
    code = 0
    for folder in given or protected or [Path()]:
        try:
            found = states(folder, deployment, options.config)
        except OrreryError as error:
            if folder not in protected:
                raise
            explain(
                f"{visible(str(error))} To protect it no more: orrery tenants hooks remove {visible(str(folder))}"
            )
            code = 1
            continue
        for place, state in found.items():
            put(f"{visible(str(place))}: {state}")
            code = code or int(state != "installed")
    return code


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="orrery tenants hooks",
        description="Have git search each commit and each push of a repository, and stop what must not be public.",
    )
    _ = parser.add_argument(
        "action", choices=("install", "remove", "list"), metavar="ACTION", help="install, remove or list"
    )
    _ = parser.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="Repositories; else this one, and of list all that are protected.",
    )
    _ = parser.add_argument(
        "--config",
        "-c",
        type=Path,
        metavar="FILE",
        help="The settings file that the hooks use, outside the repositories.",
    )
    _ = parser.add_argument(
        "--shared",
        action="store_true",
        help="Install into the folder of core.hooksPath, for other repositories, too.",
    )
    _ = parser.add_argument(
        "--without-watch-list",
        action="store_true",
        help="Install where there is a track A and no watch-list; the journal keeps it.",
    )
    return parser

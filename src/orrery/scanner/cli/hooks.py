"""`orrery tenants hooks`: have git search each commit and each push."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from orrery.scanner.cli.arguments import put
from orrery.scanner.deployment import ScanDeployment
from orrery.scanner.hooks import BEFORE, HOOKS, Hooks
from orrery.syntax.lines import visible


def command(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """Return 0 when it is done, 1 when a file cannot be written, and 2 for what cannot be done (decision 54)."""
    options = _parser().parse_intermixed_args(arguments)
    settings: Path | None = options.config and options.config.absolute()
    this_orrery = deployment.this_orrery
    folders: list[Path] = options.folders or [Path()]
    try:
        # Each folder is looked at before the first one is changed.
        found = [Hooks(deployment.hooks_folder(one), this_orrery, settings) for one in folders]
        if options.action == "install":
            for each in found:
                each.check(may_be_shared=options.shared)
        for each in found:
            for line in _done(options, each):
                put(line)
    except OSError as error:
        _ = sys.stderr.write(f"{visible(str(error.filename))} cannot be written: {error.strerror}.\n")
        return 1
    return 0


def _done(options: Namespace, hooks: Hooks) -> Iterator[str]:
    """Carry out what is asked for; yield a line for each hook."""
    for hook in HOOKS:
        place = visible(str(hooks.folder.path / hook))
        if options.action == "install":
            first = f"; {hook}{BEFORE}, which was there before, runs first" if hooks.install(hook) else ""
            yield f"{place}: installed{first}"
        elif options.action == "remove":
            yield f"{place}: {'removed' if hooks.remove(hook) else f'left as it is ({hooks.state(hook)})'}"
        else:
            yield f"{place}: {hooks.state(hook)}"


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="orrery tenants hooks",
        description="Have git search each commit and each push of a repository, and stop what must not be public.",
    )
    _ = parser.add_argument(
        "action", choices=("install", "remove", "list"), metavar="ACTION", help="install, remove or list"
    )
    _ = parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="Repositories; else this one.")
    _ = parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="The settings file that the hooks use, outside the repositories.",
    )
    _ = parser.add_argument(
        "--shared", action="store_true", help="Install where core.hooksPath says, for other repositories, too."
    )
    return parser

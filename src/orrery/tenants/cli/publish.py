"""`orrery tenants publish`: what may become public goes to a destination of track B."""

import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.errors import Invalid
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import note, show_json

if TYPE_CHECKING:
    from orrery.runtime.console.runner import Runner
    from orrery.tenants.publishing import Published, Publishing

WithoutWatchList = Annotated[
    bool,
    typer.Option(
        "--without-watch-list", help="Publish where there is a track A and no watch-list; the journal keeps it."
    ),
]


def command(
    *,
    source: Annotated[
        list[Path],
        typer.Argument(metavar="SOURCE", help="A file or a folder.", default_factory=list, show_default=False),
    ],
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION",
            help="The name of a destination; a path inside it may follow, such as blog/posts/a.md.",
        ),
    ],
    from_stdin: Annotated[
        bool, typer.Option("--stdin", help="Publish what is on standard input, instead of SOURCE.")
    ] = False,
    without_watch_list: WithoutWatchList = False,
    as_json: AsJson = False,
    runner: Handed,
) -> None:
    """Publish a file, a folder or a text, when it has no label of track A and the scanner finds nothing.

    One file of a folder that is refused, and nothing is written. A file replaces the one that is there. For a
    destination without a folder, such as social media, the text is printed for the tool that posts it.

    \b
    orrery tenants publish draft.md blog/posts/
    orrery tenants publish --stdin news < post.txt | post
    """
    if len(source) != (0 if from_stdin else 1):
        raise Invalid("Give one SOURCE and a DESTINATION, or --stdin and a DESTINATION.")
    from orrery.ports.publications import MOST_BYTES  # noqa: PLC0415  `--help` needs none of it

    publishing = _publishing(runner, without_watch_list=without_watch_list)
    if not from_stdin:
        _report(publishing.publish(source[0], destination), as_json=as_json)
        return
    if as_json and publishing.target(destination).destination.folder is None:
        raise Invalid("The post itself is printed, so there is no room for --json.")
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    published = publishing.publish_text(content, destination)
    if published.kind == "social":
        for one in published.notes:
            note(one)
        _ = sys.stdout.buffer.write(content)
    else:
        _report(published, as_json=as_json)


def _publishing(runner: "Runner", *, without_watch_list: bool) -> "Publishing":
    from orrery.ports.publications import Publications  # noqa: PLC0415  `--help` needs none of it
    from orrery.ports.scanner import Scanner  # noqa: PLC0415  the same
    from orrery.tenants.publishing import Publishing  # noqa: PLC0415  the same
    from orrery.tenants.settings import TenantsSettings  # noqa: PLC0415  the same

    settings = runner.section(TenantsSettings)
    private = (*runner.store_files, runner.settings_file, settings.directory)
    keep = partial(_keep, runner) if without_watch_list else None
    return Publishing(settings, runner.port(Scanner), runner.port(Publications), private, keep)


def _keep(runner: "Runner", sentence: str) -> None:
    """Write into the journal that something went out without a watch-list."""
    from orrery.tenants.journal import Journal, NewEntry  # noqa: PLC0415  it loads the store's records

    _ = runner.run(lambda services: services[Journal].add(NewEntry("B", sentence)))


def _report(published: "Published", *, as_json: bool) -> None:
    if as_json:
        show_json(asdict(published))
    else:
        files = f"{len(published.files)} files" if len(published.files) != 1 else "1 file"
        for one in published.notes:
            note(one)
        note(f"Published {files}, {published.bytes} bytes, as {published.destination}/{published.path}.")

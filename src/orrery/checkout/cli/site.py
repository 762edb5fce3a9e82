"""`orrery site`: what the web servers of the sites have to do with Orrery."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.checkout.cli import checkout_of
from orrery.errors import Invalid
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.progress import progress_bar
from orrery.runtime.console.runner import Handed, Runner, Services
from orrery.runtime.console.tables import Row, note, show
from orrery.runtime.settings import ServerSettings
from orrery.syntax.base_url import checked_base_url

if TYPE_CHECKING:
    from orrery.checkout.site.practice import PracticePages
    from orrery.checkout.site.web_servers import WebServer

group = typer.Typer(no_args_is_help=True)


@group.callback()
def site() -> None:
    """Print what the web server of a site needs to keep practice pages closed, and prove that it does."""


Site = Annotated[str | None, typer.Option("--site", help="Only this one of [[sites]], by its name or origin.")]
Practice = Annotated[
    str | None,
    typer.Option(
        help="The path of the practice pages instead of practice_url; may hold {vendorSlug} and {certCode}."
    ),
]
Service = Annotated[str | None, typer.Option(help="Where the web server reaches Orrery.")]


@group.command()
def nginx(named: Site = None, practice: Practice = None, service: Service = None, *, runner: Handed) -> None:
    """Print a file for nginx, to include in the server block of the site."""
    _print("nginx", runner, named, practice, service)


@group.command()
def caddy(named: Site = None, practice: Practice = None, service: Service = None, *, runner: Handed) -> None:
    """Print a file for Caddy, to import above all sites and in the block of the site."""
    _print("caddy", runner, named, practice, service)


@group.command()
def worker(
    service: Annotated[str, typer.Option(help="Where the worker reaches Orrery, such as https://orrery.example.")],
    named: Site = None,
    practice: Practice = None,
    *,
    runner: Handed,
) -> None:
    """Print a module worker, for a host that runs one in front of the site, such as Cloudflare."""
    _print("worker", runner, named, practice, service)


def _print(
    server: "WebServer", runner: Runner, named: str | None, practice: str | None, service: str | None
) -> None:
    from orrery.checkout.settings import CheckoutSettings, SitesSettings  # noqa: PLC0415  help needs no settings
    from orrery.checkout.site.web_servers import configuration, gated_sites  # noqa: PLC0415  the same

    settings, sites = runner.section(CheckoutSettings), runner.section(SitesSettings).sites()
    found = gated_sites(settings.catalogue(sites), practice, named)
    if server == "worker" and len(found) > 1:
        raise Invalid(
            f"A worker is for one site: choose one with --site: {', '.join(one.site.name for one in found)}."
        )
    at = checked_base_url(service or runner.section(ServerSettings).address)
    _ = sys.stdout.write("\n".join(configuration(server, one, at) for one in found))


_COLUMNS = ("fault", "request", "how", "status")


@group.command()
def check(
    url: Annotated[
        str | None,
        typer.Argument(help="The site, such as https://shop.example, or one product's practice pages there."),
    ] = None,
    root: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            file_okay=False,
            help="The folder of the site: ask for each practice page in it, and each copy of one.",
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(help="Ask for this path of the site, too, which must be closed; may be repeated."),
    ] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Ask a site for its practice pages as visitors do, and list what leaks, with the lines that fix it.

    Exit 1 when something leaks or is not as it must be.
    """

    async def run(services: Services) -> tuple[list[Row], list[str]]:
        from orrery.checkout.site.fixes import Fix  # noqa: PLC0415  only the command has it
        from orrery.checkout.site.practice import pages_at, practice_pages  # noqa: PLC0415  it loads the catalogue

        checkout = checkout_of(services)
        closed = practice_pages(checkout.catalogue)
        chosen = pages_at(url, closed)
        asked = _asked(chosen, closed, root, path or [])
        with progress_bar("paths", sum(map(len, asked)) + len(chosen)) as advance:
            found = [
                (pages, one)
                for pages, paths in zip(chosen, asked, strict=True)
                for one in await checkout.site_check.run(pages, paths, advance)
            ]
        await checkout.site_watch.check_due()  # a site that was not well: what has been fixed is over at once
        origins = dict.fromkeys(one.origin for one in chosen)
        others = [other for one in origins for other in await checkout.site_check.other_addresses(one)]
        service = checkout.plan.service
        return [{**asdict(one), **asdict(Fix.of(one.fault, pages, service))} for pages, one in found], others

    rows, others = runner.run(run)
    _show(rows, others, as_json=as_json)
    end_broken(when=rows)


def _asked(
    chosen: "Sequence[PracticePages]", closed: "Sequence[PracticePages]", root: Path | None, named: Sequence[str]
) -> list[dict[str, str]]:
    """Return the paths to ask for by the pages of each product; raise `Invalid` for a folder without any.

    A named path that is in none of them is asked for once at each origin.
    """
    from orrery.checkout.site.folder import SiteFolder  # noqa: PLC0415  only the command has it
    from orrery.checkout.site.practice import as_sent  # noqa: PLC0415  it loads the catalogue

    if wrong := [path for path in named if not path.startswith("/")]:
        raise Invalid(f"{wrong[0]} is no path of the site: it begins with a slash.")
    named = [as_sent(path) for path in named]
    firsts = [*{one.origin: one for one in reversed(chosen)}.values()]
    outside = [path for path in named if not any(one.has(path) for one in chosen)]
    asked = [
        {path: "" for path in named if pages.has(path) or (path in outside and pages in firsts)}
        for pages in chosen
    ]
    if root:
        folder = SiteFolder(root)
        below = [dict.fromkeys(folder.paths(pages), "") for pages in chosen]
        if not any(below):
            raise Invalid(f"{root} holds no file of the practice pages: none below {chosen[0].path}.")
        for pages, paths, own in zip(chosen, asked, below, strict=True):
            paths.update(own | folder.copies(pages, closed))
    return asked


def _show(rows: Sequence[Row], others: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        show(rows, (), as_json=True, empty="")
        return
    columns = [{**row, "request": row["path"]} for row in rows]
    show(columns, _COLUMNS, as_json=False, empty="Nothing leaks.")
    for row in {row["fault"]: row for row in reversed(rows)}.values():
        note(f"\n{row['fault']}: {row['meaning']}\n  nginx: {row['nginx']}\n  Caddy: {row['caddy']}")
    if rows:
        note("\nAll of it: `orrery site nginx`, `orrery site caddy`, `orrery site worker`.")
    if others:
        note(f"Asked as well: {', '.join(others)}")

"""`orrery site`: what the web servers of the sites have to do with Orrery."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

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
    from orrery.checkout.site.proving import PracticePages
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
    found = gated_sites(settings.catalogue(sites), settings.practice_url, practice, named)
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
        typer.Option(exists=True, file_okay=False, help="The folder of the site: ask for each file in it."),
    ] = None,
    path: Annotated[list[str] | None, typer.Option(help="Ask for this path, too; may be repeated.")] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Ask a site for its practice pages as visitors do, and list what leaks, with the lines that fix it.

    Exit 1 when something leaks or is not as it must be.
    """

    async def run(services: Services) -> list[Row]:
        from orrery.checkout.site.fixes import Fix  # noqa: PLC0415  only the command has it
        from orrery.checkout.site.proving import pages_at, practice_pages  # noqa: PLC0415  it loads the catalogue

        checkout = checkout_of(services)
        plan = checkout.plan
        chosen = pages_at(url, practice_pages(checkout.catalogue, plan.settings.practice_url))
        asked = _asked(chosen, root, path or [])
        with progress_bar("paths", sum(map(len, asked)) + len(chosen)) as advance:
            found = [
                (pages, one)
                for pages, paths in zip(chosen, asked, strict=True)
                for one in await checkout.site_check.run(pages, paths, advance)
            ]
        return [{**asdict(one), **asdict(Fix.of(one.fault, pages, plan.service))} for pages, one in found]

    rows = runner.run(run)
    if as_json:
        show(rows, (), as_json=True, empty="")
    else:
        _show(rows)
    end_broken(when=rows)


def _asked(chosen: "Sequence[PracticePages]", root: Path | None, named: Sequence[str]) -> list[list[str]]:
    """Return the paths of each product's pages; raise `Invalid` for one of none, and for a folder without any."""
    for path in named:
        if not any(pages.has(path) for pages in chosen):
            known = ", ".join(pages.path for pages in chosen)
            raise Invalid(f"{path} is none of the practice pages: these begin with {known}.")
    asked = [[quote(path, safe="/%") for path in named if pages.has(path)] for pages in chosen]
    if root:
        asked = [[*paths, *_files(root, pages)] for pages, paths in zip(chosen, asked, strict=True)]
        if not any(asked):
            raise Invalid(f"{root} holds no file of the practice pages: none below {chosen[0].path}.")
    return asked


def _files(root: Path, pages: "PracticePages") -> Iterator[str]:
    """Yield the path of each file below the practice pages, and of the folder of an index page."""
    for file in sorted(_below(root / pages.path.strip("/"))):
        path = quote(f"/{file.relative_to(root).as_posix()}")
        yield path
        if file.name == "index.html":
            yield path.removesuffix("index.html")


def _below(place: Path) -> Iterable[Path]:
    return (one for one in place.rglob("*") if one.is_file()) if place.is_dir() else ()


def _show(rows: Sequence[Row]) -> None:
    columns = [{**row, "request": row["path"]} for row in rows]
    show(columns, _COLUMNS, as_json=False, empty="Nothing leaks.")
    for row in {row["fault"]: row for row in reversed(rows)}.values():
        note(f"\n{row['fault']}: {row['meaning']}\n  nginx: {row['nginx']}\n  Caddy: {row['caddy']}")
    if rows:
        note("\nAll of it: orrery site nginx, orrery site caddy, orrery site worker.")

"""`orrery site`: what the web servers of the sites have to do with Orrery."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.errors import Invalid
from orrery.runtime.console.runner import Handed, Runner
from orrery.runtime.settings import ServerSettings
from orrery.syntax.base_url import checked_base_url

if TYPE_CHECKING:
    from orrery.checkout.site.web_servers import WebServer

group = typer.Typer(no_args_is_help=True)


@group.callback()
def site() -> None:
    """Print what the web server of a site needs to keep its practice pages closed."""


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
    """Print a file for Caddy, to import in the block of the site."""
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

"""`orrery config check`: what a start would find in the settings, before a restart."""

import asyncio
from contextlib import AsyncExitStack, suppress

import typer

from orrery.app.cli.listening import why_not_to_listen
from orrery.app.cli.services import Config
from orrery.app.composition import opened, without_store
from orrery.app.deployment import Orrery
from orrery.app.settings.reader import Secrets, Settings, examine, uses_of
from orrery.errors import Invalid, OrreryError, StoreError, StoreMissing
from orrery.logs import Redaction, configure
from orrery.ports.health import Finding, secret_part
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.findings import print_findings
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.tables import note
from orrery.runtime.settings import LogSettings, ServerSettings
from orrery.runtime.store_probe import STORE

SETTINGS = "settings"
"""The part that is broken by what refuses the start."""

_TODO = "Correct it: the service would not start."

group = typer.Typer(no_args_is_help=True)


@group.callback()
def config_group() -> None:
    """Check the settings."""


@group.command()
def check(as_json: AsJson = False, config: Config = None) -> None:  # noqa: FBT002  a flag of the command line
    """Check the settings as the start does; exit 2 when it would refuse, 1 when what is sold differs from them.

    Nothing is changed: the store is only read, beside the running service, and no request leaves this machine.
    """
    found = examine(config)
    refusals = [_refusal(SETTINGS, problem) for problem in found.problems]
    findings: list[Finding] = []
    if found.settings and found.secrets:
        configure(found.settings[LogSettings].format, "error", Redaction(found.secrets.values()))
        more, findings = asyncio.run(_composed(found.settings, found.secrets))
        refusals += more
    print_findings([*(refusals or [Finding(SETTINGS, "ok", essential=True)]), *findings], as_json=as_json)
    if not as_json:
        note("The service would not start." if refusals else "The service would start.")
    if refusals:
        raise typer.Exit(Invalid.exit_code)
    end_broken(when=any(one.state == "broken" for one in findings))


async def _composed(settings: Settings, secrets: Secrets) -> tuple[list[Finding], list[Finding]]:
    """Return what refuses the start beyond the settings, and what follows from them."""
    server = settings[ServerSettings]
    places = ((server.host, server.port), (server.private_host, server.private_port))
    refusals = [_refusal(SETTINGS, why) for place in places if (why := why_not_to_listen(*place))]
    async with AsyncExitStack() as stack:
        try:
            orrery = await stack.enter_async_context(opened(settings, secrets, unchanged=True))
        except (StoreError, StoreMissing) as error:
            refusals.append(_refusal(STORE, f"{error} Which parameters were accepted is not known."))
            orrery = without_store(settings, secrets, error)
        except OrreryError as error:
            return [*refusals, _refusal(SETTINGS, str(error))], []
        return refusals, [*await _of_settings(orrery), *_missing(settings, secrets)]


async def _of_settings(orrery: Orrery) -> list[Finding]:
    found: list[Finding] = []
    for check_part in (one for parts in orrery.modules for one in parts.checks):
        with suppress(StoreError):  # the store's row gives the reason
            found += await check_part()
    return [one for one in found if one.of_settings]


def _missing(settings: Settings, secrets: Secrets) -> list[Finding]:
    """Return the secrets without which something stops that no check of a part names."""
    return [
        Finding(secret_part(name), "off", f"It is missing: {use.stops}", essential=True)
        for name, use in uses_of(settings).items()
        if use.needed and not use.essential and secrets.reveal(name) is None
    ]


def _refusal(part: str, why: str) -> Finding:
    return Finding(part, "broken", why, _TODO, essential=True)

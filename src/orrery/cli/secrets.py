"""`orrery secrets`: how each secret is, and that one is about to change (issue item 7)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from orrery.app import Orrery, opened
from orrery.cli.passwords import PasswordFile, given_password
from orrery.cli.secrets_check import Examination, Examined
from orrery.cli.services import AsJson, Config
from orrery.cli.tables import note, show
from orrery.logs import Redaction, configure
from orrery.owner.baseline import Announcement
from orrery.settings import Secrets, Settings, load_usable

T = TypeVar("T")
Loaded = tuple[Settings, Secrets, dict[str, str]]

group = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The secret, as its file is called; or directory, the folder itself.")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; it is listed for a day.", show_default=False)]
Removal = Annotated[bool, typer.Option("--removal", help="You remove it permanently.")]


@group.command()
def check(
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    password_file: PasswordFile = None,
    config: Config = None,
) -> None:
    """Examine each secret, here, at the processor and in the running service; exit 1 when something is broken."""
    loaded = load_usable(config)
    settings, secrets, troubles = loaded
    hashed = secrets.reveal("admin_password_hash")
    password = given_password(password_file, "Admin password (Enter to leave it out): ") if hashed else None

    async def work(orrery: Orrery) -> tuple[list[Examined], str]:
        return await Examination(settings, secrets, troubles, orrery, password).run()

    found, said = _with(loaded, work)
    columns = ("secret", "state", "found", "what_to_do")
    show([one.row() for one in found], columns, as_json=as_json, empty="")
    for one in found:
        if one.announced and not as_json:
            note(_announced(one.announced))
    note(said)
    if any(one.state == "broken" for one in found):
        raise typer.Exit(1)


@group.command()
def announce(
    name: Name,
    reason: Reason,
    removal: Removal = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """Say that a secret is about to change, so that the change is no alarm: it counts for 24 hours."""
    announcement = _with(
        load_usable(config), lambda orrery: orrery.secrets_check.announce(name, reason, removal=removal)
    )
    note(_announced(announcement))


def _announced(announcement: Announcement) -> str:
    what = "may be taken away" if announcement.removal else "may change"
    return f"{announcement.name} {what} until {announcement.until:%Y-%m-%d %H:%M} UTC: {announcement.reason}"


def _with(loaded: Loaded, action: Callable[[Orrery], Awaitable[T]]) -> T:
    """Run `action` over the open store with the usable secrets; the command examines the others."""
    settings, secrets, _ = loaded
    configure(settings.log.format, "warning", Redaction(secrets.values()))

    async def work() -> T:
        async with opened(settings, secrets) as orrery:
            return await action(orrery)

    return asyncio.run(work())

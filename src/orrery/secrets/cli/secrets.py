"""`orrery secrets`: how each secret is, and that one is about to change."""

from typing import TYPE_CHECKING, Annotated

import typer

from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.passwords import PasswordFile, given_password
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import note, show

if TYPE_CHECKING:
    from orrery.secrets.baseline import Announcement
    from orrery.secrets.check import SecretsCheck
    from orrery.secrets.examination import Examination

group = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The secret, as its file is called; or directory, the folder itself.")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="Why; it is listed for a day.", show_default=False)]
Removal = Annotated[bool, typer.Option("--removal", help="You remove it permanently.")]


@group.command()
def check(
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    password_file: PasswordFile = None,
    *,
    runner: Handed,
) -> None:
    """Examine each secret, here, at the processor and in the running service; exit 1 when something is broken."""
    examination = runner.run_with_usable_secrets(_examination)
    compared = examination.compares_password
    password = given_password(password_file, "Admin password (Enter to leave it out): ") if compared else None
    found, summary = runner.run_with_usable_secrets(lambda _: examination.run(password))
    columns = ("secret", "state", "found", "what_to_do")
    show([one.row() for one in found], columns, as_json=as_json, empty="")
    for one in found:
        if one.announced and not as_json:
            note(_announced(one.announced))
    note(summary)
    end_broken(when=any(one.state == "broken" for one in found))


@group.command()
def announce(
    name: Name,
    reason: Reason,
    removal: Removal = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Say that a secret is about to change, so that the change is no alarm: it counts for 24 hours."""
    announcement = runner.run_with_usable_secrets(
        lambda services: _check_of(services).announce(name, reason, removal=removal)
    )
    note(_announced(announcement))


async def _examination(services: Services) -> "Examination":
    from orrery.secrets.examination import Examination  # noqa: PLC0415  it loads what reads the store

    return services[Examination]


def _check_of(services: Services) -> "SecretsCheck":
    from orrery.secrets.check import SecretsCheck  # noqa: PLC0415  the same

    return services[SecretsCheck]


def _announced(announcement: "Announcement") -> str:
    what = "may be taken away" if announcement.removal else "may change"
    return f"{announcement.name} {what} until {announcement.until:%Y-%m-%d %H:%M} UTC: {announcement.reason}"

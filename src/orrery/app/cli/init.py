"""`orrery init`: a settings file with every key explained, a folder for the secrets, and a store."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from orrery.app.settings.new_file import STATE, is_the_systems, settings_text
from orrery.app.settings.reader import SYSTEM_FOLDER
from orrery.app.settings.secrets import secret_kinds
from orrery.app.settings.sections import sections_of
from orrery.app.store_place import file_place
from orrery.errors import Invalid
from orrery.runtime.console.tables import note
from orrery.runtime.module import Role
from orrery.runtime.settings import HasStore

_MAKES_STORE: dict[Role, str] = {"site": "orrery store create", "cockpit": "orrery cockpit store create"}
_NEXT: dict[Role, str] = {
    "site": "Then `orrery doctor` shows what is missing, and `orrery serve` runs the service.",
    "cockpit": "Then `orrery cockpit` opens its page.",
}

_WITHOUT_STORE: dict[Role, str] = {
    "cloud": "Fill in [cloud], then type `orrery gateway cloud plan`.",
    "scan": "Then `orrery tenants watch new-key` makes the key of a watch-list.",
}
"""The next step of each role that has no store."""

_NEXT_ON_THE_SYSTEM = f"""\
The service runs as the user orrery, and writes below {STATE} only. As root, once:
  chown root:orrery {SYSTEM_FOLDER}/secrets
  chmod 0750 {SYSTEM_FOLDER}/secrets
  install -d -m 0700 -o orrery -g orrery {STATE}
  sudo -u orrery orrery store create
Give each secret file to root, with the group orrery and mode 0640."""


def command(
    folder: Annotated[Path, typer.Argument(help="Where orrery.toml, secrets/ and the store go.")] = Path(),
    no_store: Annotated[bool, typer.Option("--no-store", help="Make no store.")] = False,  # noqa: FBT002  a flag of the command line
    role: Annotated[
        Literal["site", "cloud", "cockpit", "scan"],
        typer.Option(help="For the site, the cockpit, `orrery gateway cloud` or `orrery tenants scan`."),
    ] = "site",
) -> None:
    """Write orrery.toml, an empty folder secrets/ and an empty store; overwrite nothing.

    In /etc/orrery the paths are those of the system's service, which makes its store as its own user.
    """
    file, secrets = folder / "orrery.toml", folder / "secrets"
    if next_step := _WITHOUT_STORE.get(role):
        _write(file, secrets, role)
        note(f"Wrote {file}, and made {secrets}/. {next_step}")
        return
    stored = folder / store_of(role)
    makes_store = not no_store and not is_the_systems(folder)
    if makes_store and stored.exists():
        raise Invalid(
            f"There is a store at {stored} already, such as the demo's; nothing was written. "
            "Choose another folder, or keep that store with --no-store."
        )
    _write(file, secrets, role)
    note(f"Wrote {file}.")
    if kinds := secret_kinds(role):
        note(f"Put each secret into a separate file in {secrets}/:")
        for name in kinds:
            note(f"  {name}")
    if makes_store:
        file_place(stored).create()
        note(f"Made an empty store at {stored}.")
    elif is_the_systems(folder):
        note(_NEXT_ON_THE_SYSTEM)
    else:
        note(f"Made no store: `{_MAKES_STORE[role]}` makes one at the path in orrery.toml.")
    note(_NEXT[role])


def store_of(role: Role) -> Path:
    """Return where a role's store is by default, in the folder of its settings."""
    return next(kind().store_file for kind in sections_of(role).values() if issubclass(kind, HasStore))


def _write(file: Path, secrets: Path, role: Role) -> None:
    """Write both so that no other user may write them, whatever the umask."""
    text = settings_text(file.parent, role)
    try:
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        secrets.mkdir(mode=0o700, exist_ok=True)
        file.touch(mode=0o644, exist_ok=False)
        _ = file.write_text(text, encoding="utf-8")
    except FileExistsError:
        raise Invalid(f"{file} exists already; nothing was written.") from None
    except OSError as error:
        raise Invalid(f"{file} cannot be written: {error.strerror}.") from None

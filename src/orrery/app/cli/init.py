"""`orrery init`: a settings file with every key explained, a folder for the secrets, and a store."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import typer

from orrery.app.settings.former_names import former_secrets, former_settings
from orrery.app.settings.reader import SYSTEM_FOLDER
from orrery.app.settings.secrets import secret_kinds
from orrery.app.settings.sections import sections_of
from orrery.app.store_place import file_place
from orrery.errors import Invalid
from orrery.runtime.console.tables import note
from orrery.runtime.module import Role
from orrery.runtime.own_store import NotDeclaredError
from orrery.runtime.settings import HasStore

STATE = Path("/var/lib/orrery")
"""The state folder of the system's service, as in its unit."""

_OF_THE_SYSTEM = {
    r'(?m)^(\w+) = "\.orrery/': rf'\1 = "{STATE}/',
    r'(?m)^directory = "secrets"': f'directory = "{SYSTEM_FOLDER}/secrets"',
    r'(?m)^# directory = "backups"': f'directory = "{STATE}-backups"',
}
"""The values that are others in the system's folder, where the service may not write."""

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
    makes_store = not no_store and not _is_the_systems(folder)
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
    elif _is_the_systems(folder):
        note(_NEXT_ON_THE_SYSTEM)
    else:
        note(f"Made no store: `{_MAKES_STORE[role]}` makes one at the path in orrery.toml.")
    note(_NEXT[role])


def store_of(role: Role) -> Path:
    """Return where a role's store is by default, in the folder of its settings."""
    return next(kind().store_file for kind in sections_of(role).values() if issubclass(kind, HasStore))


def settings_text(folder: Path, role: Role = "site") -> str:
    """Return a role's settings file for a folder: every key explained, with its default but for the mode."""
    head = files("orrery").joinpath("web/init/head.toml").read_text(encoding="utf-8")
    text = "\n".join([head, *map(_explained, sections_of(role).items())])
    text = text.replace("{secrets}", "\n#   ".join(secret_kinds(role)))
    text += "".join(f"\n# {one}." for one in (*former_settings(role), *former_secrets(role)))
    for here, there in _OF_THE_SYSTEM.items() if _is_the_systems(folder) else ():
        text = re.sub(here, there, text)
    return text


def _explained(section: tuple[str, type]) -> str:
    """Return the text about a section, which is in the folder of its module; raise `NotDeclaredError`."""
    name, kind = section
    package = kind.__module__.rpartition(".")[0]
    found = files(package).joinpath(f"init/{name}.toml")
    if not found.is_file():
        raise NotDeclaredError(f"{package} has no init/{name}.toml, which explains each key of [{name}].")
    return found.read_text(encoding="utf-8")


def _is_the_systems(folder: Path) -> bool:
    return folder.resolve() == SYSTEM_FOLDER.resolve()


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

"""The secrets of a deployment: one file each, or one environment variable each."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from pydantic import SecretStr

from orrery.app.modules import MODULES
from orrery.app.settings.former_names import former_secrets, nearest
from orrery.app.settings.ownership import read_own, refuse_foreign_folder
from orrery.app.settings.sections import Settings
from orrery.app.settings.variables import (
    PREFIX,
    SettingsError,
    known_secret_names,
    names_of_secret,
    secret_names,
)
from orrery.errors import words_of
from orrery.runtime.former_names import why_twice
from orrery.runtime.module import Role, load
from orrery.runtime.secret import Form, SecretKind, SecretUse
from orrery.runtime.section import Mode

CREDENTIALS_VARIABLE = "CREDENTIALS_DIRECTORY"
"""The variable by which a service manager names the folder of secrets."""

_FOLDER = "The secrets directory"


@cache
def secret_kinds(role: Role) -> Mapping[str, SecretKind]:
    """Return the kinds of a role's secrets, by their names."""
    named = [one for module in MODULES for one in module.secrets]
    return {one.name: load(one.target) for one in named if role in one.roles}


@dataclass(frozen=True, slots=True)
class Secrets:
    """The secrets of a role; each may be missing (decision 41), and an empty one is missing.

    `troubles` are the reasons why others cannot be used, by their names. A fault that concerns no single secret
    (the folder, an unknown file in it) is under "". `outdated` are sentences, without their ends, about names of
    before that were met.
    """

    _texts: Mapping[str, SecretStr] = field(default_factory=dict[str, SecretStr])
    role: Role = "site"
    troubles: Mapping[str, str] = field(default_factory=dict[str, str])
    outdated: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, texts: Mapping[str, str], role: Role = "site", troubles: Mapping[str, str] | None = None
    ) -> "Secrets":
        """Return the secrets with these texts, by their names."""
        return cls({name: SecretStr(text) for name, text in texts.items()}, role, troubles or {})

    @property
    def kinds(self) -> Mapping[str, SecretKind]:
        """The kinds of all secrets that the role has."""
        return secret_kinds(self.role)

    def reveal(self, name: str) -> str | None:
        """Return a secret's value, or None when it is missing."""
        text = self._texts.get(name)
        return text.get_secret_value().strip() or None if text else None

    def parts(self, name: str) -> list[str]:
        """Return the values that a secret's text holds: each signing secret, each line of another one."""
        return self.kinds[name].values(self.reveal(name) or "")

    def normalized(self, name: str) -> str:
        """Return a secret's value in the form in which two of them are compared, or nothing when it is missing."""
        return self.kinds[name].normal_form(self.reveal(name) or "")

    def values(self) -> list[str]:
        """Return every value there is, for the log's redaction."""
        return [part for name in self.kinds for part in self.parts(name)]

    def why_unusable(self, name: str, mode: Mode, called: str = "") -> str:
        """Return in a sentence, with `called` as its name, why a secret cannot be used, or nothing."""
        kind, text = self.kinds[name], self.reveal(name)
        if not text:
            return ""
        sentence = kind.unusable(called or name, text, mode)
        return sentence or ("" if kind.is_certain else self._why_misplaced(name, called or name))

    def form(self, name: str, mode: Mode) -> Form:
        """Return how a secret that is present looks."""
        why = self.why_unusable(name, mode)
        return Form(why) if why else self.kinds[name].form(self.normalized(name), mode)

    def _why_misplaced(self, name: str, called: str) -> str:
        others = [one for other, one in self.kinds.items() if other != name]
        found = (one.recognized(part) for part in self.parts(name) for one in others)
        return next((f"The secret {called} is {what}: put the right value there." for what in found if what), "")


def examine_secrets(directory: Path | None, environment: Mapping[str, str], mode: Mode, role: Role) -> Secrets:
    """Return the secrets of this machine that can be used, with a sentence for each that cannot."""
    usable: dict[str, str] = {}
    troubles: dict[str, str] = {}
    files, trouble = _files_in(_place(directory, environment), role)
    for name in secret_kinds(role):
        try:
            found = _texts_of(name, environment, files, role)
        except SettingsError as error:
            troubles[name] = str(error)
            continue
        if why := Secrets.of(found, role).why_unusable(name, mode, _called(name, environment, files)):
            troubles[name] = why
        else:
            usable |= found
    found = Secrets.of(usable, role, troubles | ({"": trouble} if trouble else {}))
    met = [one for one in former_secrets(role) if is_given(one.old, environment, files)]
    return replace(found, outdated=tuple(f"the secret {one}" for one in met))


def uses_of(settings: Settings) -> dict[str, SecretUse]:
    """Return the use of each secret, by its name."""
    return {name: kind.use(settings) for name, kind in secret_kinds(settings.role).items()}


def secret_name(file: Path, role: Role) -> str:
    """Return the secret that a file holds: a service manager that copies a folder puts its name before the file's.

    The unit names the folder after the role.
    """
    return file.name.removeprefix(f"{role}_")


def secret_file(folder: Path, name: str, role: Role) -> Path:
    """Return the file of a secret in a folder, which is there if the secret is."""
    files = [folder / f"{before}{one}" for one in names_of_secret(name) for before in (f"{role}_", "")]
    return next((file for file in files if file.exists()), folder / name)


def secret_files(folder: Path, role: Role) -> dict[str, Path]:
    """Return the files of secrets in a folder, those of other roles too, by name; raise `OSError` without one."""
    copied_last = sorted(folder.iterdir(), key=lambda file: (secret_name(file, role) != file.name, file.name))
    return {name: file for file in copied_last if not (name := secret_name(file, role)).startswith(".")}


def _place(directory: Path | None, environment: Mapping[str, str]) -> Path | None:
    credentials = environment.get(CREDENTIALS_VARIABLE)
    return Path(credentials) if credentials else directory


def _files_in(folder: Path | None, role: Role) -> tuple[dict[str, Path], str]:
    """Return the files of secrets, and why a start refuses the folder; none counts that others may write."""
    try:
        if folder is None:
            return {}, ""
        refuse_foreign_folder(folder, _FOLDER)
        files = secret_files(folder, role)
    except OSError as error:
        return {}, f"{_FOLDER} {folder} cannot be read: {words_of(error)}."
    except SettingsError as error:
        return {}, str(error)
    unknown = {name: file.name for name, file in files.items() if name not in known_secret_names()}
    if not unknown:
        return files, ""
    named, like = " and ".join(unknown.values()), nearest(next(iter(unknown)), secret_names())
    return files, f"The secret file {named} is none of {', '.join(secret_names())}{like}."


def variable_of(name: str) -> str:
    """Return the variable that a secret may be in."""
    return PREFIX + name.upper()


def is_given(name: str, environment: Mapping[str, str], files: Collection[str]) -> bool:
    """Return whether there is a secret of exactly this name; a variable without a value is none."""
    return name in files or bool(environment.get(variable_of(name), "").strip())


def written_names(name: str, environment: Mapping[str, str], files: Collection[str]) -> list[str]:
    """Return the names, of today and of before, under which a secret is there."""
    return [one for one in names_of_secret(name) if is_given(one, environment, files)]


def _called(name: str, environment: Mapping[str, str], files: Collection[str]) -> str:
    """Return how a secret is called where it is; behind a former name is today's."""
    written = written_names(name, environment, files)
    return f"{written[0]}, now {name}," if written and written[0] != name else name


def _texts_of(name: str, environment: Mapping[str, str], files: Mapping[str, Path], role: Role) -> dict[str, str]:
    """Return the text of a secret under its name, or nothing when it is nowhere.

    A variable goes first; the file is read all the same, since one that cannot be read is fatal (decision 41).
    """
    written = written_names(name, environment, files)
    if len(written) > 1:
        raise SettingsError(f"The secrets {why_twice(name, written)}.")
    here = written[0] if written else name
    of_file = {name: _read_secret(files[here], role)} if here in files else {}
    text = environment.get(variable_of(here), "")
    if not text.strip():
        return of_file
    try:
        _ = text.encode()
    except UnicodeEncodeError:
        raise SettingsError(f"The secret {here} is not valid UTF-8.") from None
    return {name: text}


def _read_secret(file: Path, role: Role) -> str:
    try:
        return read_own(file, "The secret file")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"The secret file {secret_name(file, role)} cannot be read: {words_of(error)}."
        ) from None

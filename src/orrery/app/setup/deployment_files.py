"""The files that `orrery setup` writes: the settings, the secrets, and what it has to remember."""

import csv
import hashlib
import os
import re
import secrets
import shlex
import shutil
import stat
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import tomlkit
from tomlkit.items import AoT

from orrery import durable
from orrery.adapters.secret_file import SecretFile
from orrery.app.settings.new_file import is_the_systems, settings_text
from orrery.app.settings.places import DEFAULT_FILE, SYSTEM_FILE
from orrery.app.setup.steps import Question
from orrery.errors import Invalid, words_of

USER = "orrery"
"""The user of the system's service."""

_OF_TEST = "of_test"

_NAMED = re.compile(r"\{(\w+(?:\.\w+)+)\}")
"""A setting that another value names."""


class DeploymentFiles:
    """The files of a deployment, in one folder. A write is whole, and changes one value.

    In the system's folder the secrets are root's, and the service's group may read them.
    """

    def __init__(self, settings_file: Path) -> None:
        self.settings_file, self._folder = settings_file, settings_file.absolute().parent
        self.is_the_systems = is_the_systems(self._folder)
        self._memory = self._folder / "setup.toml"

    @property
    def secrets(self) -> Path:
        """The folder of the secrets."""
        return self._folder / Path(self.setting("secrets.directory") or "secrets").expanduser()

    @contextmanager
    def held(self) -> Generator[None]:
        """Keep a second setup out of the folder, which is made where it is missing."""
        with ExitStack() as stack:
            try:
                self._folder.mkdir(mode=0o755, parents=True, exist_ok=True)
                stack.enter_context(durable.held(self._folder))
            except BlockingIOError:
                raise Invalid(f"Another `orrery setup` is at work in {self._folder}.") from None
            except OSError as error:
                raise Invalid(f"{self._folder} cannot be set up: {words_of(error)}.") from None
            yield

    def prepare(self) -> list[str]:
        """Make what is missing of the folder; return what was made, in sentences."""
        made: list[str] = []
        try:
            if not self.settings_file.exists():
                self._replace(self.settings_file, settings_text(self._folder).encode(), 0o644)
                made.append(f"Wrote {self.settings_file}, in test mode, with every key explained.")
            if not self.secrets.is_dir():
                self.secrets.mkdir(mode=0o700, parents=True)
                made.append(f"Made {self.secrets}/.")
            if self.is_the_systems:
                self._give(self.secrets, 0o750)
                for secret in self.secrets.iterdir():  # a kill may have come before the last one was given
                    self._give(secret, 0o640)
        except (OSError, LookupError) as error:
            raise Invalid(f"{self._folder} cannot be set up: {error}.") from None
        return made

    def setting(self, name: str) -> str:
        """Return a setting as text, or nothing."""
        return text_at(self._settings(), name)

    def value(self, question: Question) -> str:
        """Return what is there already; of a secret only whether it is there."""
        if question.setting:
            return self.setting(question.setting)
        if question.secret:
            return "*" if (self.secrets / question.secret).is_file() else ""
        return str(self.memory().get(question.note, ""))

    def place(self, question: Question) -> Path:
        """Return the file that has a value."""
        if question.secret:
            return self.secrets / question.secret
        return self.settings_file if question.setting else self._memory

    def filled(self, text: str) -> str:
        """Return a text with the settings that it names, and the mode."""
        return _NAMED.sub(lambda found: self.setting(found[1]), text).replace("{mode}", self.setting("mode"))

    def write(self, question: Question, answer: str) -> None:
        """Keep an answer."""
        if question.setting:
            self._write_setting(question.setting, answer)
        elif question.secret:
            self._write_secret(question.secret, answer)
        else:
            self.remember({question.note: answer})

    def take_away(self, question: Question) -> None:
        """Remove an optional setting or secret."""
        if question.secret:
            self.place(question).unlink(missing_ok=True)
            return
        document = self._settings()
        *path, key = question.setting.removesuffix("[]").split(".")
        _ = _table(document, path).pop(key, None)
        self._replace(self.settings_file, tomlkit.dumps(document).encode(), 0o644)

    def contents(self, questions: Sequence[Question]) -> dict[Path, bytes | None]:
        """Return what the files of settings and secrets hold, or None of one that is not there."""
        places = {self.place(one) for one in questions if not one.note}
        return {file: file.read_bytes() if file.is_file() else None for file in places}

    def put_back(self, contents: Mapping[Path, bytes | None]) -> None:
        """Write what was there before, where it differs."""
        for file, content in contents.items():
            if content is None:
                file.unlink(missing_ok=True)
            elif not file.is_file() or content != file.read_bytes():
                self._replace(file, content, 0o600)
                if self.is_the_systems and file != self.settings_file:
                    self._give(file, 0o640)

    def set_live(self, differing: Sequence[Question]) -> None:
        """Write live mode, and take away the secrets of test mode that differ from those of live mode.

        Kept, the test's signing secret would refuse every payment that the processor reports. What is remembered
        of them only shows that one was given again.
        """
        there = [one for one in differing if self.place(one).is_file()]
        digests = {one.secret: _digest(self.content(one.secret)) for one in there}
        self.remember({_OF_TEST: {**self.memory().get(_OF_TEST, {}), **digests}})
        for one in there:
            self.place(one).unlink()
        self._write_setting("mode", "live")

    def is_of_the_test(self, question: Question, value: str) -> bool:
        """Return whether a secret is the one that test mode had."""
        return self.memory().get(_OF_TEST, {}).get(question.secret) == _digest(value)

    def memory(self) -> Mapping[str, Any]:
        """Return what setup remembers: the steps that are done or not wanted, and when it made a store."""
        try:
            return tomlkit.parse(self._memory.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise Invalid(
                f"{self._memory} cannot be read: {error}. Without that file, setup asks everything once more."
            ) from None

    def command(self, words: str) -> str:
        """Return one of our commands over these settings, as somebody has to type it."""
        named = self.settings_file in {DEFAULT_FILE, SYSTEM_FILE}
        where = "" if named else f" --config {shlex.quote(str(self.settings_file))}"
        return f"`sudo -u {USER} orrery {words}{where}`" if self.is_the_systems else f"`orrery {words}{where}`"

    def content(self, name: str) -> str:
        """Return a secret as it is in its file, or nothing."""
        try:
            return (self.secrets / name).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def remember(self, more: Mapping[str, object]) -> None:
        """Keep something for the next time that setup is typed."""
        self._replace(self._memory, tomlkit.dumps({**self.memory(), **more}).encode(), 0o644)

    def _settings(self) -> tomlkit.TOMLDocument:
        try:
            return tomlkit.parse(self.settings_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Invalid(f"{self.settings_file} cannot be read: {error}.") from None

    def _write_setting(self, name: str, answer: str) -> None:
        document = self._settings()
        *path, key = name.removesuffix("[]").split(".")
        at = _table(document, path)
        if name.endswith("[]"):
            rows = csv.reader(answer.splitlines(keepends=True), skipinitialspace=True)
            at[key] = [one.strip() for row in rows for one in row]
        else:
            is_number = key in at and isinstance(at[key], int)
            at[key] = int(answer) if is_number and answer.isdecimal() else answer
        self._replace(self.settings_file, tomlkit.dumps(document).encode(), 0o644)

    def _write_secret(self, name: str, answer: str) -> None:
        file = self.secrets / name
        SecretFile(file, "").write(answer)
        if self.is_the_systems:
            self._give(file, 0o640)

    def _give(self, path: Path, mode: int) -> None:
        """Let the service's group read a secret, and none write it."""
        shutil.chown(path, "root", USER)
        path.chmod(mode)

    def _replace(self, file: Path, content: bytes, mode: int) -> None:
        """Write a file as a whole; one that is there keeps its mode and its owner."""
        try:
            owner = None
            if file.exists():
                there = file.stat()
                mode, owner = stat.S_IMODE(there.st_mode), (there.st_uid, there.st_gid)
            durable.replace(file, content, mode, owner)
            file.chmod(mode)  # whatever the shell's mask leaves of it
        except OSError as error:
            raise Invalid(f"{file} cannot be written: {os.strerror(error.errno or 0)}.") from None


def _table(document: tomlkit.TOMLDocument, path: Sequence[str]) -> Any:  # noqa: ANN401  a table of tomlkit, or an item of an array of tables
    """Return the table at a path, made where it is missing: a number is the place in an array of tables."""
    at: Any = document
    for part, following in zip(path, [*path, ""][1:], strict=True):
        if part.isdecimal():
            if len(at) <= int(part):
                at.append(tomlkit.table())
            at = at[int(part)]
        else:
            if part not in at:
                at.add(part, AoT([]) if following.isdecimal() else tomlkit.table())
            at = at[part]
    return at


def text_at(found: Any, name: str) -> str:  # noqa: ANN401  what a TOML file has, as tomllib or tomlkit reads it
    """Return the value at a name as text, or nothing; a list as it is answered: commas between, or else quotes."""
    for part in name.removesuffix("[]").split("."):
        try:
            found = found[int(part) if part.isdecimal() else part]
        except (KeyError, IndexError, TypeError):
            return ""
    return ", ".join(map(_listed, cast("list[object]", found))) if isinstance(found, list) else str(found)


def _listed(one: object) -> str:
    """Return one of a list as csv reads it: in quotes where it has a comma, a quote or a line's end itself."""
    text = str(one)
    return '"{}"'.format(text.replace('"', '""')) if set(text) & set(',"\r\n') else text


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def random_value() -> str:
    """Return 128 bits as a value that can stand anywhere."""
    return secrets.token_hex(16)

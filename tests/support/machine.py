"""A machine that the settings are read on: a folder, an environment, and what refuses to start there."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from orrery.app.settings.reader import CONFIG_VARIABLE, SettingsError, examine, load
from orrery.runtime.module import Role

MARK = "marked-value-0x5eed"
"""What no message may hold."""

SECRETS = '[secrets]\ndirectory = "secrets"\n'
"""Settings that name the folder of secrets."""


@dataclass(frozen=True)
class Machine:
    """A folder to start in, with its settings file, its secrets and its environment."""

    folder: Path
    environment: pytest.MonkeyPatch

    @property
    def file(self) -> Path:
        """The settings file."""
        return self.folder / "orrery.toml"

    def write(self, text: str) -> None:
        """Write the settings file."""
        self.file.write_text(text, encoding="utf-8")

    def secret(self, name: str, value: str | bytes, folder: str = "secrets") -> Path:
        """Write a secret file, and name its folder in the settings."""
        place = self.folder / folder
        place.mkdir(exist_ok=True)
        (place / name).write_bytes(value.encode() if isinstance(value, str) else value)
        return place

    def set(self, **variables: str) -> None:
        """Set environment variables."""
        for name, value in variables.items():
            self.environment.setenv(name, value)

    def refusal(self, role: Role = "site") -> str:
        """Return why the start is refused: a message without the marked value, like every cause behind it."""
        with pytest.raises(SettingsError) as refused:
            load(role=role)
        assert MARK not in str(refused.value)
        assert MARK not in repr(refused.value.__cause__)
        assert refused.value.__suppress_context__ or refused.value.__context__ is None
        said = str(refused.value)
        assert said.endswith(".")
        # So every refusal that a test knows is one that `orrery config check` names.
        assert " ".join(examine(role=role).problems) == said
        return said


def machine_in(folder: Path, environment: pytest.MonkeyPatch) -> Machine:
    """Return an empty machine whose working directory is that folder."""
    environment.chdir(folder)
    for name in ("CREDENTIALS_DIRECTORY", CONFIG_VARIABLE):
        environment.delenv(name, raising=False)
    return Machine(folder, environment)

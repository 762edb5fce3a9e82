"""A person's git: no settings of this machine, and none of a hook that runs these tests."""

import os
from pathlib import Path

import pytest

from tests.support.repositories import Repo, new_repo

SETTINGS = '[user]\nname = Ann Example\nemail = ann@example.com\n[protocol "file"]\nallow = always\n'


@pytest.fixture(autouse=True)
def persons_git(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of the person's settings."""
    for name in [one for one in os.environ if one.startswith("GIT_")]:  # noqa: TID251  git's own
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(SETTINGS)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / ".local" / "state"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home / ".gitconfig"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Return a new repository."""
    return new_repo(tmp_path / "repo")

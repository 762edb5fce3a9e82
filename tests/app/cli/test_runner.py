"""The runner opens the store of a deployment once for a command, and closes it when the command has ended."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from orrery.adapters.sqlite import create
from orrery.adapters.sqlite.file import seize
from orrery.app.main import command_of
from orrery.app.runner import runner_of
from orrery.errors import Invalid, StoreError, StoreMissing
from orrery.runtime.console.runner import Runner, Services
from orrery.runtime.module import load
from orrery.runtime.outbox import Outbox
from orrery.runtime.settings import StoreSettings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write settings with a store."""
    create(tmp_path / "orrery.db")
    (tmp_path / "orrery.toml").write_text('[store]\npath = "orrery.db"\n')
    return tmp_path / "orrery.toml"


async def itself(services: Services) -> Services:
    """Return the services."""
    return services


async def rows(services: Services) -> list[object]:
    """Return the notifications of the store."""
    return [row async for row in services[Outbox].rows()]


def test_several_runs_share_one_open_store(config: Path) -> None:
    """A command that asks a person between two runs reads its settings and opens its store once."""
    with runner_of(config) as runner:
        first = runner.run(itself)
        config.write_text("not read again")
        assert runner.section(StoreSettings).path == config.with_name("orrery.db")
        assert runner.run(itself) is first
        assert runner.run(rows) == []


def test_the_store_is_closed_at_the_end(config: Path) -> None:
    """Nothing of the store stays open after the command, whether the command failed or not."""

    def fail() -> Outbox:
        with runner_of(config) as runner:
            found.append(runner.run(itself)[Outbox])
            raise Invalid("it fails")

    found: list[Outbox] = []
    with pytest.raises(Invalid, match="it fails"):
        fail()
    with runner_of(config) as other, pytest.raises(StoreError):
        other.run(lambda _: found[0].undelivered(None))


def test_a_command_that_asks_for_nothing_needs_no_settings(tmp_path: Path) -> None:
    """Settings are read when something of them is asked for, and not before."""
    with runner_of(tmp_path / "missing.toml") as runner, pytest.raises(Invalid, match=r"no settings file"):
        runner.run(itself)
    with runner_of(tmp_path / "missing.toml"):
        pass


def test_a_missing_store_is_an_error(config: Path) -> None:
    """A store that cannot be opened is refused as it was before any command."""
    config.with_name("orrery.db").unlink()
    with runner_of(config) as runner, pytest.raises(StoreMissing):
        runner.run(itself)


def test_unusable_secrets_count_as_missing_where_that_is_wanted(config: Path) -> None:
    """A secret that cannot be used stops every command but those that examine the secrets."""
    secrets = config.with_name("secrets")
    secrets.mkdir(mode=0o700)
    (secrets / "processor_api_key").write_text("no key")
    config.write_text(config.read_text() + '[secrets]\ndirectory = "secrets"\n')
    with runner_of(config) as runner, pytest.raises(Invalid, match="processor_api_key"):
        runner.run(itself)
    with runner_of(config) as runner:
        assert runner.run_with_usable_secrets(rows) == []


@pytest.mark.parametrize(
    "typed",
    [
        "access list",
        "access journal",
        "approvals list",
        "approvals log",
        "approvals verify",
        "checkout preflight --pending",
        "fraud log",
        "secrets announce push_token --reason rotated",
    ],
)
def test_a_command_is_handed_one_runner_and_leaves_the_store_closed(config: Path, typed: str) -> None:
    """A command of a domain asks for one runner; once it has ended, nothing of it keeps a restore out."""
    handed: list[Path | None] = []

    def counting(path: Path | None) -> AbstractContextManager[Runner]:
        handed.append(path)
        return runner_of(path)

    _, *words = typed.split()
    command = command_of(typed.split())
    assert command is not None
    group = load(command.target)
    assert isinstance(group, Typer)
    result = CliRunner().invoke(group, [*words, "--config", str(config)], obj=counting)
    assert (result.exit_code, result.exception) == (0, None)
    assert handed == [config]
    seize(config.with_name("orrery.db")).close()

"""What the cockpit keeps, and what it exports, stays out of the destinations of the tracks."""

import asyncio
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from orrery.adapters.sqlite import create
from orrery.app.cli.cockpit_backup import command
from orrery.app.cli.store import create_cockpit_store
from orrery.app.composition import opened
from orrery.app.settings.reader import Secrets, load_settings
from orrery.errors import TrackRefused
from tests.support.destinations import SETTINGS, settings_file_in

MAILBOX = '[[cockpit.mailboxes]]\nkind = "sample"\naccount = "ann@corp.example"\ntrack = "{}"\nfolder = "{}"\n'


def compose(config: Path) -> None:
    """Open the cockpit's store, as every command that reads or writes it does."""

    async def composed() -> None:
        async with opened(load_settings(config, "cockpit"), Secrets(role="cockpit")):
            pass

    asyncio.run(composed())


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS.replace("own/cockpit.db", "blog/cockpit.db"),
        SETTINGS.replace("own/cockpit.db", "team/deep/cockpit.db"),
        SETTINGS.replace("own/sign-ins", "blog/sign-ins"),
        SETTINGS + MAILBOX.format("A", "blog/drafts"),
        SETTINGS + MAILBOX.format("B", "team/drafts"),
    ],
)
def test_what_would_lie_in_a_destination_is_refused(tmp_path: Path, settings: str) -> None:
    """A store, sign-ins, or drafts of the other track there: no store is made, and none is opened."""
    config = settings_file_in(tmp_path, settings)
    application = typer.Typer()
    application.command()(create_cockpit_store)
    made = CliRunner().invoke(application, ["--config", str(config)])
    assert type(made.exception) is TrackRefused
    assert not [*tmp_path.rglob("*.db")]
    create(load_settings(config, "cockpit").store.store_file)
    with pytest.raises(TrackRefused, match="is in the"):
        compose(config)


def test_drafts_may_lie_with_their_own_track(tmp_path: Path) -> None:
    """What is of one track may go to that track's destination; the rest lies elsewhere."""
    own = MAILBOX.format("A", "team/drafts") + MAILBOX.format("B", "blog/drafts")
    config = settings_file_in(tmp_path, SETTINGS + own)
    create(tmp_path / "own" / "cockpit.db")
    compose(config)


def backed_up(config: Path, file: Path) -> BaseException | None:
    """Type `orrery cockpit backup`; return its error."""
    application = typer.Typer()
    application.command()(command)
    return CliRunner().invoke(application, [str(file), "--config", str(config)]).exception


@pytest.mark.parametrize("folder", ["team", "blog", "blog/deep", "link"])
def test_a_snapshot_goes_to_no_destination(tmp_path: Path, folder: str) -> None:
    """It holds data of both tracks; a link leads it nowhere else."""
    config = settings_file_in(tmp_path)
    create(tmp_path / "own" / "cockpit.db")
    (tmp_path / "link").symlink_to(tmp_path / "blog")
    assert type(backed_up(config, tmp_path / folder / "snapshot.db")) is TrackRefused
    assert not [*tmp_path.rglob("snapshot.db")]


def test_a_snapshot_of_a_misplaced_store_can_be_made(tmp_path: Path) -> None:
    """So that the data gets out of a destination in which it should never have been."""
    config = settings_file_in(tmp_path)
    create(tmp_path / "own" / "cockpit.db")
    compose(config)
    (tmp_path / "own" / "cockpit.db").rename(tmp_path / "blog" / "cockpit.db")
    config.write_text(SETTINGS.replace("own/cockpit.db", "blog/cockpit.db"))
    assert backed_up(config, tmp_path / "snapshot.db") is None
    assert (tmp_path / "snapshot.db").exists()

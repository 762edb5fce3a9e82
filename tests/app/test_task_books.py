"""Whose To Do has the tasks of which rows: never one of the other track."""

from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.app.adapters import Adapters
from orrery.app.settings.reader import Secrets, load_settings
from orrery.errors import Invalid, TrackRefused
from orrery.ports.comms.tasks import TaskBooks
from tests.support.tracks import ANN_A, ANN_B, BOB_A, track_toml

CY_A, CY_B = "cy@corp.example", "cy@lab.example"
MAILBOXES = f"""
[[cockpit.mailboxes]]
kind = "microsoft"
account = "{ANN_A}"
[[cockpit.mailboxes]]
kind = "microsoft"
account = "{BOB_A}"
[[cockpit.mailboxes]]
kind = "sample"
account = "{CY_A}"
track = "A"
folder = "drafts"
[[cockpit.mailboxes]]
kind = "microsoft"
account = "{ANN_B}"
[[cockpit.mailboxes]]
kind = "imap"
account = "{CY_B}"
track = "B"
host = "imap.lab.example"
"""


def books(folder: Path, text: str) -> dict[tuple[str, str], str]:
    """Return the account that has the tasks of each mailbox, but for those in the ledger."""
    file = folder / "orrery.toml"
    tracks = track_toml("https://127.0.0.1:1", folder, folder).partition("[cockpit]")
    _ = file.write_text(tracks[1] + tracks[2] + MAILBOXES + text)
    adapters = Adapters(load_settings(file, "cockpit"), Secrets(role="cockpit"), SystemClock())
    return {mailbox: book.account for mailbox, book in adapters.port(TaskBooks).of_mailbox.items()}


def test_no_track_is_named(tmp_path: Path) -> None:
    """Every task stays in the ledger."""
    assert books(tmp_path, "") == {}


def test_a_track_that_is_named(tmp_path: Path) -> None:
    """A Microsoft account has the tasks of its own rows; the one that is named has those of the track's others."""
    assert books(tmp_path, f'[cockpit.to_do]\nA = "{BOB_A.title()}"\n') == {
        ("A", ANN_A): ANN_A,
        ("A", BOB_A): BOB_A,
        ("A", CY_A): BOB_A,
    }
    assert books(tmp_path, f'[cockpit.to_do]\nB = "{ANN_B}"\n') == {("B", ANN_B): ANN_B, ("B", CY_B): ANN_B}


@pytest.mark.parametrize(("track", "account"), [("A", ANN_B), ("B", ANN_A)])
def test_an_account_of_the_other_track(tmp_path: Path, track: str, account: str) -> None:
    """It is refused, by the key and the account's own track."""
    with pytest.raises(TrackRefused, match=rf"\[cockpit.to_do\] {track} names {account}"):
        books(tmp_path, f'[cockpit.to_do]\n{track} = "{account}"\n')


def test_an_account_that_is_not_allowed(tmp_path: Path) -> None:
    """The settings do not have it: the sentence lists those that there are."""
    with pytest.raises(Invalid, match="Choose one of"):
        books(tmp_path, f'[cockpit.to_do]\nA = "{CY_A}"\n')

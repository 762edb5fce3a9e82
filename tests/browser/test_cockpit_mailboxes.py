"""The cockpit's page over a mailbox at Microsoft Graph that has a lot, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from orrery.adapters.sqlite import create
from tests.browser.cockpit_desk import Desk
from tests.support.cockpit import Cockpit
from tests.support.graph import WRITING, GraphBox, graph
from tests.support.tracks import ANN_A, Tracks, track_toml

DELTA = "GET /me/mailFolders/{id}/messages/delta"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[GraphBox]:
    """Return a Microsoft Graph whose inbox has 2,000 messages besides, and holds back the third page of them."""
    with graph(tmp_path) as box:
        box.fill(ANN_A, 2000)
        box.fault("graph_hang", DELTA, skip=3)  # sent mail comes first
        yield box


@pytest.fixture
def cockpit(box: GraphBox, tmp_path: Path) -> Iterator[Cockpit]:
    """Return a cockpit over that inbox, which has just begun to read it."""
    tracks = Tracks(box, tmp_path, WRITING)
    tracks.sign_in(ANN_A)
    file = tmp_path / "orrery.toml"
    mailbox = f'[[cockpit.mailboxes]]\nkind = "microsoft"\naccount = "{ANN_A}"\ndays = 0\nsources = ["mail"]\n'
    file.write_text(track_toml(box.authority, tmp_path, box.ca_file, WRITING) + mailbox)
    create(tmp_path / "cockpit.db")
    found = Cockpit(tmp_path, "--config", str(file))
    try:
        found.enter(found.wait().code)
        yield found
    finally:
        _ = found.program.end()
        found.program.clear_away()


def test_a_large_mailbox_fills_in(page: Page, cockpit: Cockpit) -> None:
    """The newest rows are there while the rest is read, with their number; one that breaks off goes on later."""
    desk = Desk(page, cockpit).begin()
    strip = page.locator("#mailboxes")
    expect(strip).to_contain_text("Being read")
    expect(strip).to_contain_text("250 rows so far")
    desk.count(250)
    expect(desk.rows.first).to_contain_text("Lunch?")
    expect(strip).to_contain_text("Stale")
    desk.press("r")
    desk.count(2004)
    expect(strip).to_contain_text("All mailboxes are fresh")

"""The journal of the tracks, over both stores."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from orrery.errors import Invalid
from orrery.ports.store import Put, Store
from orrery.syntax.track import Track
from orrery.tenants.accounts import TrackAccount
from orrery.tenants.journal import LONGEST_TEXT, Journal, NewEntry
from tests.support.clock import ManualClock
from tests.support.stores import ADAPTERS, opened
from tests.support.tables import each_case


class Desk:
    """A journal whose clock is moved by hand."""

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self.store, self.clock = store, clock
        self.journal = Journal(store, clock)

    async def write(self, track: Track, *texts: str) -> None:
        """Write entries, a second apart."""
        for text in texts:
            _ = await self.journal.add(NewEntry(track, text))
            self.clock.advance(1)

    async def listed(self, limit: int, track: Track | None = None) -> list[str]:
        """Return the texts of the newest entries."""
        return [one.text for one in (await self.journal.read(track)).whole()[:limit]]


@pytest.fixture(params=ADAPTERS)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Desk]:
    """Return a journal over a new store."""
    clock = ManualClock()
    async with opened(request.param, tmp_path, clock) as store:
        yield Desk(store, clock)


async def test_the_newest_come_first(desk: Desk) -> None:
    """As many as were asked for, of one track or of both."""
    await desk.write("A", "one", "two")
    await desk.write("B", "three")
    await desk.write("A", "four")
    assert await desk.listed(10) == ["four", "three", "two", "one"]
    assert await desk.listed(2) == ["four", "three"]
    assert await desk.listed(2, "A") == ["four", "two"]
    assert await desk.listed(2, "B") == ["three"]


async def test_one_track_is_found_behind_many_entries_of_the_other(desk: Desk) -> None:
    """The limit counts what is listed, not what is read."""
    await desk.write("B", "first")
    await desk.write("A", *map(str, range(250)))
    assert await desk.listed(1, "B") == ["first"]


@pytest.mark.parametrize("stored", [b'{"v": 1, "text": "x", "created_at": "2026-11-21T12:00:00Z"}', b"{", b""])
async def test_an_entry_without_its_track_is_of_neither(desk: Desk, stored: bytes) -> None:
    """It is named, whatever was asked for, and its text is not shown."""
    await desk.write("A", "one")
    _ = await desk.store.commit([Put("track-journal:20270101T000000.000000Z:00000000", stored)])
    for track in ("A", "B", None):
        found = await desk.journal.read(track)
        assert [one.record.text for one in found.records] == ([] if track == "B" else ["one"])
        assert [one.name for one in found.unreadable] == ["track-journal:20270101T000000.000000Z:00000000"]


def test_an_account_is_of_the_entry_s_track() -> None:
    """A label that contradicts the account would be wrong for one of the two."""
    assert NewEntry("A", "one", TrackAccount("ann@corp.example", "A", "Corporate"))
    with pytest.raises(Invalid, match=r"track:A\], Corporate\) cannot be in an entry of track B\."):
        _ = NewEntry("B", "one", TrackAccount("ann@corp.example", "A", "Corporate"))


@each_case("text", ["", " \n", "x" * (LONGEST_TEXT + 1), "a\x1b[2Jb", "a\0b", "a\u202eb"])
def test_a_text_can_be_read(text: str) -> None:
    """Empty, without end, or steering a terminal, it is refused; several lines are one text."""
    assert NewEntry("A", "one\n\ttwo").text == "one\n\ttwo"
    with pytest.raises(Invalid, match=r"^The text "):
        _ = NewEntry("A", text)

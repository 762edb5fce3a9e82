"""Exporting and erasing a person in the journal of the tracks (decision 51)."""

from pathlib import Path

from orrery.ports.store import Put, Store
from orrery.runtime.privacy import Privacy
from orrery.tenants.accounts import TrackAccount
from orrery.tenants.journal import Journal, NewEntry
from orrery.tenants.privacy import journal_data
from tests.support.clock import ManualClock
from tests.support.stores import opened


def privacy_of(store: Store, clock: ManualClock) -> Privacy:
    return Privacy(store, [journal_data(store, clock).source("journal", 20)])


async def texts(store: Store, clock: ManualClock) -> list[str]:
    """Return the texts of the journal."""
    return [one.text for one in (await Journal(store, clock).read()).whole()]


async def test_a_person_is_exported_with_the_track_and_erased(tmp_path: Path) -> None:
    """By an entry's text and by its account; a copy of the export still says whose data it is."""
    clock = ManualClock()
    async with opened("memory", tmp_path, clock) as store:
        journal, privacy = Journal(store, clock), privacy_of(store, clock)
        _ = await journal.add(NewEntry("B", "Called\nBo@Lab.Example"))
        clock.advance(1)
        _ = await journal.add(NewEntry("B", "Signed in", TrackAccount("bo@lab.example", "B", "Lab")))
        _ = await journal.add(NewEntry("A", "Called jobo@lab.example"))
        exported = (await privacy.export("bo@lab.example"))["journal"]
        assert [(one["track"], one["account"]) for one in exported if isinstance(one, dict)] == [
            ("B", ""),
            ("B", "bo@lab.example"),
        ]
        _ = await privacy.erase("bo@lab.example", "as Bo asked")
        assert await texts(store, clock) == ["Called jobo@lab.example"]


async def test_an_erasure_is_repeated_in_a_restored_store(tmp_path: Path) -> None:
    """The entry of an older snapshot goes again, once; the note of it names nobody."""
    clock = ManualClock()
    (tmp_path / "restored").mkdir()
    async with (
        opened("sqlite", tmp_path, clock) as store,
        opened("sqlite", tmp_path / "restored", clock) as restored,
    ):
        for text in ("Called bo@lab.example", "Called Cy"):
            _ = await Journal(store, clock).add(NewEntry("A", text))
        _ = await restored.commit([Put(one.key, one.value) for one in await store.scan("track-journal:")])
        clock.advance(60)
        _ = await privacy_of(store, clock).erase("bo@lab.example", "as Bo asked")
        again = privacy_of(restored, clock)
        assert await again.erase_again(await again.erasures(store)) == (1, [])
        assert await texts(restored, clock) == ["Called Cy"]
        assert await again.erase_again(await again.erasures(store)) == (0, [])
        assert not [one for one in await restored.scan("") if b"bo@lab" in one.value or "bo@lab" in one.key]

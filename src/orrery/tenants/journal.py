"""The journal of the tracks: what was done, each entry labelled with its track (spec 3, Authentication 4)."""

import secrets
from dataclasses import dataclass

from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import FOR_EVER, Collection, RecordPage, commit, sortable
from orrery.syntax.track import Track
from orrery.tenants.accounts import TrackAccount
from orrery.tenants.records import TrackJournalEntry

ENTRY = "track-journal:"

LONGEST_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class NewEntry:
    """What a person writes into the journal."""

    track: Track
    text: str
    account: TrackAccount | None = None

    def __post_init__(self) -> None:
        if self.account and self.account.track != self.track:
            raise Invalid(f"The account {self.account} cannot be in an entry of track {self.track}.")
        if not self.text.strip() or len(self.text) > LONGEST_TEXT:
            raise Invalid(f"The text must be 1 to {LONGEST_TEXT} characters, not all of them blank.")
        if not all(one.isprintable() or one in "\t\n" for one in self.text):
            raise Invalid("The text has a character in it that cannot be printed, such as a control character.")


def entries(store: Store, clock: Clock) -> Collection[TrackJournalEntry]:
    """Return the collection of the journal's entries, by time."""
    return Collection(store, clock, TrackJournalEntry, ENTRY, life=FOR_EVER)


class Journal:
    """Keeps what was done, each entry with its track."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.entries = entries(store, clock)

    async def add(self, new: NewEntry) -> str:
        """Add an entry, and return its id."""
        now = self._clock.now()
        entry_id = f"{sortable(now)}:{secrets.token_hex(4)}"
        account = new.account.name if new.account else ""
        entry = TrackJournalEntry(track=new.track, account=account, text=new.text, created_at=now)
        _ = await commit(self._store, self.entries.changes(entry_id, None, entry))
        return entry_id

    async def read(self, track: Track | None = None) -> RecordPage[TrackJournalEntry]:
        """Return the entries of one track or of both, the newest first.

        What cannot be read on the way is named whatever the track: it may be of either.
        """
        found: RecordPage[TrackJournalEntry] = RecordPage()
        async for page in self.entries.pages(newest_first=True):
            wanted = [one for one in page.records if track in (None, one.record.track)]
            found += RecordPage(wanted, page.unreadable)
        return found

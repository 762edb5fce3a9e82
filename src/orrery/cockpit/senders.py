"""Who wrote each row, judged by what was read of its track: no row shows anything of the other track's people."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from orrery.cockpit.correspondents import Correspondents
from orrery.cockpit.inbox import Inbox
from orrery.cockpit.rows import CockpitRow, RowId
from orrery.cockpit.sender_warnings import alarms_of
from orrery.ports.comms.messages import Person
from orrery.syntax.track import Track


@dataclass(frozen=True, slots=True)
class KnownSenders:
    """What was read of a track, the people in it, and the first alarm of each row that has one, by its key."""

    rows: Sequence[Sequence[CockpitRow]]
    written_to: Sequence[Person]
    people: Correspondents
    alarms: Mapping[RowId, str]


@dataclass(slots=True)
class Senders:
    """The people of each track, as the rows show them; made again when these change."""

    inboxes: Sequence[Inbox]
    _known: dict[Track, KnownSenders] = field(default_factory=dict[Track, KnownSenders])

    async def people(self, track: Track) -> Correspondents:
        """Return with whom mail was exchanged in a track."""
        return (await self._of(track)).people

    async def alarms(self) -> Mapping[RowId, str]:
        """Return a sentence for each row whose sender may pose as another."""
        tracks: set[Track] = {one.mailbox.track for one in self.inboxes}
        return {key: words for track in tracks for key, words in (await self._of(track)).alarms.items()}

    async def _of(self, track: Track) -> KnownSenders:
        inboxes = [one for one in self.inboxes if one.mailbox.track == track]
        rows, before = [one.rows for one in inboxes], self._known.get(track)
        written_to = [person for one in inboxes for person in one.written_to]
        if before is not None and (before.rows, before.written_to) == (
            rows,
            written_to,
        ):  # the rows of before are the same objects: this is quick
            return before
        here, elsewhere = (self._own(track, is_here=one) for one in (True, False))
        # Of 50,000 messages it takes half a second.
        found = self._known[track] = await asyncio.to_thread(_known, rows, here, elsewhere, written_to)
        return found

    def _own(self, track: Track, *, is_here: bool) -> set[str]:
        mailboxes = (one.mailbox for one in self.inboxes if (one.mailbox.track == track) is is_here)
        return {address for one in mailboxes for address in one.own_addresses}


def _known(
    rows: Sequence[Sequence[CockpitRow]],
    here: Iterable[str],
    elsewhere: Iterable[str],
    written_to: Sequence[Person],
) -> KnownSenders:
    every = [row for several in rows for row in several]
    people = Correspondents((row.message for row in every), here, elsewhere, written_to)
    found = ((row, alarms_of(row.message, people)) for row in every)
    return KnownSenders(rows, written_to, people, {row.id: some[0].words for row, some in found if some})

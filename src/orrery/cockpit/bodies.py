"""The texts of messages that were read lately (spec 3, Limits: 100 entries, 10 minutes)."""

import asyncio

from cachetools import TTLCache

from orrery.cockpit.plain_text import plain_text
from orrery.ports.clock import Clock
from orrery.ports.comms.mailboxes import Mailbox
from orrery.ports.comms.messages import Source
from orrery.runtime.tasks import Tasks
from orrery.syntax.track import Track

MOST = 100
"""Entries (spec 3, Limits)."""

SECONDS = 600.0
"""How long an entry is good (spec 3, Limits)."""

_Key = tuple[Track, str, Source, str]


class Bodies:
    """Texts by track, account, source and id. Callers at the same time share one load; a failure is not kept."""

    def __init__(self, clock: Clock, tasks: Tasks) -> None:
        self._tasks = tasks
        self._texts: TTLCache[_Key, str] = TTLCache(MOST, SECONDS, timer=clock.monotonic)
        self._loads: dict[_Key, asyncio.Task[str]] = {}

    async def text(self, mailbox: Mailbox, source: Source, source_id: str) -> str:
        """Return the plain text of a message; raise `RowGone` and the mailbox's errors."""
        key = (mailbox.track, mailbox.account, source, source_id)
        if (found := self._texts.get(key)) is not None:
            return found
        if key not in self._loads:
            load = self._loads[key] = self._tasks.start(self._load(mailbox, key))
            load.add_done_callback(lambda _: self._loads.pop(key, None))
        return await asyncio.shield(self._loads[key])

    async def _load(self, mailbox: Mailbox, key: _Key) -> str:
        _, _, source, source_id = key
        body = await mailbox.body(source, source_id)
        text = await asyncio.to_thread(plain_text, body)  # a large one takes most of a second
        self._texts[key] = text
        return text

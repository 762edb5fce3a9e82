"""Which browsers opened an access. A browser is known by a keyed digest of its cookie's id."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from orrery.checkout.browser_records import BY_BROWSER, CROWDED, MOST, AccessBrowsers, OpenedBrowser
from orrery.checkout.collections import CheckoutRecords
from orrery.ports.store import Conflict
from orrery.runtime.collection import Changes, RecordPage, Walk, commit, compare_and_set, gathered, sortable

_BUSY = "The browsers of one access change all the time."

USE_NOTED = timedelta(hours=1)
"""How often the use of a browser is written at most: the order in which browsers give way is as fine."""

STAYS = timedelta(days=1)
"""How long a browser that was used gives way to no other: a link that many share closes none that is in use.

Each one that gives way makes every node forget whom it lets in.
"""


class Browsers:
    """Opens access in browsers, and finds what a browser has opened. Raises the store's errors."""

    def __init__(self, stored: CheckoutRecords) -> None:
        self._stored = stored

    async def of(self, browser: str) -> RecordPage[AccessBrowsers]:
        """Return the accesses that a browser opened."""
        return await gathered(self._stored.browsers.indexed(Walk(f"{BY_BROWSER}{browser}:")))

    async def crowded(self, most: int) -> list[str]:
        """Return the sessions whose access opens in no further browser now, `most` at most; last first."""
        last_day = self._stored.clock.now() - STAYS + timedelta.resolution
        walk = Walk(CROWDED, most, until=f"{CROWDED}{sortable(last_day)}", newest_first=True)
        entries = walk.entries(self._stored.store, self._stored.clock)
        return [one.key.rpartition(":")[2] async for one in entries]

    async def open_first(self, session_id: str, browser: str) -> bool:
        """Open an access that no browser has opened; return whether it is open in this one."""
        return await self._open(session_id, browser, first=True)

    async def may_be_first(self, session_id: str, browser: str) -> bool:
        """Return whether `open_first` would open an access."""
        found = await self._stored.browsers.find(session_id)
        return found is None or browser in {one.browser for one in found.record.browsers}

    async def open(self, session_id: str, browser: str) -> bool:
        """Open an access in one more browser, which counts from when it comes back with its cookie.

        Return whether there is a place for it.
        """
        return await self._open(session_id, browser, first=False)

    async def _open(self, session_id: str, browser: str, *, first: bool) -> bool:
        async def attempt() -> bool | Conflict:
            found, now = await self._stored.browsers.get(session_id), self._stored.clock.now()
            known = found.record.browsers if found else ()
            if not _has_place(browser, known, now):
                return False
            if browser in {one.browser for one in known}:
                return True
            if first and known:
                return False
            left = _that_stay([*known, OpenedBrowser(browser=browser, opened_at=now)])
            record = AccessBrowsers(session_id=session_id, browsers=left)
            record = found.record.change(browsers=left) if found else record
            changes = self._stored.browsers.changes(session_id, found, record, renewed=True)
            outcome = await commit(self._stored.store, changes)
            return outcome if isinstance(outcome, Conflict) else True

        return await compare_and_set(attempt, _BUSY)

    async def use(self, session_id: str, browser: str) -> bool:
        """Note that a browser came with its cookie, once an hour; return whether it may open the access."""

        async def attempt() -> bool | Conflict:
            found, now = await self._stored.browsers.get(session_id), self._stored.clock.now()
            known = {one.browser: one for one in found.record.browsers} if found else {}
            if found is None or browser not in known:
                return False
            used_at = known[browser].used_at
            if used_at and now - used_at < USE_NOTED:
                return True
            if not _has_place(browser, [*known.values()], now):
                return False
            known[browser] = known[browser].change(used_at=now)
            left = _that_stay([*known.values()])
            changes = self._stored.browsers.changes(
                session_id, found, found.record.change(browsers=left), renewed=True
            )
            if len(left) < len(known):
                changes += self._stored.taken_back()
            outcome = await commit(self._stored.store, changes)
            return outcome if isinstance(outcome, Conflict) else True

        return await compare_and_set(attempt, _BUSY)

    async def closed(self, session_id: str) -> Changes:
        """Return what closes an access in all of its browsers, as part of a commit."""
        found = await self._stored.browsers.find(session_id)
        gone = self._stored.browsers.changes(session_id, found, None) if found else Changes()
        return gone + self._stored.taken_back()


def _has_place(browser: str, known: Sequence[OpenedBrowser], now: datetime) -> bool:
    """Return whether a browser need not take the place of one that was used within a day."""
    others = [one for one in known if one.used_at and one.browser != browser]
    return sum(_time(one) > now - STAYS for one in others) < MOST


def _that_stay(browsers: Sequence[OpenedBrowser]) -> tuple[OpenedBrowser, ...]:
    """Return the latest used, and the latest opened of those that never came back: these do not count."""
    used = sorted((one for one in browsers if one.used_at), key=_time, reverse=True)
    unused = sorted((one for one in browsers if not one.used_at), key=_time, reverse=True)
    return (*used[:MOST], *unused[:MOST])


def _time(browser: OpenedBrowser) -> datetime:
    return browser.used_at or browser.opened_at

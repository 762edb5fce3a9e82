"""Checks the practice pages of `[[sites]]` each day, and again every ten minutes while something is wrong."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from orrery.checkout.site.check import SiteCheck
from orrery.checkout.site.practice import PracticePages
from orrery.checkout.site.proving import LEAKS, Found
from orrery.checkout.site_records import CheckedSite
from orrery.errors import StoreError
from orrery.ports.health import ACT_TODAY, URGENT, Finding
from orrery.ports.web_sites import SiteNotReached
from orrery.runtime.collection import Collection, write

EVERY = timedelta(minutes=10)
"""How often the job looks whether a check is due."""

DAILY = timedelta(days=1)
"""How often a site is checked that is well."""

MOST = 20
"""Faults of a site that are stored."""

RemoteCheck = tuple[str, Callable[[], Awaitable[Finding]]]


class SiteWatch:
    """Keeps the result of the last check of each site."""

    def __init__(self, checked: Collection[CheckedSite], check: SiteCheck, pages: Sequence[PracticePages]) -> None:
        self._checked = checked
        self._check = check
        self._pages = pages
        self.origins = list(dict.fromkeys(one.origin for one in pages))

    async def check_due(self) -> None:
        """Check the sites whose check is due; raise the store's errors."""
        for origin in self.origins:
            known = await self._known(origin)
            if known is None or known.since or abs(self._checked.clock.now() - known.checked_at) >= DAILY:
                _ = await self.check(origin)

    async def check(self, origin: str) -> CheckedSite:
        """Check a site, and keep the result; raise the store's errors."""
        known = await self._known(origin)
        try:
            found = [one for pages in self._of(origin) for one in await self._check.run(pages)]
        except SiteNotReached as error:
            faults, leaks, why = (known.faults, known.leaks, str(error)) if known else ((), False, str(error))
        else:
            asks_gate = any(pages.site.asks_gate for pages in self._of(origin))
            if not asks_gate and any(one.fault == "hosted pages" for one in found):
                # Practice pages that ask `access/check` on their own server: it knows its buyers by itself.
                found = [one for one in found if one.fault in LEAKS]
            faults, leaks, why = _named(found), any(one.fault in LEAKS for one in found), ""
        now = self._checked.clock.now()
        since = (known and known.since) or now
        checked = CheckedSite(
            checked_at=now,
            since=since if faults or why else None,
            not_reached=why,
            faults=faults,
            leaks=leaks,
        )
        await write(self._checked.store, [self._checked.put(checked, origin)])
        return checked

    async def local(self) -> list[Finding]:
        """Return what the last checks found."""
        try:
            known = [(origin, await self._known(origin)) for origin in self.origins]
        except StoreError:  # that has a separate finding
            return []
        return [one for origin, last in known if last for one in (_reached(origin, last), _proved(origin, last))]

    def remote(self) -> list[RemoteCheck]:
        """Return the checks that ask the sites; the second of a site reports what the first has found."""
        return [
            (named(origin), partial(judge, origin))
            for origin in self.origins
            for named, judge in ((_site, self._ask), (_practice_pages, self._asked))
        ]

    async def _ask(self, origin: str) -> Finding:
        return _reached(origin, await self.check(origin))

    async def _asked(self, origin: str) -> Finding:
        return _proved(origin, (await self._checked.require(origin)).record)

    async def _known(self, origin: str) -> CheckedSite | None:
        found = await self._checked.find(origin)
        return found.record if found else None

    def _of(self, origin: str) -> list[PracticePages]:
        return [one for one in self._pages if one.origin == origin]


def _named(found: Sequence[Found]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{one.fault}: {one.path} {one.how}" for one in found))[:MOST]


def _site(origin: str) -> str:
    return f"site {origin}"


def _practice_pages(origin: str) -> str:
    return f"practice pages of {origin}"


def _reached(origin: str, last: CheckedSite) -> Finding:
    if not last.not_reached:
        return Finding(_site(origin), "ok", _at(last.checked_at), essential=False)
    todo = f"Look whether its web server runs; then `orrery site check {origin}`."
    return Finding(
        _site(origin), "broken", last.not_reached, todo, essential=False, early=last.since == last.checked_at
    )


def _proved(origin: str, last: CheckedSite) -> Finding:
    part = _practice_pages(origin)
    if not last.faults:
        return Finding(part, "ok", "" if last.not_reached else "nothing leaks", essential=False)
    first, *others = last.faults
    more = f", and {len(others)} more" if others else ""
    return Finding(
        part,
        "broken",
        f"{'It leaks' if last.leaks else 'Not as it must be'}: {first}{more}.",
        f"`orrery site check {origin}` has the lines of configuration that fix it.",
        essential=False,
        # One look may have met a web server that had just begun; a leak is no such thing.
        early=last.since == last.checked_at and not last.leaks,
        severity=URGENT if last.leaks else ACT_TODAY,
        items=last.faults,
    )


def _at(time: datetime) -> str:
    return f"checked {time:%Y-%m-%d %H:%M} UTC"

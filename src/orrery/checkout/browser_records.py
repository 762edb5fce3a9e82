"""What is stored of the browsers that opened access: see `access/browsers.py`."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.record import Id, Personal, Record, RecordPart
from orrery.runtime.collection import FOR_EVER, Collection, sortable

KEEP_BROWSERS = timedelta(days=400)
"""How long a browser that comes no more is remembered, as long as it keeps its cookie (facts, Gate and cookie)."""

BY_BROWSER, CROWDED = "access-by-browser:", "access-crowded:"

MOST = 10
"""Browsers of one access: a person's phone is two or three (facts, One tap)."""


class OpenedBrowser(RecordPart):
    """A browser that opened an access; `browser` is a keyed digest. `used_at` is None before its first visit."""

    browser: Id
    opened_at: AwareDatetime
    used_at: AwareDatetime | None = None


class AccessBrowsers(Record):
    """The browsers that opened one access."""

    session_id: Id
    browsers: Annotated[tuple[OpenedBrowser, ...], Personal]


class AccessGeneration(Record):
    """When access was last taken back from anybody: what a node remembers as open counts no more then."""

    changed_at: AwareDatetime


def browsers_of(store: Store, clock: Clock) -> Collection[AccessBrowsers]:
    """Return the browsers, by session; indexed by each browser, and by when the last one with a place was used."""
    return Collection(store, clock, AccessBrowsers, "access-browsers:", _index, life=KEEP_BROWSERS)


def generation_of(store: Store, clock: Clock) -> Collection[AccessGeneration]:
    """Return the one record of when access was taken back."""
    return Collection(store, clock, AccessGeneration, "access-generation", derived=True, life=FOR_EVER)


def _index(opened: AccessBrowsers) -> Iterable[str]:
    by_browser = [f"{BY_BROWSER}{one.browser}:{opened.session_id}" for one in opened.browsers]
    latest = sorted((one.used_at for one in opened.browsers if one.used_at), reverse=True)
    full = [f"{CROWDED}{sortable(one)}:{opened.session_id}" for one in latest[MOST - 1 : MOST]]
    return [*by_browser, *full]

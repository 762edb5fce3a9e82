"""Each job of each module commits under its lease, and the page of several nodes names what it does elsewhere."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar, cast

from orrery.adapters.memory import MemoryStore
from orrery.app.adapters import Adapters
from orrery.app.composition import composed
from orrery.app.settings.reader import Secrets, Settings, settings_from
from orrery.checkout.collections import CheckoutRecords
from orrery.ports.analytics import Analytics
from orrery.ports.clock import Clock
from orrery.ports.counter import Counter
from orrery.ports.heartbeat import Heartbeat
from orrery.ports.notifier import Notifiers
from orrery.ports.processor import Processor, ProcessorReads, ProcessorWrites
from orrery.ports.store import Check, Committed, Conflict, Write
from orrery.ports.tracker import Tracker
from orrery.ports.web_sites import WebSites
from orrery.runtime import outbox
from orrery.runtime.jobs import Job
from orrery.runtime.outbox import OutboxDraft
from orrery.runtime.outbox_lanes import CHANNELS
from orrery.runtime.tasks import Tasks
from tests.docs.documents import ROOT
from tests.support.analytics import MemoryAnalytics
from tests.support.checkout import INDEX_KEY, PRODUCT, NoSites, offer, record, session
from tests.support.clock import START, ManualClock, settled
from tests.support.marked import SECRETS, analytics_key
from tests.support.notifiers import ScriptedNotifier
from tests.support.package_copy import SOURCE
from tests.support.processor import ScriptedProcessor
from tests.support.shift import at_work
from tests.support.tables import each_case
from tests.support.trackers import MemoryTracker, ScriptedCounter

T = TypeVar("T")

COMMITS_NOTHING = {"heartbeat"}
"""It reads, and sends a request."""

_SELLS = {"vendor_slug": PRODUCT.vendor_slug, "cert_code": PRODUCT.cert_code, "title": PRODUCT.title}
_PAGES = {"success_url": "https://shop.example/?s={CHECKOUT_SESSION_ID}", "cancel_url": "https://shop.example/"}
_NORTH = {
    "origin": "https://north.example",
    "name": "North",
    "practice_url": "https://north.example/{vendorSlug}/{certCode}/",
}
EVERYTHING: Mapping[str, object] = {
    "mode": "test",
    "checkout": {
        "seller": "North Ltd",
        "number_series": "NW",
        "products": [
            {**_SELLS, "price_id": PRODUCT.price_id},
            {**_SELLS, "cert_code": "ccsp", "price_id": "price_ccsp", "site": "North"},
        ],
        **_PAGES,
    },
    "sites": [_NORTH],
    "live": {"property_id": "1"},
    "heartbeat": {"url": "https://watcher.example/ping"},
}
"""Settings by which each module has all of its jobs."""


class CommitsSeen(MemoryStore):
    """A store that keeps the keys that each commit wrote, and what it checked."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.seen = list[tuple[set[str], Sequence[Check]]]()

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Pass on."""
        self.seen.append(({one.key for one in writes}, checks))
        return await super().commit(writes, checks, commit_id=commit_id)


class Beats:
    """A watcher that takes each heartbeat."""

    async def send(self) -> None:
        """Take it."""


class InMemory(Adapters):
    """Vendors in memory; the ports to this machine have their adapters."""

    def port(self, kind: type[T]) -> T:
        """Return the adapter of a port."""
        made = self.once(_vendors).get(kind)
        return cast("T", made) if made else super().port(kind)


def _vendors(adapters: Adapters) -> dict[type, object]:
    clock = cast("ManualClock", adapters.clock)
    processor = ScriptedProcessor(clock)
    processor.add(session("cs_new", created=START + timedelta(minutes=2)))
    return {
        **dict.fromkeys((Processor, ProcessorReads, ProcessorWrites), processor),
        Analytics: MemoryAnalytics(),
        Counter: ScriptedCounter(clock),
        Tracker: MemoryTracker(),
        WebSites: NoSites(),
        Heartbeat: Beats(),
        Notifiers: Notifiers({channel: ScriptedNotifier() for channel in CHANNELS}),
    }


def jobs_over(store: CommitsSeen, clock: ManualClock, settings: Settings) -> list[Job]:
    """Return the jobs of all modules of a role over a store."""
    secrets = Secrets.of(SECRETS | {"analytics_service_account_key": analytics_key(1)}, settings.role)
    orrery = composed(InMemory(settings, secrets, clock), store, INDEX_KEY, Tasks())
    return [one for parts in orrery.modules for one in parts.jobs]


async def fill(store: CommitsSeen, clock: ManualClock) -> None:
    """Store something to do for each job."""
    stored = CheckoutRecords(store, clock, INDEX_KEY)
    drafts = [OutboxDraft(one, one, "t", "b", to="ann@example.org") for one in CHANNELS]
    old = offer("cs_old", created_at=START.replace(year=2025))
    await store.commit(
        [
            *outbox.enqueue(drafts, clock.now()),
            *stored.offers.writes(old, "cs_old"),
            *stored.access.writes(record("cs_sold", sale_series="NW"), "cs_sold"),
        ]
    )
    store.seen.clear()


SITE, COCKPIT = settings_from(EVERYTHING, Path()), settings_from({}, Path(), "cockpit")
JOBS = [one for role in (SITE, COCKPIT) for one in jobs_over(CommitsSeen(ManualClock()), ManualClock(), role)]
LEASED = [one.name for one in JOBS if not one.everywhere]


def test_every_job_is_looked_at() -> None:
    """The settings here bring each job that the source makes: that of a delivery comes once for each channel."""
    sources = (one.read_text() for one in SOURCE.rglob("*.py"))
    made = sum(len(re.findall(r"(?<![\w.])(?<!class )Job\(", source)) for source in sources)
    assert len(JOBS) == made + len(CHANNELS) - 1


@each_case("name", LEASED)
async def test_a_job_commits_under_its_lease(name: str) -> None:
    """What a job writes has the check of its lease, and each but those named above writes something here."""
    store = CommitsSeen(clock := ManualClock())
    await fill(store, clock)
    (job,) = (one for one in jobs_over(store, clock, SITE) if one.name == name)
    async with at_work(store, clock, [job]) as workers:
        clock.advance(job.every.total_seconds() * job.aligned)
        await settled()
        assert workers.failing == {}
    lease = f"lease:{name}"
    checked = [[one for one in checks if one.key == lease] for keys, checks in store.seen if lease not in keys]
    assert [len(one) for one in checked] == [1] * len(checked)
    assert bool(checked) != (name in COMMITS_NOTHING)


def test_the_page_names_what_each_does_elsewhere() -> None:
    """The table of what may happen twice has each job that one process of several does."""
    page = (ROOT / "docs/explanation/several-nodes.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    assert sorted(re.findall("`(.+?)`", " ".join(rows))) == sorted([*LEASED, "refresh the live count"])

"""A start reads no more of a large store than of a small one, whatever is in it (decision record 76)."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from http import HTTPStatus
from pathlib import Path

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.app.adapters import Adapters
from orrery.app.composition import migrated
from orrery.app.http_apps import apps_of
from orrery.app.modules import MODULES
from orrery.app.settings.reader import Secrets, settings_from
from orrery.app.store_place import clock_of
from orrery.checkout.browser_records import CROWDED
from orrery.ports.store import Put, Write
from orrery.runtime.collection import sortable
from orrery.runtime.index_key import index_key
from orrery.runtime.outbox import MOST_COUNTED, ROW, Notification
from orrery.runtime.readiness import Readiness
from orrery.runtime.tasks import Tasks
from tests.support.marked import SECRETS
from tests.support.requests import client_of
from tests.support.unreliable_store import UnreliableStore

Content = Callable[[int, datetime], Iterator[Write]]

SETTINGS = settings_from(
    {
        "mode": "sandbox",
        "checkout": {
            "processor_url": "http://127.0.0.1:9",
            "success_url": "http://127.0.0.1/success?session_id={CHECKOUT_SESSION_ID}",
            "cancel_url": "http://127.0.0.1/cancelled",
            "products": [{"vendor_slug": "a", "cert_code": "b", "title": "c", "price_id": "price_c"}],
        },
        "live": {"property_id": "1"},
        "gateway": {"pings": True},
        "push": {"url": "http://127.0.0.1:9", "topic": "owner"},
    },
    Path(),
)

FEW = {
    "node:": "one for each service of the last day",
    "outage:": "at most one for each part",
    "pending:": "paid sessions without access: those that are awaited, and for a month those that were refused",
    "preflight:": "those that the next one leads to",
    "preflight-left:": "the trials of the products that need attention",
    "secret:": "one for each secret",
}
"""What is read whole, because there are few of it however much is sold."""


def of_every_kind(count: int, _: datetime) -> Iterator[Write]:
    """Put so many entries under every prefix that a module of the site declares."""
    prefixes = {one for module in MODULES if "site" in module.roles for one in module.prefixes}
    counted = ("outbox", CROWDED)
    chosen = [one for one in prefixes - FEW.keys() if one.endswith(":") and not one.startswith(counted)]
    assert {"access:", "event:", "journal:", "offer:", "intent:", "approval-log:"} <= {*chosen}
    yield from (Put(f"{prefix}{number:06}", b"?") for prefix in chosen for number in range(count))


def of_what_is_counted(count: int, now: datetime) -> Iterator[Write]:
    """Put so many notifications in every state, and so many accesses that many share."""
    yield from (Put(f"{CROWDED}{sortable(now)}:cs_{number}", b"?") for number in range(count))
    row = Notification(id="NAME", channel="email", to="", title="t", body="b", created_at=now, due_at=now)
    waiting = f"outbox-next:email:{sortable(now)}:{sortable(now)}:"
    indexes = {"waiting": waiting, "held": "outbox-held:", "dead": "outbox-dead:"}
    values = {state: row.change(state=state).to_bytes() for state in (*indexes, "delivered")}
    for number in range(count):
        for state, value in values.items():
            yield Put(f"{ROW}{state}-{number}", value.replace(b"NAME", f"{state}-{number}".encode()))
        yield from (
            Put(f"{index}{state}-{number}", f"{state}-{number}".encode()) for state, index in indexes.items()
        )
        yield Put(f"outbox-unreadable:{number}", b"?")


async def reads_to_the_first_answer(content: Content, count: int) -> Counter[str]:
    """Start over a store with this content; return how many entries were read of it until the service answers."""
    clock, tasks = clock_of(SETTINGS), Tasks()
    store = UnreliableStore(MemoryStore(clock))
    _ = await index_key(store)
    _ = await store.commit(list(content(count, clock.now())))
    orrery = await migrated(Adapters(SETTINGS, Secrets.of(SECRETS), clock), store, tasks)
    public, private = apps_of(orrery)
    _ = await orrery[Readiness].run_round()
    for app in (public, private):
        async with client_of(app) as client:
            for path in ("/healthz", "/readyz"):
                assert (await client.get(path)).status_code == HTTPStatus.OK
    await tasks.finish()
    return store.reads


@pytest.mark.parametrize(("content", "count"), [(of_every_kind, 30), (of_what_is_counted, MOST_COUNTED)])
async def test_a_start_reads_as_much_of_ten_times_as_much(content: Content, count: int) -> None:
    """From the opening of the store to the first answer, and in the health round that is before it."""
    small, large = [await reads_to_the_first_answer(content, one) for one in (count, 10 * count)]
    assert sum(small.values()) > 0
    assert large - small == Counter()

"""One object of the processor's that cannot be read hides no other, and is told once."""

from datetime import timedelta

import pytest

from orrery.checkout.access.reconcile import UnreadableObject
from orrery.ports.processor import split_unreadable
from orrery.ports.processor.errors import ItemUnreadable
from tests.support.checkout import Shop, ids, session, session_json
from tests.support.clock import START
from tests.support.events import Post

pytestmark = pytest.mark.anyio

WEEK = timedelta(days=7)
ODD = ItemUnreadable("checkout.session", "cs_odd", ("payment_status",))


def shop() -> Shop:
    """Return a shop whose processor lists a session that cannot be read, and behind it one that is paid."""
    found = Shop()
    found.processor.unreadable.append(ODD)
    found.processor.sessions.append(session(price_ids=("price_cissp",)))
    return found


async def test_the_sessions_behind_it_are_reconciled() -> None:
    """The paid session of the same page is granted; the report names the other, with its field."""
    found = shop()
    await found.offered("cs_1")
    report = await found.reconciliation.run()
    assert report.granted == ["cs_1"]
    assert report.unread == [UnreadableObject("checkout.session", "cs_odd", ("payment_status",))]


async def test_it_is_told_once_without_its_id() -> None:
    """The owner is told once, however often it is met; a session's id opens what was bought, and is in no push."""
    found = shop()
    await found.offered("cs_1")
    for _ in range(3):
        await found.reconciliation.run_unattended()
    (push,) = [row for row in await found.told() if row.id.startswith("unread-")]
    assert push.priority == "urgent"
    assert "payment_status" in push.body
    assert "cs_odd" not in push.model_dump_json()


async def test_a_waiting_session_that_cannot_be_read() -> None:
    """A session that waits and cannot be read is named, and those behind it are looked at."""
    found = Shop()
    await found.offered("cs_1", "cs_odd")
    for name in ("cs_1", "cs_odd"):
        await found.receive(f"evt_{name}", session_json(name, payment_status="unpaid"))
    found.clock.advance(timedelta(days=40).total_seconds())
    found.processor.sessions.append(session(price_ids=("price_cissp",)))
    found.processor.unreadable.append(ODD)
    report = await found.reconciliation.run()
    assert report.granted == ["cs_1"]
    assert {one.id for one in report.unread} == {"cs_odd"}


async def test_events_behind_it_are_listed(post: Post) -> None:
    """The list of events goes on behind one that cannot be read, and names it; `doctor` says so, too."""
    post.processor.happened(START, pending=0)
    post.processor.unreadable.append(ItemUnreadable("event", "evt_odd", ("type",)))
    known, unread = split_unreadable([one async for one in post.events.list_events(WEEK)])
    assert ([one.id for one in known], [one.item_id for one in unread]) == (["evt_1"], ["evt_odd"])
    found = await post.events.finding()
    assert (found.state, "cannot be read: 1" in found.why) == ("broken", True)


async def test_nothing_of_it_is_taken_for_a_sale() -> None:
    """A session that cannot be read gets no access and no note."""
    found = shop()
    await found.offered("cs_1")
    await found.reconciliation.run()
    assert await found.entries("access:cs_odd") == []
    assert ids(await found.told()) == ["buyer-cs_1", "owner-cs_1"]

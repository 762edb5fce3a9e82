"""The processor's events beside ours, and the owner's replay of one (issue 4, item 8; change rule 5)."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest

import orrery
from orrery.checkout.access.events import KnownEvent
from orrery.errors import Invalid, NotFound
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from tests.support.checkout import Shop, ids, record, session_json
from tests.support.clock import START
from tests.support.events import Post
from tests.support.items import gathered

pytestmark = pytest.mark.anyio

WEEK = timedelta(days=7)
HOUR = timedelta(hours=1)
SOURCE = Path(orrery.__file__).parent


async def listed(post: Post, *, failed: bool = False) -> list[KnownEvent]:
    """Return the events of a week."""
    return await gathered(post.events.list_events(WEEK, failed=failed))


async def became(post: Post) -> tuple[str, str]:
    """Return what the only event became, and why."""
    (event,) = await listed(post)
    return event.became, event.why


async def test_an_event_that_came_in(post: Post) -> None:
    """An event that granted is told as stored and granted, with its session and its pending deliveries."""
    post.processor.happened(START, pending=0)
    await post.shop.offered("cs_1")
    await post.shop.receive("evt_1", session_json())
    (event,) = await listed(post)
    assert (event.id, event.session_id, event.pending, event.stored) == ("evt_1", "cs_1", 0, True)
    assert (event.became, event.why, event.failed) == ("granted", "", False)


async def test_an_event_that_never_came(post: Post) -> None:
    """A completed session whose event is not in the store never came."""
    post.processor.happened(START)
    assert await became(post) == ("never came", "")


async def test_what_another_way_granted(post: Post) -> None:
    """When reconciliation was faster than the event, that is said; the event still failed to come."""
    post.processor.happened(START, pending=0)
    await post.shop.store.commit([Put("access:cs_1", record(granted_by="reconcile").to_bytes())])
    (event,) = await listed(post, failed=True)
    assert (event.became, event.why, event.stored) == ("granted", "by reconcile", False)


async def test_what_waits_and_what_was_refused() -> None:
    """A session that is not paid waits, and one with another product is refused, each with its reason."""
    unpaid, other = Post(), Post()
    for post, fields in ((unpaid, {"payment_status": "unpaid"}), (other, {})):
        post.processor.happened(START)
        await post.shop.offered("cs_1", cert_code="cissp" if post is unpaid else "ccsp")
        await post.shop.receive("evt_1", session_json(**fields))
    assert await became(unpaid) == ("waiting", "unpaid")
    assert await became(other) == ("refused", "another product")


async def test_what_is_not_ours_and_what_asks_for_nothing() -> None:
    """A session without our metadata is foreign; a type that is not handled is ignored, once it is stored."""
    foreign, expired = Post(), Post()
    foreign.processor.happened(START)
    await foreign.shop.receive("evt_1", session_json(metadata={}))
    expired.processor.happened(START, kind="checkout.session.expired")
    assert await became(expired) == ("never came", "")
    await expired.shop.receive("evt_1", session_json(), "checkout.session.expired")
    assert await became(foreign) == ("foreign", "none of our products")
    assert await became(expired) == ("ignored", "")


async def test_only_events_about_sessions(post: Post) -> None:
    """Charges and all else that happens at the account are not listed."""
    post.processor.happened(START, kind="charge.succeeded")
    assert await listed(post) == []


async def test_only_what_failed(post: Post) -> None:
    """With `failed` come deliveries that nobody accepted and completed sessions that never came in."""
    post.processor.happened(START, "evt_well", "cs_1", pending=0)
    post.processor.happened(START, "evt_pending", "cs_2", pending=1)
    post.processor.happened(START, "evt_lost", "cs_3", pending=0)
    post.processor.happened(START, "evt_expired", "cs_4", "checkout.session.expired", pending=0)
    for number, name in ((1, "evt_well"), (2, "evt_pending")):
        await post.shop.receive(name, session_json(f"cs_{number}"))
    assert [event.id for event in await listed(post, failed=True)] == ["evt_lost", "evt_pending"]


async def test_nothing_older_than_asked_for(post: Post) -> None:
    """Events from before the window are not listed."""
    post.processor.happened(START - WEEK - HOUR)
    assert await listed(post) == []


async def test_a_replay_grants_once(post: Post) -> None:
    """A replay grants and tells as the webhook does; a second one changes nothing at all and says so."""
    post.processor.happened(START)
    await post.shop.offered("cs_1")
    assert (await post.events.replay("evt_1")).result == "granted"
    access = await post.shop.access()
    assert (access.event_id, access.granted_by) == ("evt_1", "webhook")
    assert sorted(ids(await post.shop.told())) == ["buyer-cs_1", "owner-cs_1"]
    before = await post.shop.entries()
    assert (await post.events.replay("evt_1")).result == "already"
    assert await post.shop.entries() == before


async def test_a_replay_of_what_came_in(post: Post) -> None:
    """A replay of what the webhook has granted writes nothing and tells nobody."""
    post.processor.happened(START)
    await post.shop.offered("cs_1")
    await post.shop.receive("evt_1", session_json())
    before = await post.shop.entries()
    replayed = await post.events.replay("evt_1")
    assert (replayed.result, replayed.session_id) == ("already", "cs_1")
    assert await post.shop.entries() == before


async def test_the_webhook_after_a_replay(post: Post) -> None:
    """When the processor's own delivery comes after the replay, nothing more is granted or told."""
    post.processor.happened(START)
    await post.shop.offered("cs_1")
    await post.events.replay("evt_1")
    before = await post.shop.entries()
    assert await post.shop.receive("evt_1", session_json()) == "already"
    assert await post.shop.entries() == before


async def test_a_replay_of_what_waits_tells_once(post: Post) -> None:
    """Replaying a session that is not paid yet tells the owner once, however often."""
    post.processor.happened(START, payment_status="unpaid")
    await post.shop.offered("cs_1")
    assert [(await post.events.replay("evt_1")).result for _ in range(3)] == ["waiting"] * 3
    assert ids(await post.shop.told()) == ["withheld-cs_1-unpaid"]


async def test_a_replay_of_what_asks_for_nothing(post: Post) -> None:
    """An event of another type is stored, and the second time found there."""
    post.processor.happened(START, kind="checkout.session.expired")
    assert [(await post.events.replay("evt_1")).result for _ in range(2)] == ["ignored", "duplicate"]


async def test_a_replay_of_what_is_not_ours(post: Post) -> None:
    """A session without our metadata grants nothing, and that is said."""
    post.processor.happened(START, metadata={})
    assert (await post.events.replay("evt_1")).result == "foreign"
    assert not await post.shop.told()


@pytest.mark.parametrize(
    ("ours", "says"), [(True, "a test event.*sells in live"), (False, "a live event.*in test")]
)
async def test_an_event_of_another_mode(ours: bool, says: str) -> None:  # noqa: FBT001  a parameter of the test
    """An event of another mode is refused in a sentence, and nothing is written."""
    post = Post(Shop(livemode=ours))
    post.processor.happened(START)
    post.processor.bodies["evt_1"] = post.processor.bodies["evt_1"].replace(
        b'"livemode": false, "api_version"', b'"livemode": %s, "api_version"' % (b"false" if ours else b"true")
    )
    with pytest.raises(Invalid, match=says):
        await post.events.replay("evt_1")
    assert await post.shop.entries() == []


@pytest.mark.parametrize(
    "name", ["", "evt_", "cs_1", "evt_1/../../charges", "evt_1?x=1", "EVT_1", "evt_" + "x" * 251]
)
async def test_what_is_no_id(name: str, post: Post) -> None:
    """What cannot be an event's id is refused before anybody is asked."""
    post.processor.trouble = ProcessorUnreachable("asked", same_key=True)
    with pytest.raises(Invalid, match="begins with evt_"):
        await post.events.replay(name)


async def test_an_event_that_the_processor_does_not_know() -> None:
    """An unknown id is bad input, with a sentence about how long events are kept."""
    with pytest.raises(NotFound, match="30 days"):
        await Post().events.replay("evt_unknown")


@pytest.mark.parametrize(
    "trouble", [ProcessorRefused("No permission.", status=403), ProcessorUnreachable("Gone.", same_key=True)]
)
async def test_a_processor_that_does_not_answer(
    trouble: ProcessorRefused | ProcessorUnreachable, post: Post
) -> None:
    """What the processor refuses or fails to answer is passed on as it is."""
    post.processor.trouble = trouble
    with pytest.raises(type(trouble)):
        await post.events.replay("evt_1")
    with pytest.raises(type(trouble)):
        await listed(post)


async def test_the_finding_when_all_came(post: Post) -> None:
    """Without an undelivered event all is well."""
    post.processor.happened(START, pending=0)
    found = await post.events.finding()
    assert (found.part, found.state) == ("webhook deliveries", "ok")
    assert "delivered" in found.why


async def test_the_finding_when_events_did_not_arrive(post: Post) -> None:
    """Completed sessions that are not here are counted, with the oldest and what to type."""
    post.processor.happened(START - timedelta(days=3), "evt_1", "cs_1")
    post.processor.happened(START - HOUR, "evt_2", "cs_2")
    post.processor.happened(START - HOUR, "evt_3", "cs_3", "charge.succeeded")
    post.processor.happened(START - timedelta(days=8), "evt_4", "cs_4")
    found = await post.events.finding()
    assert found.state == "broken"
    assert "did not arrive: 2, the oldest of 2026-02-26T12:00:00Z" in found.why
    assert "orrery checkout events --failed" in found.todo


async def test_the_finding_when_another_way_was_taken(post: Post) -> None:
    """An undelivered event that a replay took in, or that is only seconds old, is nothing broken."""
    post.processor.happened(START - HOUR, "evt_1", "cs_1")
    post.processor.happened(START - timedelta(seconds=5), "evt_2", "cs_2")
    await post.shop.offered("cs_1")
    await post.events.replay("evt_1")
    found = await post.events.finding()
    assert found.state == "ok"
    assert "pending: 2" in found.why


def test_nothing_else_goes_behind_the_signature_check() -> None:
    """Only the webhook and the wiring of the replay name the way behind the signature check; no route does."""
    private = {"_receive", "_dispatch"}  # others may have names of their own that are alike
    names = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and (
            node.attr == "receive_verified"
            or (node.attr in private and "checkout" in path.relative_to(SOURCE).parts)
        )
    }
    assert names == {"checkout/access/webhook.py", "checkout/build.py", "checkout/access/events.py"}
    for path in [*SOURCE.rglob("routes.py"), *(SOURCE / "edge").glob("*.py")]:
        assert "checkout.events" not in path.read_text(encoding="utf-8")

"""What was due in a future that a clock jump undid is due now: nothing waits for a time that no wait is long for.

Each stored time is listed here. A new one is either never waited for, or has a case or a test of its own.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

from orrery.adapters.memory import MemoryStore
from orrery.approvals.progress import IntentProgress, in_words
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.selling.drift import SLACK
from orrery.checkout.selling.health import ProxyHealth
from orrery.gateway.causes import Ping
from orrery.gateway.cloud_health import STOPPED_AFTER, CloudHealth
from orrery.gateway.health import GatewayHealth
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.gateway.reports import Reports
from orrery.gateway.stretches import first_of
from orrery.ports.notifier import DeliveryFailed
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.runtime import outbox
from orrery.runtime.due import is_ahead
from orrery.runtime.lease import Lease
from orrery.runtime.outbox import Outbox, OutboxDraft
from orrery.runtime.planned_pause import LONGEST, PlannedPauses
from orrery.secrets.baseline import Alarm, Baseline, CheckContext, compare
from orrery.secrets.fingerprints import SecretObservation
from tests.architecture.test_records import RECORDS, shape
from tests.checkout.access.test_refusals import SEVERAL, refuse
from tests.checkout.access.test_refusals import doctor as deliveries
from tests.checkout.selling.test_verification import visit
from tests.gateway.test_cloud_health import WELL
from tests.support.approving import Desk as ApprovalDesk
from tests.support.checkout import PRODUCT, Shop, session, session_json
from tests.support.clock import START, WallClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.rehearsal import Rehearsal
from tests.support.secrets_checked import KEY, CheckedSecrets
from tests.support.tables import each_case

Case = AsyncIterator[None]
"""What happens by a clock that is ahead; then, once it is put back, what must be due."""


async def lease(clock: WallClock) -> Case:
    """A holder that was killed keeps nobody from the job."""
    store = MemoryStore(clock)
    assert await Lease(store, clock, "job", "killed", timedelta(seconds=30)).take()
    yield
    assert await Lease(store, clock, "job", "next", timedelta(seconds=30)).take()


async def messages(clock: WallClock) -> Case:
    """Messages that were put off go out with the next delivery, those behind many of a dead channel, too."""
    store, push, mail = MemoryStore(clock), ScriptedNotifier(), ScriptedNotifier()
    queue = Outbox(store, clock, {"push": push, "email": mail})
    await store.commit(outbox.enqueue([OutboxDraft("push", "push", "", "")], clock.now()))
    push.troubles.append(DeliveryFailed("away", permanent=False))
    assert await queue.deliver_due() == 1
    for number in range(40):
        clock.advance(1)
        await store.commit(outbox.enqueue([OutboxDraft(f"mail-{number}", "email", "", "")], clock.now()))
        mail.troubles.append(DeliveryFailed("away", permanent=False))
        await queue.deliver_due("email")
    yield
    mail.troubles = [DeliveryFailed("away", permanent=False)] * 99
    await queue.deliver_due("email")
    await queue.deliver_due("push")
    assert push.ids == ["push"]


async def operation_under_way(clock: WallClock) -> Case:
    """The owner may settle an operation whose answer was lost."""
    started = IntentProgress(intent_id="in-1", digest="d", changed_at=clock.now(), state="started")
    assert in_words(started, clock.now()) == "under way"
    yield
    assert in_words(started, clock.now()) == "unknown"


async def standing_approval(clock: WallClock) -> Case:
    """A preflight's approval is not in force until then."""
    desk = ApprovalDesk(clock=clock)
    statement = desk.approvals.statement(await desk.proposed()).to_bytes().decode()
    approved = IntentProgress(
        intent_id="in-1", digest="d", changed_at=clock.now(), state="approved", statement=statement, signature="s"
    )
    assert in_words(approved, clock.now()) == "in force"
    yield
    assert in_words(approved, clock.now()) == "over"


async def announcement(clock: WallClock) -> Case:
    """A change that was announced then is an alarm now."""
    checked = CheckedSecrets(clock)
    await checked.look()
    await checked.secrets_check.announce(KEY, "a test")
    yield
    checked.put(KEY, "another")
    await checked.look()
    assert await checked.told() == [f"Broken: secret {KEY}"]


OLD = SecretObservation("present", "old", "directory", 0o600)
NEW = SecretObservation("present", "new", "directory", 0o600)


async def former_value(clock: WallClock) -> Case:
    """The value before a rotation is no longer accepted."""
    until = clock.now() + timedelta(hours=24)
    rotated = Baseline(name=KEY, fingerprint="new", previous="old", previous_until=until, since=clock.now())
    assert compare(rotated, KEY, OLD, CheckContext(clock.now(), "a"))[1] is None
    yield
    assert compare(rotated, KEY, OLD, CheckContext(clock.now(), "a"))[1] == "changed"


async def alarm_of_another_process(clock: WallClock) -> Case:
    """The alarm of a process that has ended is dropped."""
    alarm = Alarm(trouble="vanished", fingerprint="", observer="ended", since=START, seen_at=clock.now())
    known = Baseline(name=KEY, fingerprint="new", since=START, alarms=(alarm,))
    during, _ = compare(known, KEY, NEW, CheckContext(clock.now(), "a", held="new"))
    yield
    after, _ = compare(known, KEY, NEW, CheckContext(clock.now(), "a", held="new"))
    assert during is not None
    assert after is not None
    assert (during.alarms, after.alarms) == ((alarm,), ())


async def proxy(clock: WallClock) -> Case:
    """A proxy that was seen then counts no more."""
    health = ProxyHealth(CheckoutRecords(MemoryStore(clock), clock, b""), ())
    await health.show("10.0.0.5")
    assert [one.state for one in await health.local()] == ["broken"]
    yield
    assert [one.state for one in await health.local()] == ["ok"]


async def address_of_an_offer(clock: WallClock) -> Case:
    """A visitor's address is not kept until then."""
    shop = Shop(clock)
    session_id = await shop.checkout_session()
    yield
    assert await shop.buyer_data.erase_old_addresses() == 1
    assert b"203.0.113.7" not in (await shop.entries(f"offer:{session_id}"))[0].value


async def pending_session(clock: WallClock) -> Case:
    """A payment that comes after weeks is granted, though its session is in no list any more."""
    shop = Shop(clock)
    await shop.offered("cs_1")
    shop.processor.add(session(price_ids=("price_cissp",)))
    assert await shop.receive("evt_1", session_json(payment_status="unpaid")) == "waiting"
    yield
    clock.advance(timedelta(days=60).total_seconds())
    assert (await shop.reconciliation.run()).granted == ["cs_1"]


async def last_reconciliation(clock: WallClock) -> Case:
    """Expired sessions are looked for from now, and not from then."""
    shop = Shop(clock)
    await shop.reconciliation.run()
    yield
    await shop.reconciliation.run()
    assert shop.processor.expired_since[-1] < clock.now()


async def refused_webhooks(clock: WallClock) -> Case:
    """What does not arrive later is not called refused."""
    shop = Shop(clock)
    await refuse(shop, times=SEVERAL)
    yield
    clock.advance(timedelta(hours=2).total_seconds())
    shop.happened(clock.now(), "evt_9", "cs_9")
    assert "could not deliver" in await deliveries(shop)


async def trial(clock: WallClock) -> Case:
    """A preflight that came to no end is found as interrupted."""
    rehearsal = Rehearsal(clock=clock, products=(PRODUCT,))
    rehearsal.till.after["create"] = [ProcessorUnreachable("No answer.", same_key=True)] * 2
    await rehearsal.preflighted()
    assert await rehearsal.trials.interrupted() == 0
    yield
    assert await rehearsal.trials.interrupted() == 1


async def receipt(clock: WallClock) -> Case:
    """Drift is seen in the sessions from now on, although the receipt is of then."""
    rehearsal = Rehearsal(clock=clock, products=(PRODUCT,))
    await rehearsal.preflighted()
    assert await rehearsal.drift.check_newest() is None
    yield
    for name in ("first", "second"):
        clock.advance(SLACK.total_seconds() + 1)
        await visit(rehearsal, name, three_d_secure="any")
        seen = await rehearsal.drift.check_newest()
    assert seen is not None
    assert seen.kinds


PLAN = GatewayPlan(expects=True, has_token=True, grace=timedelta(minutes=10))
PING = Ping("active", "200", active_seconds=60)


async def ping(clock: WallClock) -> Case:
    """The gateway's silence is seen by who starts then; who kept the ping knows how the clock jumped."""
    store = MemoryStore(clock)
    pings = Pings(store, clock, PLAN)
    await pings.receive(PING)
    assert [one.state for one in await GatewayHealth(pings, clock, PLAN).check()] == ["ok"]
    yield
    assert [one.state for one in await GatewayHealth(pings, clock, PLAN).check()] == ["ok"]
    pings = Pings(store, clock, PLAN)
    assert [one.state for one in await GatewayHealth(pings, clock, PLAN).check()] == ["broken"]


async def first_ping(clock: WallClock) -> Case:
    """That no ping ever came is seen."""
    pings = Pings(MemoryStore(clock), clock, PLAN)
    await pings.expect()
    assert [one.state for one in await GatewayHealth(pings, clock, PLAN).check()] == ["ok"]
    yield
    assert [one.state for one in await GatewayHealth(pings, clock, PLAN).check()] == ["broken"]


async def ping_of_a_stretch(clock: WallClock) -> Case:
    """What comes now begins a stretch of its own, and no stretch of years."""
    pings = Pings(MemoryStore(clock), clock, PLAN)
    await pings.receive(PING)
    stretch = first_of(PING, clock.now(), None)
    assert stretch.goes_on_with(PING, clock.now())
    yield
    assert not stretch.goes_on_with(PING, clock.now())


async def report_of_the_cloud(clock: WallClock) -> Case:
    """That the cloud reports no longer is seen."""
    reports = Reports(MemoryStore(clock), clock)
    await reports.receive(WELL.change(at=clock.now(), webhook_expires_at=None))
    yield
    clock.advance(2 * STOPPED_AFTER.total_seconds())
    found, _ = await CloudHealth(reports, clock, expects=True).check()
    assert found.state == "broken"


async def planned_pause(clock: WallClock) -> Case:
    """A pause that begins in that future runs no longer, so it holds back no push."""
    pauses = PlannedPauses(MemoryStore(clock), clock)
    _ = await pauses.begin(LONGEST, "new disks")
    yield
    assert await pauses.running() is None


CASES: dict[str, Callable[[WallClock], Case]] = {
    "Holder.until": lease,
    "Notification.due_at": messages,
    "IntentProgress.changed_at": operation_under_way,
    "TargetUse.changed_at": operation_under_way,
    "IntentProgress.statement": standing_approval,
    "Announcement.at": announcement,
    "Announcement.until": announcement,
    "Baseline.previous_until": former_value,
    "Alarm.seen_at": alarm_of_another_process,
    "ProxySighting.seen_at": proxy,
    "Offer.created_at": address_of_an_offer,
    "WithheldSession.noted_at": pending_session,
    "LastReconciliation.at": last_reconciliation,
    "RefusedWebhooks.last_at": refused_webhooks,
    "PreflightTrial.asked_at": trial,
    "Receipt.accepted_at": receipt,
    "LastPing.at": ping,
    "LastPing.good_at": ping,
    "LastPing.expected_since": first_ping,
    "PingStretch.last_at": ping_of_a_stretch,
    "CloudReport.at": report_of_the_cloud,
    "Pause.begins": planned_pause,
    "Pause.until": planned_pause,
}

ELSEWHERE = {
    "tests/gateway/test_cloud_health.py": ["ReportedGap.since"],
    "tests/live/test_answers.py": ["Active.generated_at", "Pages.generated_at"],
    "tests/live/test_quota.py": [
        *("Block.since", "Block.until", "QuotaBudget.asked", "ServerError.at"),
        *("TokenWindow.refills_at", "TokenWindow.since"),
    ],
    "tests/live/test_monitor_state.py": ["MonitorState.checked_at"],
    "tests/runtime/test_watch.py": ["PartOutage.since", "PartOutage.well_since"],
    "tests/runtime/test_problems.py": ["Acknowledgement.until"],
    "tests/runtime/test_nodes.py": ["Node.heard"],
    "tests/runtime/test_shared_times.py": ["LetThrough.at"],
    "tests/checkout/selling/test_creation_health.py": ["CreationOutage.last_failure_at"],
    "tests/checkout/site/test_watch.py": ["CheckedSite.checked_at"],
}
"""Times that are compared with the present; the tests in these files hold how."""

OF_OTHERS = {
    *("AccessEnd.expires_at", "AccessRecord.expires_at", "LedgerItem.until", "SetAside.until"),
    *("CloudReport.webhook_expires_at", "Reversal.respond_by", "Restored.at", "Restored.reconciled_since"),
    *("Attempt.expires_at", "Restored.messages_known_since", "LastNumber.confirmed_at", "NumbersUnknown.since"),
}
"""Times that somebody was promised or has set, which no clock of ours undoes; and those of a restore."""

TOLD = {
    *(
        "AccessRecord.paid_at",
        "PaymentDispute.changed_at",
        "PaymentDispute.taken_at",
        "PaymentDispute.respond_by",
        "RefundedTotal.at",
    ),
    *("AccessRecord.granted_at", "AccessRecord.revoked_at", "Alarm.since", "Baseline.since"),
    *("CreationOutage.since", "DriftResult.looked_at", "EntryErasure.at", "Erased.erased_at"),
    *("ErasedSession.erased_at", "FoundCluster.first", "FoundCluster.last", "Intent.proposed_at"),
    *("JournalEntry.at", "LastError.attempted_at", "LastPing.day", "LastPing.trouble_since"),
    *("LastReconciliation.charges_at", "LastReconciliation.since", "LastSearch.looked_at"),
    *("LedgerItem.created_at", "LedgerItem.dismissed_at", "LogEntry.at", "MonitorState.degraded_since"),
    *(
        "Offer.failed_at",
        "Acknowledgement.at",
        "PartOutage.told_at",
        "OwnSession.made_at",
        "WithheldSession.failed_at",
        "PingStretch.first_at",
    ),
    *("RefreshOutcome.generated_at", "RefusedWebhooks.since", "ReportedJob.ended_at", "ReportedJob.started_at"),
    *("ReportedOutage.began_at", "ReportedOutage.ended_at", "Reversal.dispute_at", "Notification.created_at"),
    *(
        "AccessGeneration.changed_at",
        "FailureRow.since",
        "Node.began",
        "CheckedSite.since",
        "OpenedBrowser.opened_at",
        "OpenedBrowser.used_at",
        "SetAside.set_at",
        "SignIn.signed_in_at",
        "TrackJournalEntry.created_at",
        "UnknownSales.since",
        "UnreadableEvent.noted_at",
    ),
}
"""Times that are only shown, sorted by, or counted from: nothing waits for them."""


def stored_times() -> Counter[str]:
    """Return each field of a stored record that is a time: two records of one name have two."""
    fields = ((name, field) for name, kind in RECORDS.items() for field in shape(kind)["fields"].items())
    times = ((name, field) for name, (field, schema) in fields if '"format": "date' in json.dumps(schema))
    return Counter(f"{name.rpartition('.')[2]}.{field}" for name, field in times)


def test_each_stored_time_is_listed() -> None:
    """A new time is looked at: does something wait for it, and what if it lies in a future that was undone?"""
    elsewhere = {one for fields in ELSEWHERE.values() for one in fields}
    listed = [*(CASES.keys() - {"IntentProgress.statement"}), *elsewhere, *OF_OTHERS, *TOLD]
    assert Counter(listed) == stored_times()
    assert [file for file in ELSEWHERE if not Path(file).is_file()] == []


@each_case("ahead", [timedelta(days=1), timedelta(days=365)])
@each_case("case", dict.fromkeys(CASES.values()))
async def test_what_was_due_then_is_due_now(case: Callable[[WallClock], Case], ahead: timedelta) -> None:
    """A clock that was put forward and back leaves nothing waiting for that future."""
    clock = WallClock(START)
    clock.put(ahead)
    steps = case(clock)
    await anext(steps)
    clock.put(-ahead)
    assert await anext(steps, "over") == "over"


@each_case(
    ("ahead", "expected"),
    [(-1, False), (0, False), (1, True), (60, True), (120, True), (121, False), (10**8, False)],
)
def test_a_wait_is_limited(ahead: int, expected: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A time counts while it is to come, up to twice as far ahead as its wait is long."""
    assert is_ahead(START + timedelta(seconds=ahead), START, timedelta(seconds=60)) is expected

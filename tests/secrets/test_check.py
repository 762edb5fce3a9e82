"""The canary over the secrets: what it tells, what it keeps, and what it shows."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.errors import Invalid, RecordUnreadable, StoreUnavailable
from orrery.ports.store import Put
from orrery.runtime.jobs import Job
from orrery.runtime.outbox import Outbox
from orrery.runtime.restored import RESTORED, Restored
from orrery.runtime.watch import EVERY as WATCHED_EVERY
from orrery.runtime.watch import OVER_AFTER, PUSHED_AFTER, OutageWatch
from orrery.secrets.alerts import TRAP
from orrery.secrets.baseline import EVERY
from orrery.secrets.check import ANNOUNCED, BASELINE, SecretsCheck
from orrery.secrets.fingerprints import DIRECTORY, SecretObservation
from tests.support.clock import ManualClock, settled
from tests.support.notifiers import ScriptedNotifier
from tests.support.secrets_checked import FINGERPRINTS, KEY, TOKEN, UNUSED, CheckedSecrets
from tests.support.shift import at_work
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

BROKEN = f"Broken: secret {KEY}"
GONE = SecretObservation("missing")
EMPTIED = SecretObservation("empty", "", "directory", 0o600)
CHANGED = SecretObservation("present", "another one", "directory", 0o600)
UNREADABLE = SecretObservation("unreadable", "", "directory")


@pytest.fixture
def checked() -> CheckedSecrets:
    """Return a new one."""
    return CheckedSecrets()


async def test_the_first_look_learns(checked: CheckedSecrets) -> None:
    """Nothing is told when nothing is known of before, and a second look writes nothing."""
    await checked.look()
    assert await checked.told() == []
    kept = await checked.secrets_check.baselines()
    assert {name: one.fingerprint for name, one in kept.items() if one.fingerprint} == {
        KEY: FINGERPRINTS(KEY, "first"),
        TOKEN: FINGERPRINTS(TOKEN, "first"),
        DIRECTORY: "there",
    }
    await checked.look()
    assert await checked.secrets_check.baselines() == kept


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (GONE, "It is gone from its place."),
        (EMPTIED, "It is there, and empty."),
        (CHANGED, "It is another value than before"),
        (UNREADABLE, "It cannot be read any more."),
    ],
)
async def test_an_urgent_push(now: SecretObservation, why: str, checked: CheckedSecrets) -> None:
    """What is lost is an urgent push, once, that names the secret, what stops and the partial-update trap."""
    await checked.look()
    checked.lying[KEY] = now
    for _ in range(3):
        await checked.look()
    (push,) = await checked.pushes()
    assert (push.title, push.priority, push.channel) == (BROKEN, "urgent", "push")
    assert push.body.startswith(why)
    assert "nobody can buy." in push.body
    assert TRAP in push.body


async def test_a_restore_that_cannot_be_read(checked: CheckedSecrets) -> None:
    """When the store was restored may be unreadable: what changes is told all the same, and that it is so."""
    await checked.look()
    assert checked.store is not None
    await checked.store.commit([Put(RESTORED, b'{"v":2}')])
    checked.put(KEY, "another one")
    await checked.look()
    (push,) = await checked.pushes()
    assert "The record restored-at cannot be read" in push.body


async def test_a_wipe_is_one_push(checked: CheckedSecrets) -> None:
    """All secrets that vanish at once are one message, which names each."""
    await checked.look()
    checked.lying |= {KEY: GONE, TOKEN: GONE}
    await checked.look()
    (push,) = await checked.pushes()
    assert push.title == f"{BROKEN} and 1 more"
    assert f"secret {TOKEN}: It is gone" in push.body
    assert "nobody can buy." in push.body
    assert "pushes wait." in push.body


async def test_a_start_with_a_wiped_variable() -> None:
    """A process that starts without a secret that was there before says so at once, and that it is broken now."""
    before = CheckedSecrets()
    await before.look()
    after = before.beside("here:8081", push_token="first")  # noqa: S106  a value of the tests
    await after.look()
    (push,) = await after.pushes()
    assert (push.title, push.priority) == (BROKEN, "urgent")
    assert "From now on: nobody can buy." in push.body
    (finding,) = await after.secrets_check.findings()
    assert (finding.part, finding.state, finding.essential) == (f"secret {KEY}", "broken", True)
    assert after.looks == 1


async def test_what_the_service_still_holds(checked: CheckedSecrets) -> None:
    """While the running process still holds the secret, nothing is broken yet, and both are said."""
    await checked.look()
    checked.lying[KEY] = GONE
    await checked.look()
    (push,) = await checked.pushes()
    assert "still holds it. From its next start on: nobody can buy." in push.body
    (finding,) = await checked.secrets_check.findings()
    assert (finding.state, finding.essential) == ("broken", False)
    assert TRAP in finding.todo


async def test_a_file_that_is_being_written(checked: CheckedSecrets) -> None:
    """A file that is empty for a moment, as while it is written, is no alarm."""
    await checked.look()
    checked.lying[KEY] = SecretObservation("empty", "", "directory", 0o600)
    looking = asyncio.create_task(checked.secrets_check.check())
    while not checked.clock.sleepers:
        await checkpoint()
    checked.put(KEY, "first")
    checked.clock.advance(2)
    await looking
    assert await checked.told() == []


async def test_an_announced_rotation(checked: CheckedSecrets) -> None:
    """A change that was announced asks for a restart; after that all is well."""
    await checked.look()
    await checked.secrets_check.announce(KEY, "it is a year old")
    checked.put(KEY, "second")
    for _ in range(2):
        await checked.look()
        checked.clock.advance(PUSHED_AFTER.total_seconds())
    (push,) = await checked.pushes()
    assert (push.title, push.priority) == (BROKEN, "high")
    assert "orrery secrets reload" in push.body
    assert "year" not in push.body
    (finding,) = await checked.secrets_check.findings()
    assert (finding.state, finding.essential) == ("broken", False)
    restarted = checked.beside("here:8081", processor_api_key="second", push_token="first")  # noqa: S106  the same
    await restarted.look()
    assert [one.state for one in await restarted.secrets_check.findings()] == ["ok"]
    assert len(await restarted.told()) == 1


async def test_a_rotation_that_needs_no_restart(checked: CheckedSecrets) -> None:
    """A process that starts with an announced value says so in a normal push, and nothing is wrong."""
    await checked.look()
    await checked.secrets_check.announce(KEY, "it is a year old")
    restarted = checked.beside("here:8081", processor_api_key="second", push_token="first")  # noqa: S106  the same
    await restarted.look()
    (push,) = await restarted.pushes()
    assert (push.title, push.priority) == (f"Rotation seen: {KEY}", "default")
    assert [one.state for one in await restarted.secrets_check.findings()] == ["ok"]


async def test_an_announcement_ends(checked: CheckedSecrets) -> None:
    """A change that comes more than 24 hours after its announcement is an alarm."""
    await checked.look()
    await checked.secrets_check.announce(KEY, "a test")
    assert list(await checked.secrets_check.announced()) == [KEY]
    checked.clock.advance(timedelta(hours=24).total_seconds())
    assert await checked.secrets_check.announced() == {}
    checked.put(KEY, "second")
    await checked.look()
    assert await checked.told() == [BROKEN]


async def test_what_a_newer_version_knows_of_a_secret_stays(checked: CheckedSecrets) -> None:
    """The record of a newer version is not written over, and the look says so."""
    await checked.look()
    assert checked.store
    await checked.store.commit([Put(f"secret:{KEY}", b'{"v": 2}')])
    with pytest.raises(RecordUnreadable):
        await checked.look()
    entry = await checked.store.get(f"secret:{KEY}")
    assert entry
    assert entry.value == b'{"v": 2}'


async def test_it_is_back(checked: CheckedSecrets) -> None:
    """That a secret was put back is told in a push of low priority."""
    await checked.look()
    checked.lying[KEY] = GONE
    await checked.look()
    checked.put(KEY, "first")
    for _ in range(2):
        await checked.look()
        checked.clock.advance(OVER_AFTER.total_seconds())
    _, push = await checked.pushes()
    assert (push.title, push.priority) == (f"Works again: secret {KEY}", "low")
    assert [one.state for one in await checked.secrets_check.findings()] == ["ok"]


async def test_a_new_secret(checked: CheckedSecrets) -> None:
    """A secret that was not there before is noted."""
    await checked.look()
    restarted = checked.beside("here:8081", processor_api_key="first", push_token="first", tracker_token="new")  # noqa: S106  the same
    await restarted.look()
    (push,) = await checked.pushes()
    assert (push.title, push.priority) == (f"New secret: {UNUSED}", "low")


async def test_the_whole_folder_is_gone(checked: CheckedSecrets) -> None:
    """A folder that cannot be read any more is one urgent push, not one a secret."""
    await checked.look()
    checked.lying = dict.fromkeys(checked.lying, SecretObservation("unknown")) | {
        DIRECTORY: SecretObservation("unreadable")
    }
    await checked.look()
    (push,) = await checked.pushes()
    assert (push.title, push.priority) == ("Broken: secrets directory", "urgent")
    assert [one.part for one in await checked.secrets_check.findings()] == ["secrets directory"]


async def test_a_file_that_more_people_may_use(checked: CheckedSecrets) -> None:
    """A file's wider mode is told, and is no reason to call the service broken."""
    await checked.look()
    checked.lying[KEY] = replace(checked.lying[KEY], mode=0o644)
    await checked.look()
    (push,) = await checked.pushes()
    assert (push.title, push.priority) == (BROKEN, "high")
    (finding,) = await checked.secrets_check.findings()
    assert (finding.state, finding.essential) == ("broken", False)


async def test_after_a_restore(checked: CheckedSecrets) -> None:
    """A change that the store may have forgotten by a restore is told with that remark."""
    await checked.look()
    checked.clock.advance(3600)
    assert checked.store is not None
    await checked.store.commit([Put(RESTORED, Restored(at=checked.clock.now()).to_bytes())])
    checked.put(KEY, "second")
    await checked.look()
    (push,) = await checked.pushes()
    assert "was restored at 2026-03-01 13:00 UTC" in push.body


async def test_two_processes_tell_once() -> None:
    """Two processes that see a loss at the same time tell it once, and both know it."""
    one = CheckedSecrets(store=UnreliableStore(MemoryStore(clock := ManualClock())), clock=clock)
    other = one.beside("there:8081", processor_api_key="first", push_token="first")  # noqa: S106  the same
    await one.look()
    for process in (one, other):
        process.lying[KEY] = GONE
    async with asyncio.TaskGroup() as group:
        group.create_task(one.look())
        group.create_task(other.look())
    assert await one.told() == [BROKEN]
    assert len((await one.secrets_check.baselines())[KEY].alarms) == 2


@pytest.mark.parametrize("lose", ["before", "after"])
async def test_a_lost_answer(lose: str) -> None:
    """When the answer of the commit is lost, the loss is told once all the same, whether it was stored or not."""
    checked = CheckedSecrets(store=(store := UnreliableStore(MemoryStore(clock := ManualClock()))), clock=clock)
    await checked.look()
    checked.lying[KEY] = GONE
    store.lose = lose
    await checked.look()
    await checked.look()
    assert await checked.told() == [BROKEN]


async def test_a_store_that_fails_forgets_nothing() -> None:
    """A loss that could not be stored is told at the next look."""
    checked = CheckedSecrets(store=(store := UnreliableStore(MemoryStore(clock := ManualClock()))), clock=clock)
    await checked.look()
    checked.lying[KEY] = GONE
    store.commit_errors = [StoreUnavailable("The disk is full.")]
    with pytest.raises(StoreUnavailable):
        await checked.look()
    assert await checked.told() == []
    await checked.look()
    assert await checked.told() == [BROKEN]


async def test_a_record_that_cannot_be_read(checked: CheckedSecrets) -> None:
    """A damaged record is learned anew and stops nothing."""
    await checked.look()
    assert checked.store is not None
    await checked.store.commit([Put(BASELINE + KEY, b"broken"), Put(ANNOUNCED + KEY, b"broken")])
    await checked.look()
    assert (await checked.secrets_check.baselines())[KEY].fingerprint == FINGERPRINTS(KEY, "first")


@pytest.mark.parametrize(
    ("name", "reason", "sentence"),
    [("processor_key", "a test", "There is no secret processor_key"), (KEY, " ", "The reason is missing")],
)
async def test_what_cannot_be_announced(name: str, reason: str, sentence: str, checked: CheckedSecrets) -> None:
    """A secret that there is not, or no reason, is refused, and nothing is written."""
    with pytest.raises(Invalid, match=sentence):
        await checked.secrets_check.announce(name, reason)
    assert checked.store is not None
    assert await checked.store.scan("") == []


async def test_before_the_first_look() -> None:
    """A deployment whose service has not run yet has nothing to compare."""
    (finding,) = await CheckedSecrets().secrets_check.findings()
    assert (finding.part, finding.state) == ("secrets", "off")


async def test_what_the_private_listener_shows() -> None:
    """Fingerprints of what is in memory are shown, with what tells their key, and null for what is missing."""
    held = CheckedSecrets().secrets_check.held_fingerprints()
    assert held == {
        "keyed_by": FINGERPRINTS.keyed_by,
        "secrets": {KEY: FINGERPRINTS(KEY, "first"), TOKEN: FINGERPRINTS(TOKEN, "first"), UNUSED: None},
    }


async def test_the_owners_page(checked: CheckedSecrets) -> None:
    """The page shows each secret's state, announcement and fingerprint; what is lost makes it bad."""
    await checked.look()
    panel = await checked.secrets_check.panel()
    assert (panel.tone, panel.headline) == ("good", "2 in use, none changed unannounced")
    assert panel.rows[0] == (KEY, "present", "-", FINGERPRINTS(KEY, "first"))
    assert panel.rows[2] == (UNUSED, "off", "-", "-")
    await checked.secrets_check.announce(TOKEN, "a test")
    panel = await checked.secrets_check.panel()
    assert (panel.tone, panel.rows[1][2]) == ("attention", "until 2026-03-02T12:00:01Z")
    assert panel.headline == "2 in use, none changed unannounced; 1 announced, and may change"
    checked.lying[KEY] = GONE
    await checked.look()
    panel = await checked.secrets_check.panel()
    assert (panel.tone, panel.headline) == ("bad", "1 not as it should be")
    assert panel.rows[0][1] == "vanished"


WITHIN = timedelta(seconds=600)
"""How late the push may be with which the owner hears of a lost secret."""


@each_case("after", [1, EVERY.total_seconds() / 2, EVERY.total_seconds() - 1])
@each_case("now", [GONE, EMPTIED, CHANGED, UNREADABLE])
async def test_a_loss_is_pushed_within_ten_minutes(now: SecretObservation, after: float) -> None:
    """Whenever it happens between two looks, the push has left 600 s later: interval, second look, outbox."""
    checked, sent = CheckedSecrets(), ScriptedNotifier()
    assert checked.store is not None
    outbox = Outbox(checked.store, checked.clock, {"push": sent})
    watch = OutageWatch(checked.store, checked.clock, checked.secrets_check.findings)
    jobs = [
        Job(OutageWatch.JOB, WATCHED_EVERY, watch.notify, everywhere=True),
        Job(SecretsCheck.JOB, EVERY, checked.secrets_check.check, everywhere=True),
        Job("deliver", timedelta(seconds=1), outbox.deliver_due),
    ]
    async with at_work(checked.store, checked.clock, jobs):
        checked.clock.advance(after)
        await settled()
        lost_at, checked.lying[KEY] = checked.clock.now(), now
        while not sent.accepted and checked.clock.now() - lost_at < 2 * WITHIN:
            checked.clock.advance(3)
            await settled()
    assert checked.clock.now() - lost_at <= WITHIN

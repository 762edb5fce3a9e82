"""What every adapter of the store port does (the design, "The store is one small idea")."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from orrery.errors import Invalid, StoreUnavailable
from orrery.ports.store import MAXIMUM_KEY_BYTES, Absent, Committed, Conflict, Delete, Put, Store, Unchanged
from tests.support.clock import ManualClock
from tests.support.stores import keys_of, put
from tests.support.tables import each_case

MINUTE = timedelta(seconds=60)
DAY_SECONDS = 24 * 60 * 60


async def version_of(store: Store, key: str) -> int:
    """Return the version of an entry that must be there."""
    entry = await store.get(key)
    assert entry is not None
    return entry.version


async def test_what_was_put_is_read_back(store: Store) -> None:
    """An entry carries its key, value, no expiry, and the version of its commit."""
    version = await put(store, "a")
    entry = await store.get("a")
    assert entry is not None
    assert (entry.key, entry.value, entry.version, entry.expires_at) == ("a", b"a", version, None)


async def test_nothing_is_under_an_unknown_key(store: Store) -> None:
    """A key that was never written reads as None."""
    assert await store.get("nobody") is None


@each_case("value", [b"", b"\x00", b"a\x00b", bytes(range(256)), "žluťoučký 🦄".encode(), b"x" * 1_000_000])
async def test_values_are_bytes_of_any_kind(store: Store, value: bytes) -> None:
    """A value comes back byte for byte, empty or with NULs or a megabyte long."""
    await store.commit([Put("key", value)])
    entry = await store.get("key")
    assert entry is not None
    assert entry.value == value


@pytest.mark.parametrize(
    "key", ["a\x00b", "\x00", "%", "_", "'; DROP TABLE entries; --", "🦄", "\U0010ffff", "x" * 512]
)
async def test_keys_are_text_of_any_kind(store: Store, key: str) -> None:
    """A key is found under exactly its own name."""
    await put(store, key)
    assert await keys_of(store) == [key]
    assert await store.get(key) is not None
    assert await store.get(key + "\x00") is None


async def test_all_writes_of_a_commit_share_its_version(store: Store) -> None:
    """Every entry of one commit carries the commit's version."""
    version = await put(store, "a", "b", "c")
    assert {entry.version for entry in await store.scan("")} == {version}


async def test_versions_grow(store: Store) -> None:
    """Each commit has a higher version than the one before, whatever its keys."""
    versions = [await put(store, key) for key in ("a", "b", "a", "c")]
    assert versions == sorted(set(versions))


async def test_a_commit_of_deletes_has_a_version_too(store: Store) -> None:
    """Deleting takes a number from the same sequence."""
    before = await put(store, "a")
    outcome = await store.commit([Delete("a")])
    assert isinstance(outcome, Committed)
    assert outcome.version > before


async def test_deleting_what_is_not_there_is_no_error(store: Store) -> None:
    """A delete of an absent key commits."""
    assert isinstance(await store.commit([Delete("nobody")]), Committed)


async def test_a_failed_check_writes_nothing(store: Store) -> None:
    """When one check of several fails, none of the writes is done."""
    await put(store, "taken")
    outcome = await store.commit([Put("new", b""), Delete("taken")], [Absent("new"), Absent("taken")])
    assert outcome == Conflict(("taken",))
    assert await keys_of(store) == ["taken"]


async def test_a_conflict_takes_no_version(store: Store) -> None:
    """A refused commit does not show in the sequence."""
    first = await put(store, "a")
    await store.commit([Put("a", b"")], [Absent("a")])
    assert await put(store, "b") == first + 1


async def test_a_conflict_names_each_failed_key_once(store: Store) -> None:
    """The keys of a conflict are those that failed, in the order of the checks."""
    version = await put(store, "a", "b", "c")
    checks = [Unchanged("c", version + 1), Unchanged("b", version), Absent("a"), Absent("c")]
    assert await store.commit([Put("d", b"")], checks) == Conflict(("c", "a"))


async def test_unchanged_holds_for_the_current_version_only(store: Store) -> None:
    """Compare-and-set: the current version is accepted once, then it is an old one."""
    version = await put(store, "a")
    assert isinstance(await store.commit([Put("a", b"2")], [Unchanged("a", version)]), Committed)
    assert await store.commit([Put("a", b"3")], [Unchanged("a", version)]) == Conflict(("a",))


async def test_unchanged_fails_for_an_absent_key(store: Store) -> None:
    """A key that is not there has no version to be unchanged, not even 0."""
    assert await store.commit([Put("a", b"")], [Unchanged("a", 0)]) == Conflict(("a",))


async def test_checks_may_name_keys_that_are_not_written(store: Store) -> None:
    """A check guards any key: a lease fences writes elsewhere."""
    lease = await put(store, "lease")
    assert isinstance(await store.commit([Put("work", b"")], [Unchanged("lease", lease)]), Committed)
    await put(store, "lease")
    assert await store.commit([Put("work", b"late")], [Unchanged("lease", lease)]) == Conflict(("lease",))


async def test_a_commit_of_checks_alone_is_answered(store: Store) -> None:
    """Checks without writes say whether they hold, and change nothing."""
    version = await put(store, "a")
    assert isinstance(await store.commit([], [Unchanged("a", version)]), Committed)
    assert await store.commit([], [Absent("a")]) == Conflict(("a",))
    assert await version_of(store, "a") == version


async def test_a_key_written_twice_in_one_commit_is_refused(store: Store) -> None:
    """Two writes of one key are `Invalid`, and nothing is written."""
    with pytest.raises(Invalid, match="only once"):
        await store.commit([Put("a", b"1"), Put("b", b""), Delete("a")])
    assert await keys_of(store) == []


async def test_a_version_is_not_reused_after_a_delete(store: Store) -> None:
    """A key that was deleted and made anew is not what an old check remembers."""
    old = await put(store, "a")
    await store.commit([Delete("a")])
    new = await put(store, "a")
    assert new > old
    assert await store.commit([Put("a", b"")], [Unchanged("a", old)]) == Conflict(("a",))


async def test_a_version_is_not_reused_after_expiry(store: Store, clock: ManualClock) -> None:
    """A key that expired and was made anew is not what an old check remembers."""
    old = await put(store, "a", ttl=MINUTE)
    clock.advance(60)
    assert await store.commit([Put("a", b"")], [Unchanged("a", old)]) == Conflict(("a",))
    assert await put(store, "a") > old
    assert await store.commit([Put("a", b"")], [Unchanged("a", old)]) == Conflict(("a",))


@pytest.mark.parametrize("seconds", [-1, 0, 59, 59.999])
async def test_a_ttl_below_a_minute_is_refused(seconds: float) -> None:
    """A time to live of less than 60 s is `Invalid` and says the rule (spec 2, Limits)."""
    with pytest.raises(Invalid, match="at least 60 s"):
        Put("a", b"", timedelta(seconds=seconds))


def test_a_refused_ttl_is_told_as_it_was() -> None:
    """A time just below the limit is not rounded up to it, and what is no time is refused as any wrong value."""
    with pytest.raises(Invalid, match=r"of 59\.999999 s: it must be at least 60 s"):
        Put("a", b"", timedelta(seconds=59.999999))
    wrong: Any = 60
    with pytest.raises(Invalid, match="it must be a timedelta, and no int"):
        Put("a", b"", wrong)


async def test_an_entry_lives_to_the_second(store: Store, clock: ManualClock) -> None:
    """With a TTL of 60 s an entry is there at 59 s and gone at 60 s, for get, scan and checks alike."""
    version = await put(store, "a", ttl=MINUTE)
    clock.advance(59)
    assert await store.get("a") is not None
    assert await keys_of(store) == ["a"]
    assert isinstance(await store.commit([], [Unchanged("a", version)]), Committed)
    clock.advance(1)
    assert await store.get("a") is None
    assert await keys_of(store) == []
    assert isinstance(await store.commit([], [Absent("a")]), Committed)


async def test_an_entry_tells_when_it_expires(store: Store, clock: ManualClock) -> None:
    """`expires_at` is the time of the commit plus the TTL."""
    await put(store, "a", ttl=MINUTE)
    entry = await store.get("a")
    assert entry is not None
    assert entry.expires_at == clock.now() + MINUTE


async def test_a_put_replaces_the_expiry(store: Store, clock: ManualClock) -> None:
    """Writing again without a TTL keeps the entry for ever; with one, for the new time."""
    await put(store, "kept", "renewed", ttl=MINUTE)
    clock.advance(30)
    await put(store, "kept")
    await put(store, "renewed", ttl=MINUTE)
    clock.advance(59)
    assert await keys_of(store) == ["kept", "renewed"]
    clock.advance(1)
    assert await keys_of(store) == ["kept"]


async def test_expired_entries_stay_gone_through_later_commits(store: Store, clock: ManualClock) -> None:
    """Sweeping removes what expired, more than one sweep takes at a time too, and nothing else."""
    await put(store, *(f"old:{n:03}" for n in range(250)), ttl=MINUTE)
    await put(store, "new", ttl=2 * MINUTE)
    clock.advance(60)
    for n in range(5):
        await put(store, f"later:{n}")
        assert await keys_of(store, "old:") == []
    assert await keys_of(store, "new") == ["new"]


async def test_a_repeated_commit_id_returns_the_first_outcome(store: Store) -> None:
    """A commit repeated under its id answers as it did first, and writes nothing."""
    first = await store.commit([Put("a", b"1")], [Absent("a")], commit_id="once")
    assert await store.commit([Put("a", b"2")], [Absent("a")], commit_id="once") == first
    entry = await store.get("a")
    assert entry is not None
    assert entry.value == b"1"


async def test_a_refused_commit_id_may_be_tried_again(store: Store) -> None:
    """A conflict is not a commit: the same id is judged anew."""
    await put(store, "a")
    assert await store.commit([Put("a", b"")], [Absent("a")], commit_id="again") == Conflict(("a",))
    await store.commit([Delete("a")])
    assert isinstance(await store.commit([Put("a", b"")], [Absent("a")], commit_id="again"), Committed)


async def test_a_commit_id_is_remembered_for_a_day(store: Store, clock: ManualClock) -> None:
    """After 24 h and many other commits the id still returns the first outcome."""
    first = await store.commit([Put("a", b"")], commit_id="once")
    for n in range(10):
        await store.commit([Put("other", b"")], commit_id=f"other-{n}")
    clock.advance(DAY_SECONDS)
    await put(store, "b")
    assert await store.commit([Put("a", b"")], commit_id="once") == first


async def test_a_commit_id_is_forgotten_at_last(store: Store, clock: ManualClock) -> None:
    """Past a day, and some commits to sweep in, an id is as good as new."""
    first = await store.commit([Put("a", b"")], commit_id="once")
    clock.advance(DAY_SECONDS + 1)
    for n in range(3):
        await put(store, f"b{n}")
    assert await store.commit([Put("a", b"")], commit_id="once") != first


async def test_a_commit_id_of_a_time_to_come_is_forgotten(store: Store, clock: ManualClock) -> None:
    """What was noted years ahead, before the clock was put right, does not stay until then."""
    years = timedelta(days=2000).total_seconds()
    clock.advance(years)
    first = await store.commit([Put("a", b"1")], commit_id="once")
    clock.advance(-years)
    for n in range(3):
        await put(store, f"later-{n}")
    assert await store.commit([Put("a", b"2")], commit_id="once") != first


@pytest.mark.parametrize("key", ["", "x" * (MAXIMUM_KEY_BYTES + 1), "é" * 257, "\ud800"])
async def test_a_bad_key_cannot_be_put(key: str) -> None:
    """An empty, over-long or unencodable key is `Invalid`."""
    with pytest.raises(Invalid, match="store key"):
        Put(key, b"")


async def test_a_lone_surrogate_is_invalid_everywhere(store: Store) -> None:
    """Text that has no UTF-8 form is refused with a sentence by every method, and nothing is written."""
    bad = "\ud800"
    for attempt in (
        lambda: store.get(bad),
        lambda: store.scan(bad),
        lambda: store.scan("", after=bad),
        lambda: store.commit([Put("a", b""), Delete(bad)]),
        lambda: store.commit([Put("a", b"")], [Absent(bad)]),
        lambda: store.commit([Put("a", b"")], commit_id=bad),
    ):
        with pytest.raises(Invalid, match="Unicode"):
            await attempt()
    assert await keys_of(store) == []


async def test_one_of_many_racing_callers_wins(store: Store) -> None:
    """Fifty put-if-absent at once on one key: one commits, the others are told of the conflict."""
    attempts = (store.commit([Put("a", str(n).encode())], [Absent("a")]) for n in range(50))
    outcomes = await asyncio.gather(*attempts)
    winners = [n for n, outcome in enumerate(outcomes) if isinstance(outcome, Committed)]
    entry = await store.get("a")
    assert entry is not None
    assert [entry.value] == [str(n).encode() for n in winners]


async def test_one_id_handed_in_many_times_at_once_commits_once(store: Store) -> None:
    """Fifty commits under one id give one version between them."""
    outcomes = await asyncio.gather(*(store.commit([Put("a", b"")], commit_id="once") for _ in range(50)))
    assert outcomes == [Committed(await version_of(store, "a"))] * 50


async def test_a_cancelled_caller_disturbs_nobody(store: Store) -> None:
    """Callers that give up leave the others' commits whole, and the store goes on."""
    tasks = [asyncio.ensure_future(store.commit([Put(f"{n:02}", b"")])) for n in range(20)]
    await checkpoint()
    for task in tasks[::2]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, Committed) for outcome in outcomes[1::2])
    assert set(await keys_of(store)) >= {f"{n:02}" for n in range(1, 20, 2)}


async def test_a_scrub_changes_no_entry(store: Store) -> None:
    """What is there stays as it is, with its version; what comes after is stored as ever."""
    await store.commit([Put("a", b"1"), Put("b", b"2")])
    await store.commit([Delete("b")])
    before = await store.scan("")
    assert await store.scrub()
    assert await store.scan("") == before
    assert isinstance(await store.commit([Put("b", b"3")], [Absent("b")]), Committed)


async def test_a_closed_store_refuses(store: Store) -> None:
    """After `close`, which may be called twice, every method raises `StoreUnavailable`."""
    await store.close()
    await store.close()
    for attempt in (
        lambda: store.get("a"),
        lambda: store.scan(""),
        lambda: store.commit([Put("a", b"")]),
        store.scrub,
    ):
        with pytest.raises(StoreUnavailable, match="closed"):
            await attempt()


async def test_close_finishes_what_was_handed_in(store: Store) -> None:
    """Commits that were under way when the store was closed are answered as committed."""
    tasks = [asyncio.ensure_future(store.commit([Put(f"{n}", b"")])) for n in range(20)]
    await checkpoint()
    await store.close()
    assert all(isinstance(outcome, Committed) for outcome in await asyncio.gather(*tasks))

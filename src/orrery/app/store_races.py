"""Races of several processes on one store: what the store port promises to more than one process.

Each process runs a race at the same time, and returns what the store answered; the judge of the race compares
that with what the store holds then, and returns what is wrong. An engine whose commits do not wait for each other
passes every test of one process, and fails here.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context

from orrery.ports.store import Absent, Committed, Conflict, Put, Store, StoreEntry, StorePlace, Unchanged

Known = list[tuple[str, int]]
"""The answers that one process had: a name, and the version or number that goes with it."""

_PAUSE = 0.01


@dataclass(frozen=True, slots=True)
class Race:
    """`run(store, process, size)` in each process at once; then `judge(store, known)`, with what each returned."""

    run: Callable[[Store, int, int], Awaitable[Known]]
    judge: Callable[[Store, Sequence[Known]], Awaitable[list[str]]]


async def _begun(store: Store, name: str, process: int, processes: int) -> None:
    """Wait until all processes of the race are there."""
    _ = await store.commit([Put(f"start:{name}:{process}", b"")])
    while len(await store.scan(f"start:{name}:")) < processes:  # noqa: ASYNC110  no event reaches other processes
        await asyncio.sleep(_PAUSE)


async def entries(store: Store, prefix: str) -> list[StoreEntry]:
    """Return all entries under `prefix`."""
    found: list[StoreEntry] = []
    while page := await store.scan(prefix, after=found[-1].key if found else None, limit=1000):
        found += page
    return found


async def _put_absent(store: Store, process: int, size: int) -> Known:
    won: Known = []
    for number in range(size):
        key = f"absent:{number:05}"
        match await store.commit([Put(key, str(process).encode())], [Absent(key)]):
            case Committed(version):
                won.append((key, version))
            case Conflict():
                pass
    return won


async def _judge_absent(store: Store, known: Sequence[Known]) -> list[str]:
    winners = Counter(key for one in known for key, _ in one)
    answered = {(key, version, str(process).encode()) for process, one in enumerate(known) for key, version in one}
    held = {(entry.key, entry.version, entry.value) for entry in await entries(store, "absent:")}
    twice = sum(count > 1 for count in winners.values())
    return [*([f"{twice} keys were won by two processes"] if twice else []), *_lost(answered - held)]


async def _count(store: Store, _process: int, size: int) -> Known:
    """Add one to one counter, `size` times, each by compare-and-set."""
    added: Known = []
    while len(added) < size:
        entry = await store.get("counter")
        value = str(int(entry.value) + 1 if entry else 1).encode()
        check = Unchanged("counter", entry.version) if entry else Absent("counter")
        match await store.commit([Put("counter", value)], [check]):
            case Committed(version):
                added.append(("counter", version))
            case Conflict():
                pass
    return added


async def _judge_count(store: Store, known: Sequence[Known]) -> list[str]:
    acknowledged, entry = sum(map(len, known)), await store.get("counter")
    value = int(entry.value) if entry else 0
    return [] if value == acknowledged else [f"the counter is {value} after {acknowledged} acknowledged additions"]


async def _skew(store: Store, process: int, size: int) -> Known:
    """Take the one of two places only while the other is free: each process wants another place."""
    taken: Known = []
    for number in range(size):
        mine, other = (f"skew:{number:05}:{place}" for place in (process % 2, 1 - process % 2))
        match await store.commit([Put(mine, str(process).encode())], [Absent(mine), Absent(other)]):
            case Committed(version):
                taken.append((mine, version))
            case Conflict():
                pass
    return taken


async def _judge_skew(store: Store, known: Sequence[Known]) -> list[str]:
    pairs = Counter(entry.key.rpartition(":")[0] for entry in await entries(store, "skew:"))
    both = sum(count > 1 for count in pairs.values())
    answered = {key for one in known for key, _ in one}
    held = {entry.key for entry in await entries(store, "skew:")}
    return [*([f"in {both} pairs both places were taken"] if both else []), *_lost(answered - held)]


async def _lease(store: Store, process: int, size: int) -> Known:
    """Take a lease from its holder, again and again, and write under it; return the writes that were done."""
    done: Known = []
    for number in range(size):
        entry = await store.get("lease")
        taken = await store.commit(
            [Put("lease", str(process).encode())],
            [Unchanged("lease", entry.version) if entry else Absent("lease")],
        )
        if isinstance(taken, Committed):
            written = await store.commit(
                [Put(f"fenced:{process}:{number:05}", str(taken.version).encode())],
                [Unchanged("lease", taken.version)],
            )
            if isinstance(written, Committed):
                done.append((str(taken.version), written.version))
    return done


async def _judge_lease(store: Store, known: Sequence[Known]) -> list[str]:
    """Every write under a lease came before the next lease: the versions tell the order of both."""
    terms = sorted((int(lease), written) for one in known for lease, written in one)
    late = sum(written > following for (_, written), (following, _) in pairwise(terms))
    doubled = len(terms) - len({lease for lease, _ in terms})
    held = {(entry.value.decode(), entry.version) for entry in await entries(store, "fenced:")}
    return [
        *([f"{late} writes came after another process had taken the lease"] if late else []),
        *([f"{doubled} leases were given out twice"] if doubled else []),
        *_lost({one for process in known for one in process} - held),
    ]


async def _claim(store: Store, process: int, size: int) -> Known:
    """Claim each message of an outbox by changing it, as several workers do that saw the same page."""
    keys = [f"message:{number:05}" for number in range(size)]
    _ = await asyncio.gather(*(store.commit([Put(key, b"due")], [Absent(key)]) for key in keys))
    claimed: Known = []
    for entry in await entries(store, "message:"):
        if entry.value == b"due":
            claim = await store.commit(
                [Put(entry.key, str(process).encode())], [Unchanged(entry.key, entry.version)]
            )
            if isinstance(claim, Committed):
                claimed.append((entry.key, claim.version))
    return claimed


async def _judge_claim(store: Store, known: Sequence[Known]) -> list[str]:
    sent = Counter(key for one in known for key, _ in one)
    twice = sum(count > 1 for count in sent.values())
    held = await entries(store, "message:")
    left = sum(entry.value == b"due" for entry in held)
    return [
        *([f"{twice} messages were claimed by two processes"] if twice else []),
        *([f"{left} messages were claimed by none"] if left else []),
    ]


_PARTS = ("a", "b", "c")


async def _tear(store: Store, process: int, size: int) -> Known:
    """Write three keys in each commit, which others overwrite, and look at them in one page."""
    torn: Known = []
    for number in range(size):
        value = f"{process}:{number}".encode()
        _ = await store.commit([Put(f"set:{part}", value) for part in _PARTS])
        page = await store.scan("set:")
        if len({(entry.value, entry.version) for entry in page}) != 1:
            torn.append(("torn", number))
    return torn


async def _judge_tear(store: Store, known: Sequence[Known]) -> list[str]:
    torn = sum(map(len, known))
    held = {(entry.value, entry.version) for entry in await store.scan("set:")}
    return [
        *([f"{torn} pages showed a part of a commit"] if torn else []),
        *(["a part of a commit is stored"] if len(held) != 1 else []),
    ]


async def _repeat(store: Store, process: int, size: int) -> Known:
    """Send commits under ids that every process uses, as one does that lost the answer."""
    answered: Known = []
    for number in range(size):
        value = str(process).encode()
        outcome = await store.commit([Put(f"once:{number:05}:{process}", value)], commit_id=f"once-{number}")
        if isinstance(outcome, Committed):
            answered.append((f"once:{number:05}", outcome.version))
    return answered


async def _judge_repeat(store: Store, known: Sequence[Known]) -> list[str]:
    stored = Counter(entry.key.rpartition(":")[0] for entry in await entries(store, "once:"))
    twice = sum(count > 1 for count in stored.values())
    versions = {(key, version) for one in known for key, version in one}
    differing = len(versions) - len({key for key, _ in versions})
    return [
        *([f"{twice} ids were committed by two processes"] if twice else []),
        *([f"{differing} repeats had another answer than the first"] if differing else []),
    ]


def _lost(missing: set[tuple[str, int, bytes]] | set[tuple[str, int]] | set[str]) -> list[str]:
    return [f"{len(missing)} acknowledged writes are not in the store"] if missing else []


RACES = {
    "put if absent": Race(_put_absent, _judge_absent),
    "counter": Race(_count, _judge_count),
    "write skew": Race(_skew, _judge_skew),
    "lease": Race(_lease, _judge_lease),
    "outbox": Race(_claim, _judge_claim),
    "torn commit": Race(_tear, _judge_tear),
    "repeat": Race(_repeat, _judge_repeat),
}


def raced(places: Sequence[StorePlace], size: int) -> Iterator[tuple[str, list[str]]]:
    """Run every race with a process for each place, all of one new store; yield its name and what is wrong.

    `size` is how often a process commits in a race, about.
    """
    with ProcessPoolExecutor(len(places), get_context("spawn")) as processes:
        for name in RACES:
            running = [processes.submit(_run, name, places, process, size) for process in range(len(places))]
            known = [one.result() for one in running]
            yield name, asyncio.run(_judged(name, places[0], known))


def _run(name: str, places: Sequence[StorePlace], process: int, size: int) -> Known:
    async def run() -> Known:
        store = await places[process].open()
        try:
            await _begun(store, name, process, len(places))
            return await RACES[name].run(store, process, size)
        finally:
            await store.close()

    return asyncio.run(run())


async def _judged(name: str, place: StorePlace, known: Sequence[Known]) -> list[str]:
    store = await place.open()
    try:
        return await RACES[name].judge(store, known)
    finally:
        await store.close()

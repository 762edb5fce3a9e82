"""How every adapter of the store port scans: by prefix, in byte order, both ways, in pages."""

import asyncio
from datetime import timedelta

import pytest
from anyio.lowlevel import checkpoint

from orrery.ports.store import Store
from tests.support.clock import ManualClock
from tests.support.stores import keys_of, put

MINUTE = timedelta(seconds=60)


async def test_keys_order_by_their_utf8_bytes(store: Store) -> None:
    """Scans go by UTF-8 bytes, in which U+FFFF comes before U+1F984, both ways."""
    ordered = ["", "\x00", "A", "Z", "_", "a", "a\x00", "a!", "aa", "é", "\uffff", "🦄", "\U0010ffff"][1:]
    await put(store, *reversed(ordered))
    assert await keys_of(store) == ordered
    assert await keys_of(store, reverse=True) == ordered[::-1]


@pytest.mark.parametrize(
    ("prefix", "inside", "outside"),
    [
        ("a:", ["a:", "a:\x00", "a:1", "a:\U0010ffff"], ["a", "a9", "a;", "b:"]),
        ("%", ["%", "%a"], ["a", "a%", "&"]),
        ("_", ["_", "_x"], ["x", "`"]),
        ("\uffff", ["\uffff", "\uffff\uffff"], ["\ufffe", "🦄"]),
        ("\U0010ffff", ["\U0010ffff", "\U0010ffff\U0010ffff", "\U0010ffffz"], ["\U0010fffe", "z"]),
        ("🦄", ["🦄", "🦄🦄"], ["🦁", "🦅"]),
        ("A", ["A", "Ab"], ["a", "B", "Á"]),
    ],
)
async def test_a_prefix_is_taken_to_the_letter(
    store: Store, prefix: str, inside: list[str], outside: list[str]
) -> None:
    """A scan returns exactly the keys that start with the prefix: no wildcards, no case folding."""
    await put(store, *inside, *outside)
    assert await keys_of(store, prefix) == sorted(inside)
    assert await keys_of(store, prefix, reverse=True) == sorted(inside, reverse=True)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
async def test_pages_join_to_the_whole(store: Store, size: int, reverse: bool) -> None:  # noqa: FBT001  a parameter of the test
    """Paging by `after` meets every key once, in order, and ends with an empty page."""
    expected = sorted((f"p:{n}" for n in range(7)), reverse=reverse)
    await put(store, "o:0", *expected, "q:0")
    seen: list[str] = []
    for _ in range(len(expected) + 1):
        page = await keys_of(store, "p:", after=seen[-1] if seen else None, limit=size, reverse=reverse)
        assert len(page) <= size
        seen += page
    assert seen == expected


async def test_after_need_not_exist_nor_lie_under_the_prefix(store: Store) -> None:
    """`after` is a place in the order: a deleted key, or one before or beyond the prefix."""
    await put(store, "p:1", "p:3")
    assert await keys_of(store, "p:", after="p:2") == ["p:3"]
    assert await keys_of(store, "p:", after="p:2", reverse=True) == ["p:1"]
    assert await keys_of(store, "p:", after="a") == ["p:1", "p:3"]
    assert await keys_of(store, "p:", after="z") == []
    assert await keys_of(store, "p:", after="z", reverse=True) == ["p:3", "p:1"]
    assert await keys_of(store, "p:", after="a", reverse=True) == []


async def test_a_page_is_filled_past_expired_entries(store: Store, clock: ManualClock) -> None:
    """The limit counts living entries only."""
    await put(store, "a", "b", ttl=MINUTE)
    await put(store, "c", "d")
    clock.advance(60)
    assert await keys_of(store, limit=2) == ["c", "d"]


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_page_of_none_is_empty(store: Store, limit: int) -> None:
    """A limit of zero or less returns nothing, not everything."""
    await put(store, "a")
    assert await keys_of(store, limit=limit) == []


async def test_reads_give_way(store: Store) -> None:
    """Others go on while a caller reads and reads: no read is a stretch in which no deadline can fire."""
    await put(store, "a")
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await checkpoint()
            turns += 1

    beside = asyncio.ensure_future(other())
    for number in range(1, 21):
        await store.get("a")
        await store.scan("")
        assert turns >= number
    beside.cancel()

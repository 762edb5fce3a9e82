"""Which commits may share one statement: an order in waves has the outcome of one by one."""

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from orrery.adapters.postgres.waves import waves
from orrery.ports.store import Absent, Delete, Put
from orrery.store_calls import Request

KEYS = st.sampled_from("abc")
WRITES = KEYS.flatmap(lambda key: st.sampled_from([Put(key, b""), Delete(key)]))
REQUESTS = st.lists(
    st.builds(
        Request,
        st.lists(WRITES, max_size=2, unique_by=lambda write: write.key),
        st.lists(st.builds(Absent, KEYS), max_size=2),
        st.integers(1, 20).map(str),
        st.just(value=True),
    ),
    max_size=6,
)


TWO_CHECKS = [
    Request([Delete("a")], [], "1", named=True),
    Request([], [Absent("a"), Absent("b")], "2", named=True),
    Request([], [Absent("b")], "3", named=True),
    Request([Put("b", b"")], [], "4", named=True),
]
"""The last must not come before the second, though the third checks its key in an earlier wave."""


@settings(max_examples=300)
@example(TWO_CHECKS)
@given(REQUESTS)
def test_waves_have_the_outcome_of_one_by_one(requests: Sequence[Request]) -> None:
    """All checks and ids of a wave see what was there before it; the same is answered and held in the end."""
    assert carried_out(waves(requests)) == carried_out([[request] for request in requests])


@given(REQUESTS)
def test_what_touches_nothing_of_another_shares_a_wave(requests: Sequence[Request]) -> None:
    """A wave is not longer than it must be: requests with keys and ids of their own are one."""
    apart = [
        Request([Put(f"{number}{write.key}", b"") for write in one.writes], (), f"{number}", named=True)
        for number, one in enumerate(requests)
    ]
    assert len(waves(apart)) == min(len(apart), 1)


def test_a_check_shares_the_wave_of_a_later_write() -> None:
    """It sees what was there before the wave, as it should."""
    check, write = Request([], [Absent("a")], "1", named=True), Request([Put("a", b"")], [], "2", named=True)
    assert waves([check, write]) == [[check, write]]
    assert waves([write, check]) == [[write], [check]]


def carried_out(groups: Sequence[Sequence[Request]]) -> tuple[dict[int, bool], dict[str, int]]:
    """Return which requests are done, and by which of them each key was written that is there in the end."""
    held, ids, done = dict[str, int](), dict[str, bool](), dict[int, bool]()
    for group in groups:
        before, known = set(held), dict(ids)
        for request in group:
            fits = not any(check.key in before for check in request.checks)
            done[id(request)] = known.get(request.commit_id, fits)
            if fits and request.commit_id not in known:
                ids[request.commit_id] = True
                for write in request.writes:
                    held.pop(write.key, None)
                    if isinstance(write, Put):
                        held[write.key] = id(request)
    return done, held

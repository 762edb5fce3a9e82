"""Sliding-window rate limits (decision 14)."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from orrery.edge.rate_limit import Limit, RateLimit
from tests.support.clock import ManualClock

MINUTE, HOUR = Limit(10, 60), Limit(60, 3600)


def limited(*limits: Limit) -> tuple[ManualClock, RateLimit]:
    """Return a limit, by default the checkout operation's, and its clock."""
    clock = ManualClock()
    return clock, RateLimit(clock, *(limits or (MINUTE, HOUR)), wider=4)


def test_ten_a_minute() -> None:
    """Ten requests at once pass, and the eleventh waits a minute."""
    _, limit = limited()
    assert [limit.wait("a") for _ in range(11)] == [0] * 10 + [60]


def test_the_window_slides() -> None:
    """A request may come a minute after the one that is ten before it, whenever the minute began."""
    clock, limit = limited()
    for _ in range(10):
        assert limit.wait("a") == 0
        clock.advance(3)
    assert limit.wait("a") == 30
    clock.advance(30)
    assert limit.wait("a") == 0
    assert limit.wait("a") == 3


def test_sixty_an_hour() -> None:
    """Sixty requests within an hour pass, and the next one waits until the first is an hour old."""
    clock, limit = limited()
    for _ in range(60):
        assert limit.wait("a") == 0
        clock.advance(10)
    assert limit.wait("a") == 3600 - 600
    clock.advance(3000)
    assert limit.wait("a") == 0


def test_a_refused_request_is_not_counted() -> None:
    """Anyone who keeps knocking is let in when the time has come, as if they had waited quietly."""
    clock, limit = limited()
    for _ in range(10):
        limit.wait("a")
    for second in range(60):
        assert limit.wait("a") == 60 - second
        clock.advance(1)
    assert limit.wait("a") == 0


def test_scopes_are_apart() -> None:
    """What one address did is not counted for another."""
    _, limit = limited()
    for _ in range(10):
        limit.wait("a")
    assert (limit.wait("a"), limit.wait("b")) == (60, 0)


def test_part_of_a_second_is_a_second() -> None:
    """The wait is told in whole seconds, rounded up."""
    clock, limit = limited(Limit(1, 60))
    limit.wait("a")
    clock.advance(0.25)
    assert limit.wait("a") == 60
    clock.advance(59.5)
    assert limit.wait("a") == 1


@given(
    st.lists(st.integers(0, 400), max_size=60),
    st.integers(1, 5),
    st.integers(1, 90),
    st.integers(5, 20),
    st.integers(100, 1000),
)
def test_the_wait_is_right(quarters: list[int], few: int, short: int, many: int, long: int) -> None:
    """No window ever holds more than its count, and anyone who waits as told is let in."""
    clock, limit = limited(Limit(few, short), Limit(many, long))
    passed: list[float] = []
    for quarter in quarters:
        clock.advance(quarter / 4)
        wait = limit.wait("a")
        if wait:
            clock.advance(wait)
            assert limit.wait("a") == 0
        passed.append(clock.monotonic())
        for count, seconds in ((few, short), (many, long)):
            assert len([moment for moment in passed if moment > clock.monotonic() - seconds]) <= count


def test_memory_is_bounded() -> None:
    """A flood of addresses forgets those that were seen longest ago, and keeps the latest."""
    _, limit = limited(Limit(1, 60))
    for number in range(50_000):
        limit.wait(f"address-{number}")
    assert limit.wait("address-0") == 60
    limit.wait("one too many")
    assert limit.wait("address-0") == 60
    assert limit.wait("address-49999") == 60
    assert limit.wait("address-1") == 0


def by_network(limit: RateLimit, numbers: Sequence[int], network: str = "/56") -> list[int]:
    """Ask once from each of these /64s of one /56."""
    return [limit.wait(f"{network} {number}/64", network) for number in numbers]


def test_a_wider_network_may_four_times_as_much() -> None:
    """Whoever changes the /64 with every request passes 40 times a minute, and 240 times an hour."""
    clock, limit = limited()
    assert by_network(limit, range(41)) == [0] * 40 + [60]
    for minute in range(1, 6):
        clock.advance(60)
        assert by_network(limit, range(minute * 100, minute * 100 + 40)) == [0] * 40
    assert by_network(limit, [0, 999]) == [3600 - 300] * 2
    assert limit.wait("other /64", "other /56") == 0


def test_one_of_a_wider_network_may_as_much_as_ever() -> None:
    """One /64 has its own limit within the /56, and leaves the rest to the others."""
    clock, limit = limited()
    assert by_network(limit, [1] * 12) == [0] * 10 + [60] * 2
    assert by_network(limit, [2] * 11 + [3] * 11 + [4] * 11) == ([0] * 10 + [60]) * 3
    assert by_network(limit, [5]) == [60]
    clock.advance(60)
    assert by_network(limit, [5]) == [0]


def test_what_one_limit_refuses_is_not_counted_by_the_other() -> None:
    """A refused request is counted nowhere: neither a neighbour's refusals nor one's own use up a limit."""
    _, limit = limited()
    assert by_network(limit, [1] * 100)[10:] == [60] * 90
    assert by_network(limit, range(2, 33)) == [0] * 30 + [60]
    clock, limit = limited(Limit(2, 60))
    assert by_network(limit, [1, 2, 3, 4, 5, 6, 7, 8]) == [0] * 8
    clock.advance(30)
    assert by_network(limit, [9] * 20) == [30] * 20
    clock.advance(30)
    assert by_network(limit, [9, 9, 9]) == [0, 0, 60]


def test_the_wait_is_that_of_the_limit_that_refuses() -> None:
    """Where both refuse, it is the longer one: after it both let the request pass."""
    clock, limit = limited(Limit(1, 60))
    assert by_network(limit, [1]) == [0]
    clock.advance(20)
    assert by_network(limit, [2, 3, 4]) == [0] * 3
    assert by_network(limit, [5, 1, 2]) == [40, 40, 60]
    clock.advance(40)
    assert by_network(limit, [5]) == [0]


def test_an_attacker_with_a_48_gains_nothing_by_changing_addresses() -> None:
    """Of 65,536 /64s only 4 a /56 pass in a minute, more than are remembered; memory stays bounded."""
    clock, limit = limited(Limit(1, 60))
    for _ in range(2):
        passed = [by_network(limit, range(256), f"{site}/56").count(0) for site in range(256)]
        assert passed == [4] * 256
        clock.advance(60)
    assert limit.wait("one", "more") == 0
    assert limit.scopes == 2


def test_what_is_over_is_forgotten() -> None:
    """A scope is forgotten when its last request is out of every window, so that no stale times add up."""
    clock, limit = limited()
    for number in range(100):
        assert limit.wait(f"address-{number}") == 0
    clock.advance(3600)
    assert (limit.wait("address-0"), limit.scopes) == (0, 1)

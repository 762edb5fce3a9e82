"""Sliding-window rate limits (decision 14)."""

from hypothesis import given
from hypothesis import strategies as st

from orrery.edge.ratelimit import Limit, RateLimit
from tests.support.clock import ManualClock

MINUTE, HOUR = Limit(10, 60), Limit(60, 3600)


def limited(*limits: Limit) -> tuple[ManualClock, RateLimit]:
    """Return a limit, by default the checkout operation's, and its clock."""
    clock = ManualClock()
    return clock, RateLimit(clock, *(limits or (MINUTE, HOUR)))


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

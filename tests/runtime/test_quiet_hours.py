"""Quiet hours hold what can wait, lose nothing, and end in one push (docs/decisions/0089)."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from orrery.adapters.memory import MemoryStore
from orrery.ports.notifier import PUSH_BYTES, DeliveryFailed, Notifier, Priority
from orrery.ports.store import Put, Store
from orrery.runtime.collection import parse
from orrery.runtime.outbox import MOST_COUNTED, UNDELIVERABLE, Notification, Outbox, OutboxDraft, enqueue
from orrery.runtime.outbox_lanes import Channel
from orrery.runtime.quiet_hours import QuietHours
from orrery.runtime.quiet_summary import QuietSummary, summary
from orrery.runtime.settings import PushSettings
from tests.support.clock import ManualClock, WallClock
from tests.support.killed import Fuse, Killed
from tests.support.notifiers import ScriptedNotifier
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

PARIS = ZoneInfo("Europe/Paris")
NIGHT = QuietHours(time(22), time(7), PARIS)
EVENING = datetime(2026, 3, 1, 20, 59, tzinfo=UTC)
"""A minute before the quiet hours begin in Paris."""
MINUTE, HOUR = 60.0, 3600.0


@dataclass
class Desk:
    """An outbox with quiet hours, both services, and a process that may start again."""

    hours: QuietHours | None = NIGHT
    clock: ManualClock = field(default_factory=lambda: WallClock(EVENING))
    push: ScriptedNotifier = field(default_factory=ScriptedNotifier)
    email: ScriptedNotifier = field(default_factory=ScriptedNotifier)

    def __post_init__(self) -> None:
        self.store: Store = MemoryStore(self.clock)
        self.since = 0
        self.start()

    def start(self) -> None:
        """Start the process, with the settings of now."""
        self.since += 1
        both: dict[Channel, Notifier] = {"push": self.push, "email": self.email}
        self.outbox = Outbox(self.store, self.clock, both, self.hours)
        self.summary = QuietSummary(self.store, self.clock, self.hours)

    async def enqueue(self, *titles: str, channel: Channel = "push", priority: Priority = "high") -> None:
        """Enqueue these, as part of a commit."""
        drafts = [OutboxDraft(one, channel, one, f"About {one}", priority=priority) for one in titles]
        await self.store.commit(enqueue(drafts, self.clock.now()))

    async def tick(self) -> None:
        """Do what the job of the pushes does, and that of the e-mails."""
        await self.summary.sum_up()
        await self.outbox.deliver_due(since=self.since)

    async def night(self, *titles: str) -> None:
        """Let these come in the night, and then the morning."""
        self.clock.advance(HOUR)
        await self.enqueue(*titles)
        await self.tick()
        assert self.push.tried == 0
        self.clock.advance(9 * HOUR)

    def sent(self) -> list[str]:
        """Return the titles of the pushes that were accepted."""
        return [one.title for one in self.push.accepted]


PRIORITIES: tuple[Priority, ...] = ("low", "default", "high", "urgent")


@each_case("priority", PRIORITIES)
async def test_only_what_can_wait_waits(priority: Priority) -> None:
    """Before, after and within the quiet hours: a push below priority 5 waits for their end, nothing else does."""
    desk = Desk()
    for title, wait in (("before", 0.0), ("within", 2 * MINUTE), ("after", 10 * HOUR)):
        desk.clock.advance(wait)
        await desk.enqueue(title, priority=priority)
        await desk.enqueue(f"{title} by mail", channel="email", priority=priority)
        await desk.tick()
        held = title == "within" and priority != "urgent"
        assert (title in desk.sent()) is not held
        assert desk.email.accepted[-1].title == f"{title} by mail"
    assert desk.sent() == ["before", "within", "after"]


async def test_several_are_one_push_in_the_morning() -> None:
    """The summary has how many there are, the highest priority, and each title with its text."""
    desk = Desk()
    await desk.night("Sold: exam", "Broken: backup")
    await desk.tick()
    await desk.tick()
    (one,) = desk.push.accepted
    assert (one.title, one.priority) == ("2 notifications of the quiet hours", "high")
    assert one.body.splitlines() == [
        "Broken: backup",
        "About Broken: backup",
        "",
        "Sold: exam",
        "About Sold: exam",
    ]
    delivered = {row.id: row.held_because async for row in desk.outbox.rows("delivered")}
    assert delivered == {one.id: ""} | dict.fromkeys(
        ("Sold: exam", "Broken: backup"), f"Quiet hours: {one.id} names it."
    )


async def test_what_comes_at_the_end_goes_by_itself() -> None:
    """One that is alone goes out as it is, and so does what comes after the quiet hours."""
    desk = Desk()
    await desk.night("alone")
    await desk.tick()
    await desk.enqueue("later", "still later")
    await desk.tick()
    assert desk.sent() == ["alone", "later", "still later"]
    assert desk.push.accepted[0].body == "About alone"


@each_case("at", [1, 2, 3, 4])
async def test_a_process_that_is_killed_in_the_morning(at: int) -> None:
    """Killed before or after either commit, that of the summary or that of its delivery, it loses nothing.

    The next process sends one summary; the push service, which is asked, has no second one.
    """
    desk = Desk()
    await desk.night("a", "b")
    whole, desk.store = desk.store, UnreliableStore(desk.store, fuse=Fuse(at))
    desk.start()
    with pytest.raises(Killed):
        await desk.tick()
    desk.store = whole
    desk.start()
    await desk.tick()
    assert desk.sent() == ["2 notifications of the quiet hours"]


@pytest.mark.parametrize(
    "change",
    [None, QuietHours(time(22), time(2), PARIS), QuietHours(time(9), time(17), PARIS)],
    ids=["none", "shorter", "of the day"],
)
async def test_another_setting_counts_for_what_is_held(change: QuietHours | None) -> None:
    """With other hours, or none, what is held goes out when these are over: here at once."""
    desk = Desk()
    await desk.night("a", "b")
    desk.clock.advance(-5 * HOUR)
    desk.hours = change
    desk.start()
    await desk.tick()
    assert sum("a" in one.body.split() or one.title == "a" for one in desk.push.accepted) == 1
    assert [row.id async for row in desk.outbox.rows("waiting")] == []


@each_case("by", [timedelta(days=-400), timedelta(hours=-5), timedelta(hours=30), timedelta(days=400)])
async def test_a_clock_that_jumps_loses_nothing(by: timedelta) -> None:
    """Whatever the clock does in the night, each goes out once, alone or in a summary."""
    desk = Desk()
    desk.clock.advance(HOUR)
    await desk.enqueue("a", "b")
    assert isinstance(desk.clock, WallClock)
    desk.clock.put(by)
    for _ in range(26):
        await desk.tick()
        desk.clock.advance(HOUR)
    told = "\n".join(f"{one.title}\n{one.body}" for one in desk.push.accepted).splitlines()
    assert (told.count("a"), told.count("b")) == (1, 1)


async def test_what_was_refused_before_the_night_is_not_stuck() -> None:
    """A push that the service refused waits for the morning, too; while it is held it is not undeliverable."""
    desk = Desk()
    desk.push.troubles = [DeliveryFailed("The service answered 503.", permanent=False)]
    await desk.enqueue("refused")
    await desk.tick()
    desk.clock.advance(UNDELIVERABLE.total_seconds() + HOUR)
    await desk.tick()
    assert (desk.push.tried, await desk.outbox.stuck()) == (1, 0)
    desk.clock.advance(8 * HOUR)
    assert await desk.outbox.stuck() == 1
    await desk.tick()
    assert desk.sent() == ["refused"]


async def test_a_morning_without_a_push_service() -> None:
    """The summary is tried again as any push is, and made once."""
    desk = Desk()
    await desk.night("a", "b")
    desk.push.troubles = [DeliveryFailed("The service answered 503.", permanent=False)] * 3
    for _ in range(4):
        await desk.tick()
        desk.start()
        desk.clock.advance(MINUTE)
    assert (desk.sent(), desk.push.tried) == (["2 notifications of the quiet hours"], 4)


async def test_a_night_with_more_than_one_commit_takes() -> None:
    """A very long night ends in as few pushes as commits hold it; each is counted once."""
    desk = Desk()
    await desk.night(*(f"Sold {number}" for number in range(MOST_COUNTED + 3)))
    await desk.tick()
    await desk.tick()
    assert [title.split()[0] for title in desk.sent()] == [f"{MOST_COUNTED}", "3"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=2000), min_size=2))
def test_a_summary_fits_into_a_push(titles: list[str]) -> None:
    """However many and long the titles are, a push has room: it counts what it does not name."""
    rows = [row for one in titles for row in _rows(one)]
    draft = summary("x", rows)
    assert len(draft.body.encode()) <= PUSH_BYTES
    assert draft.title.startswith(f"{len(titles)} ")
    if sum(len(f"{one}\nx\n\n".encode()) for one in titles) - 2 <= PUSH_BYTES:
        assert draft.body == "\n\n".join(f"{one}\nx" for one in titles)
        return
    *named, last = draft.body.split("\n")
    assert last.startswith("Each with its text")
    more = int(found[1]) if named and (found := re.fullmatch(r"and (\d+) more", named[-1])) else 0
    different = len(set(titles))
    assert different - more == len(named[:-1] if more else named) or f"and {more} more" in titles


def _rows(title: str) -> list[Notification]:
    draft = OutboxDraft("x", "push", title, "x")
    return [
        one
        for write in enqueue([draft], EVENING)
        if isinstance(write, Put) and (one := parse(Notification, write.value))
    ]


ZONES = ("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Auckland", "Asia/Kathmandu")


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001  its zone is drawn
    st.times(),
    st.times(),
    st.sampled_from(ZONES),
)
def test_quiet_hours_end(now: datetime, begins: time, ends: time, zone: str) -> None:
    """They run from one time on the wall to the other; their end is the first minute that is not within them."""
    begins, ends = begins.replace(second=0, microsecond=0), ends.replace(second=0, microsecond=0)
    hours = QuietHours(begins, ends, ZoneInfo(zone))
    if begins == ends:
        return
    other = QuietHours(ends, begins, ZoneInfo(zone))
    assert hours.include(now) is not other.include(now)
    end = hours.end_after(now)
    assert (end is not None) is hours.include(now)
    if end:
        assert now < end <= now + timedelta(hours=25)
        assert not hours.include(end)
        assert hours.include(end - timedelta(minutes=1)) or end - timedelta(minutes=1) < now


@pytest.mark.parametrize(
    ("day", "begins", "ends", "length"),
    [
        ("2026-03-28", "22:00", "07:00", 8),
        ("2026-10-24", "22:00", "07:00", 10),
        ("2026-06-01", "22:00", "07:00", 9),
        ("2026-03-28", "22:00", "02:30", 4),
    ],
    ids=["the night summer begins", "the night it ends", "any night", "ends at a time that is skipped"],
)
def test_the_nights_of_summer_time(day: str, begins: str, ends: str, length: float) -> None:
    """The wall clock counts: a night is an hour shorter or longer, and a time that is skipped is over."""
    hours = QuietHours(time.fromisoformat(begins), time.fromisoformat(ends), PARIS)
    begin = datetime.fromisoformat(f"{day}T{begins}").replace(tzinfo=PARIS).astimezone(UTC)
    assert hours.end_after(begin) == begin + timedelta(hours=length)


@each_case(
    "wrong",
    [
        {"quiet": "22-7"},
        {"quiet": "24:00-07:00"},
        {"quiet": "22:00-07:60"},
        {"quiet": "22:00"},
        {"quiet": "22:00-07:00-08:00"},
        {"quiet": "07:00-07:00"},
        {"time_zone": "Paris"},
        {"time_zone": "../../etc/passwd"},
        {"time_zone": ""},
    ],
)
def test_hours_that_are_none(wrong: dict[str, str]) -> None:
    """What is no span of a day, or no zone, is refused at the start."""
    with pytest.raises(ValidationError):
        PushSettings.model_validate(wrong)


def test_hours_as_they_are_written() -> None:
    """They are read in the zone that is set; without them nothing is quiet."""
    assert PushSettings.model_validate({"quiet": "22:00-07:00", "time_zone": "Europe/Paris"}).quiet_hours == NIGHT
    assert PushSettings().quiet_hours is None

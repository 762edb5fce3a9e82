"""The counter on the owner's page (issue 4, item 9), and the probe of the admin password."""

from datetime import timedelta

from orrery.adapters.memory import MemoryStore
from orrery.edge.auth import AdminBearer, GuessLimiter
from orrery.live import keys
from orrery.live.budget import StoredBudget
from orrery.live.health import LiveHealth
from orrery.live.password_probe import PasswordProbe
from orrery.live.quota import TokenLimits
from orrery.live.records import Active, LastError
from orrery.ports.panels import Panel
from orrery.ports.store import Put
from orrery.runtime.secret_probe import ProbeContext, Remark
from orrery.syntax.admin_password import hashed
from tests.support.analytics import MemoryAnalytics
from tests.support.clock import START, ManualClock
from tests.support.logged import logged
from tests.support.tables import each_case

MINUTE = timedelta(minutes=1)


def health(store: MemoryStore, clock: ManualClock, *, is_used: bool = True) -> LiveHealth:
    """Return the health of a counter over a store."""
    budget = StoredBudget(store, clock, MemoryAnalytics(), TokenLimits(), MINUTE, source="x")
    return LiveHealth(store, clock, MemoryAnalytics(), budget, is_used, has_key=True, can_admit=True)


async def panel(age: timedelta | None, *, is_used: bool = True, error: str = "", count: int = 12) -> Panel:
    """Return the panel of a count of this age, or of none, after an error or none."""
    clock = ManualClock()
    store = MemoryStore(clock)
    if age is not None:
        active = Active(active=count, generated_at=START - age)
        await store.commit([Put(keys.ACTIVE, active.model_dump_json().encode())])
    if error:
        last = LastError(message=error, status=429, attempted_at=START - MINUTE)
        await store.commit([Put(keys.LAST_ERROR, last.model_dump_json().encode())])
    return await health(store, clock, is_used=is_used).panel()


@each_case(
    ("age", "tone", "headline"),
    [
        (timedelta(seconds=20), "good", "12 visitors in the last 30 minutes, counted 20 s ago"),
        (timedelta(seconds=179), "good", "12 visitors in the last 30 minutes, counted 3 minutes ago"),
        (timedelta(minutes=10), "plain", "12 visitors in the last 30 minutes, counted 10 minutes ago (stale)"),
        (timedelta(minutes=31), "plain", "Visitors see no count: the last one is more than 30 minutes old"),
        (None, "plain", "Visitors see no count: nothing was counted yet"),
    ],
)
async def test_the_count_and_its_age(age: timedelta | None, tone: str, headline: str) -> None:
    """A fresh count is good; what is wrong of another is a problem, which makes the panel look so."""
    found = await panel(age)
    assert (found.tone, found.headline) == (tone, headline)


async def test_a_count_that_cannot_be_read() -> None:
    """What stands in the count's place is named with its key, in the log as well."""
    clock = ManualClock()
    store = MemoryStore(clock)
    await store.commit([Put(keys.ACTIVE, b'{"v": 2}')])
    with logged() as log:
        found = await health(store, clock).panel()
    assert found.todo.startswith(f"Cannot be read, and is not shown: {keys.ACTIVE}.")
    assert [(one["event"], one["key"]) for one in log] == [("a record cannot be read", keys.ACTIVE)]


@each_case(("age", "state"), [(timedelta(seconds=20), "ok"), (timedelta(minutes=10), "broken"), (None, "broken")])
async def test_a_count_that_is_not_present_is_a_problem(age: timedelta | None, state: str) -> None:
    """It is in the list at once, with a command; a push waits until the monitor calls the counter degraded."""
    clock = ManualClock()
    store = MemoryStore(clock)
    if age is not None:
        active = Active(active=12, generated_at=START - age)
        await store.commit([Put(keys.ACTIVE, active.model_dump_json().encode())])
    found, *_ = await health(store, clock).local()
    assert (found.state, found.early) == (state, state == "broken")
    assert state == "ok" or found.command == "orrery live refresh"


async def test_one_visitor() -> None:
    """One visitor is no visitors."""
    assert (await panel(MINUTE, count=1)).headline.startswith("1 visitor in ")


async def test_why_it_fails() -> None:
    """The last error is told with its time, beside a fresh count, too."""
    for age in (MINUTE, None):
        found = await panel(age, error="The hour's tokens are gone.")
        assert found.todo.startswith("Last error at 2026-03-01T11:59:00Z: The hour's tokens are gone.")


async def test_what_is_left_of_the_quota() -> None:
    """The tokens of this hour and this day are told."""
    assert (await panel(MINUTE)).rows == (("this hour", "1,750"), ("today", "25,000"))


async def test_a_counter_that_is_not_used() -> None:
    """Without a property nothing is asked of the owner."""
    assert (await panel(None, is_used=False)).tone == "plain"


PASSWORD = "open sesame, please"  # noqa: S105  a password of the tests
ANOTHER = Remark("the password is another one", "Make a new hash: `orrery admin hash`.")
UNTRIED = Remark("the password was not tried")
MATCHES = Remark("the password matches")


@each_case(
    ("typed", "said"),
    [
        (PASSWORD, MATCHES),
        (f" {PASSWORD}\n", MATCHES),
        ("something else", ANOTHER),
        ("\n", UNTRIED),
        (None, UNTRIED),
    ],
)
async def test_what_is_said_of_the_password(typed: str | None, said: Remark) -> None:
    """White space around it does not count; without a password nothing is compared."""
    bearer = AdminBearer(hashed(PASSWORD.encode()).upper(), GuessLimiter(ManualClock()))
    context = ProbeContext(password=typed)
    assert [one async for one in PasswordProbe(bearer.is_password).remarks(context)] == [said]
    assert PASSWORD not in repr(context)

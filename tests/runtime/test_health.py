"""How the store, the notifications and the workers are."""

from dataclasses import dataclass, field

from orrery.adapters.memory import MemoryStore
from orrery.errors import NotConfigured, StoreUnavailable
from orrery.ports.notifier import DeliveryFailed, Notifier
from orrery.runtime import outbox
from orrery.runtime.health import OwnerHealth
from orrery.runtime.outbox import Outbox, OutboxDraft
from orrery.runtime.outbox_lanes import Channel
from orrery.runtime.store_probe import StoreProbe
from orrery.runtime.watch import OutageWatch
from tests.support.clock import ManualClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.unreliable_store import UnreliableStore

REFUSED = DeliveryFailed("The mail server answered 550.", permanent=True)


@dataclass
class Clinic:
    """A health over a store, with a push service and perhaps a mail server."""

    notifiers: dict[Channel, Notifier] = field(default_factory=dict[Channel, Notifier])
    failing: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.outbox = Outbox(self.store, self.clock, self.notifiers)
        self.health = OwnerHealth(StoreProbe(self.store, self.clock), self.outbox, self.failing, self.notifiers)

    async def enqueue(self, *ids: str, held: bool = False) -> None:
        """Enqueue mails with these ids."""
        drafts = [OutboxDraft(one, "email", "t", "b", to="ann@example.org") for one in ids]
        because = "It may have been sent." if held else ""
        await self.store.commit(outbox.enqueue(drafts, self.clock.now(), held_because=because))

    async def states(self) -> dict[str, str]:
        """Return part and state of what can be told without asking anybody."""
        return {finding.part: finding.state for finding in await self.health.local()}

    async def why(self, part: str) -> str:
        """Return why a part is as it is."""
        return next(finding.why for finding in await self.health.local() if finding.part == part)


async def test_all_is_well() -> None:
    """A store that can be read and notifications that merely wait are well."""
    clinic = Clinic()
    await clinic.enqueue("a", "b")
    assert await clinic.states() == {"store": "ok", "notifications": "ok"}
    assert await clinic.why("notifications") == "2 waiting"


async def test_the_dead_are_shown() -> None:
    """Pushes that were refused permanently are broken, and no reason not to serve."""
    clinic = Clinic({"push": ScriptedNotifier([REFUSED])})
    await clinic.store.commit(outbox.enqueue([OutboxDraft("sold", "push", "Sold", "b")], clinic.clock.now()))
    await clinic.outbox.deliver_due()
    (finding,) = [one for one in await clinic.health.local() if one.part == "refused notifications"]
    assert (finding.state, finding.essential, finding.why) == ("broken", False, "Refused permanently: 1.")
    assert "orrery notifications" in finding.todo


async def test_the_held_are_shown() -> None:
    """Notifications that a restore held back are shown, and nothing is broken."""
    clinic = Clinic()
    await clinic.enqueue("a", held=True)
    assert (await clinic.states())["notifications"] == "ok"
    assert await clinic.why("notifications") == "Held back: 1."


async def test_undelivered_in_figures() -> None:
    """What waits, is held and is dead is counted for the metrics."""
    clinic = Clinic({"email": ScriptedNotifier([REFUSED])})
    await clinic.enqueue("a")
    await clinic.outbox.deliver_due()
    await clinic.enqueue("b", "c", held=True)
    assert await clinic.health.undelivered() == {"waiting": 0, "held": 2, "dead": 1}


async def test_failing_jobs_are_shown() -> None:
    """Each failing job is a broken part with its reason."""
    clinic = Clinic(failing={"reconcile": "The processor answered 500."})
    assert await clinic.states() == {"store": "ok", "notifications": "ok", "job: reconcile": "broken"}
    assert await clinic.why("job: reconcile") == "The processor answered 500."


async def test_a_store_that_cannot_be_read() -> None:
    """Without the store nothing else can be told, and the service must not be asked."""
    clinic = Clinic()
    clinic.store.get_errors = [StoreUnavailable("The file is locked.")]
    (finding,) = await clinic.health.local()
    assert (finding.part, finding.state, finding.why, finding.essential) == (
        "store",
        "broken",
        "The file is locked.",
        True,
    )


async def test_the_services_are_asked() -> None:
    """What is configured is asked: well, or broken with the reason; what is not is off."""
    unwell = ScriptedNotifier(unwell=DeliveryFailed("The push service answered 401.", permanent=False))
    clinic = Clinic({"push": unwell})
    push, mail = await clinic.health.remote()
    assert (push.part, push.state, push.why) == ("push", "broken", "The push service answered 401.")
    assert (mail.part, mail.state) == ("email", "off")
    assert "[mail]" in mail.todo
    assert unwell.tried == 0


async def test_a_remark_of_a_service_is_shown() -> None:
    """A service that is well, and says something, stays well."""
    (push, _) = await Clinic({"push": ScriptedNotifier(remark="It may come twice.")}).health.remote()
    assert (push.state, push.why) == ("ok", "It may come twice.")


async def test_any_error_of_ours_is_a_finding() -> None:
    """A check that fails with another of our errors is a broken part, not a crash."""
    clinic = Clinic({"email": ScriptedNotifier(unwell=NotConfigured("no password"))})
    assert [finding.state for finding in await clinic.health.remote()] == ["off", "broken"]


async def pushes(clinic: Clinic) -> list[str]:
    """Return the titles of what the owner was told."""
    return [row.title async for row in clinic.outbox.rows() if row.channel == "push"]


async def watch(clinic: Clinic, minutes: int) -> None:
    """Deliver what is due, and look at the findings once a minute."""
    watching = OutageWatch(clinic.store, clinic.clock, clinic.health.local)
    for _ in range(minutes):
        await clinic.outbox.deliver_due()
        await watching.notify()
        clinic.clock.advance(60)


async def test_a_refused_mail_is_its_buyers_problem() -> None:
    """What sold it knows whom it was for: here it is counted, and nothing is pushed of it."""
    clinic = Clinic({"email": ScriptedNotifier([REFUSED])})
    await clinic.enqueue("a")
    await watch(clinic, 5)
    assert (await clinic.states())["refused notifications"] == "ok"
    assert await pushes(clinic) == []


async def test_a_refused_push_is_told_by_another() -> None:
    """A push that the service refuses is a problem, once; another one is a change, and is told again."""
    clinic, told = Clinic({"push": (phone := ScriptedNotifier())}), list[list[str]]()
    for name in ("sold", "also sold"):
        phone.troubles = [REFUSED]
        await clinic.store.commit(outbox.enqueue([OutboxDraft(name, "push", "Sold", "b")], clinic.clock.now()))
        await watch(clinic, 30)
        told.append([one for one in await pushes(clinic) if one != "Sold"])
    assert told == [["Broken: refused notifications"], ["Broken: refused notifications"] * 2]


async def test_one_trouble_hides_no_other() -> None:
    """With a refused e-mail that nobody drops, mail that is stuck is still found."""
    busy = DeliveryFailed("The mail server answered 451.", permanent=False)
    clinic = Clinic({"email": ScriptedNotifier([REFUSED, *[busy] * 100])})
    await clinic.enqueue("a")
    await clinic.outbox.deliver_due()
    await clinic.enqueue("b")
    await watch(clinic, 120)
    states = await clinic.states()
    assert (states["notifications"], states["refused notifications"]) == ("broken", "ok")
    assert await pushes(clinic) == ["Broken: notifications"]


async def test_jobs_that_fail_alike_are_one_push() -> None:
    """Jobs that fail in the same words are one fault, however late the next one fails or works again."""
    clinic = Clinic(failing={"reconcile": "No right.", "guard": "Another reason."})
    await watch(clinic, 3)
    clinic.failing["look for drift"] = "No right."
    await watch(clinic, 60)
    del clinic.failing["reconcile"], clinic.failing["guard"]
    await watch(clinic, 5)
    del clinic.failing["look for drift"]
    await watch(clinic, 30)
    assert sorted(await pushes(clinic)) == [
        "Broken: job: reconcile and 1 more",
        "Works again: job: guard and 1 more",
    ]


async def test_a_job_that_goes_on_failing_is_told() -> None:
    """When the job that was told of works again and another still fails, that one is told."""
    clinic = Clinic(failing={"reconcile": "No right.", "look for drift": "No right."})
    await watch(clinic, 3)
    del clinic.failing["reconcile"]
    await watch(clinic, 30)
    assert sorted(await pushes(clinic)) == [
        "Broken: job: look for drift",
        "Broken: job: reconcile",
        "Works again: job: reconcile",
    ]


async def test_a_store_that_takes_no_commit_is_the_cause() -> None:
    """While nothing can be written, that is what is told, and not each job that fails by it."""
    clinic = Clinic(failing={"reconcile": "The disk is full."})
    clinic.store.commit_errors.append(StoreUnavailable("The disk is full."))
    await clinic.health.examine()
    found = {one.part: one for one in await clinic.health.local()}
    assert (found["store"].state, found["store"].why, found["store"].essential) == (
        "broken",
        "The disk is full.",
        True,
    )
    assert (found["store"].cause, found["job: reconcile"].cause) == ("", "store")

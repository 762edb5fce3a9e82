"""How the store, the notifications and the workers are."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from orrery.errors import OrreryError, StoreError, StoreUnavailable
from orrery.ports.health import Finding
from orrery.ports.notifier import Notifier
from orrery.runtime.outbox import MOST_COUNTED, Outbox
from orrery.runtime.outbox_lanes import CHANNELS, Channel
from orrery.runtime.store_probe import STORE, StoreProbe, broken_store
from orrery.runtime.tasks import together
from orrery.tls import advice

_TODO = "Do that, then ask `orrery doctor` again: until then nothing can be sold."
"""What to do about the store."""

_LIST = "`orrery notifications list"

NOTIFICATIONS, REFUSED, UNREADABLE = "notifications", "refused notifications", "unreadable notifications"
"""The parts about notifications."""


class OwnerHealth:
    """The checks of the parts that all domains use."""

    def __init__(
        self, probe: StoreProbe, outbox: Outbox, failing: Mapping[str, str], notifiers: Mapping[Channel, Notifier]
    ) -> None:
        self._probe = probe
        self._outbox = outbox
        self._failing = failing
        self._notifiers = notifiers

    async def examine(self) -> timedelta:
        """Examine the store, for `local` to report; return how far this machine's clock is before its clock."""
        await self._probe.examine()
        return self._probe.ahead

    async def local(self) -> list[Finding]:
        """Return the findings of the checks that need no network."""
        try:
            await self._probe.read()
            notifications = await self._notifications()
        except StoreError as error:
            return [broken_store(str(error), _TODO)]
        return [*self._probe.examined(_TODO), *notifications, *self._jobs()]

    async def undelivered(self) -> dict[str, int]:
        """Return how many notifications wait, are held back, and are dead."""
        return {state: await self._outbox.count(state) for state in ("waiting", "held", "dead")}

    async def remote(self) -> list[Finding]:
        """Return whether push and mail service can be reached, sending nothing."""
        return await together(*map(self._reach, CHANNELS))

    async def _notifications(self) -> list[Finding]:
        """Return each trouble as a separate part, so that one that stays does not hide the next."""
        found = [await self._undelivered()]
        left = await self._outbox.undelivered(MOST_COUNTED, "dead", "held")
        if refused := [row for row in left.values() if row.state == "dead"]:
            # A refused e-mail is a problem with its buyer (decision 12).
            pushes = tuple(row.id for row in refused if row.channel == "push")
            why, todo = (
                f"Refused permanently: {len(refused)}.",
                f"{_LIST} --state dead`, then release or drop them.",
            )
            state = "broken" if pushes else "ok"
            found.append(Finding(REFUSED, state, why, todo, essential=False, items=pushes))
        if unreadable := tuple(one.name for one in left.unreadable[:MOST_COUNTED]):
            todo = (
                "A newer version wrote them, or the file is damaged: run that one, or `orrery restore` a backup."
            )
            why = f"{len(unreadable)} cannot be read."
            found.append(Finding(UNREADABLE, "broken", why, todo, essential=False, items=unreadable))
        return found

    async def _undelivered(self) -> Finding:
        if stuck := await self._outbox.stuck():
            todo = f"See the last error: {_LIST} --state waiting`. `orrery doctor` asks the services."
            why = f"{stuck} could not be delivered for more than an hour."
            return Finding(NOTIFICATIONS, "broken", why, todo, essential=False)
        if held := await self._outbox.count("held"):
            todo = f"{_LIST} --state held`, then release or drop them."
            return Finding(NOTIFICATIONS, "ok", f"Held back: {held}.", todo, essential=True)
        end = self._outbox.quiet_until()
        quiet = f"; pushes wait until {end:%Y-%m-%d %H:%M} UTC, in quiet hours" if end else ""
        waiting = await self._outbox.count("waiting")
        return Finding(NOTIFICATIONS, "ok", f"{waiting} waiting{quiet}", essential=True)

    def _jobs(self) -> list[Finding]:
        """Return a finding for each other failing job; jobs with the same error follow from the first."""
        todo = "It is tried again by itself. `orrery doctor` asks what it needs; the log has more."
        first = {self._probe.last_failure: STORE} if self._probe.last_failure else {}
        found: list[Finding] = []
        for name, why in self._failing.items():
            part = f"job: {name}"
            cause = first.setdefault(why, part)
            cause = "" if cause == part else cause
            found.append(Finding(part, "broken", why, todo, essential=False, cause=cause, of_machine=True))
        return found

    async def _reach(self, channel: Channel) -> Finding:
        notifier = self._notifiers.get(channel)
        if notifier is None:
            todo = f"Set [{'push' if channel == 'push' else 'mail'}] in the settings; its messages wait."
            return Finding(channel, "off", "It is not configured.", todo, essential=True)
        try:
            return Finding(channel, "ok", await notifier.check(), essential=True)
        except OrreryError as error:
            todo = advice(
                error,
                f"Check the address, the secret and the network, then `orrery notifications test {channel}`.",
            )
            return Finding(channel, "broken", str(error), todo, essential=True)


async def run_check(part: str, check: Callable[[], Awaitable[Finding]]) -> Finding:
    """Return the finding of the check, or one about its error."""
    try:
        return await check()
    except StoreUnavailable:
        why = "Its state is unknown while the store cannot be used."
        return Finding(part, "broken", why, "See the store, then `orrery doctor`.", cause=STORE, essential=True)
    except OrreryError as error:
        return Finding(
            part,
            "broken",
            str(error),
            advice(error, "Check the address, the key and the network; `orrery secrets check` tries the key."),
            essential=True,
        )

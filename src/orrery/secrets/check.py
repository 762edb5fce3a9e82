"""The secrets check: a secret that vanishes, is emptied or changes is a problem.

A partial update once wiped a variable, and the checkout stopped for a day. So each process checks at its start and
every five minutes: it compares each secret with its known state (in the store, for the deployment) and with the
value in memory.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from orrery.errors import Invalid, RecordUnreadable, StoreError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.health import ACT_TODAY, URGENT, Finding, secret_part
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Absent, Check, Conflict, Store
from orrery.runtime import outbox
from orrery.runtime.collection import FOR_EVER, Changes, Collection, commit, compare_and_set, write
from orrery.runtime.due import is_ahead
from orrery.runtime.restored import last_restore
from orrery.runtime.secret import Form, SecretUse
from orrery.secrets.alerts import SecretEvent, describe, loss, pushes
from orrery.secrets.baseline import ANNOUNCED_FOR, Alarm, Announcement, Baseline, CheckContext, compare
from orrery.secrets.fingerprints import DIRECTORY, Fingerprinting, SecretObservation, SecretObservations

BASELINE = "secret:"
ANNOUNCED = "secret-announced:"

SETTLE = 2.0
"""Seconds after which a difference is checked again: a file that is being written is empty for an instant."""

_COLUMNS = ("secret", "state", "announced", "fingerprint")


@dataclass(frozen=True, slots=True)
class HeldSecrets:
    """The fingerprint of each secret in one process's memory, or None; and what each secret is used for.

    `keyed_by` identifies the key of the fingerprints. `observer` identifies this process among those of the
    deployment, and is the same after a restart.
    """

    fingerprints: Mapping[str, str | None]
    keyed_by: str
    observer: str
    uses: Mapping[str, SecretUse]


class ObservedSecrets(Protocol):
    """The secrets of this process, in its memory and in their files; no value leaves it.

    `observer` identifies this process among those of the deployment, and is the same after a restart. `troubles`
    is why a secret was left out, by its name; what concerns the folder is under "".
    """

    observer: str

    @property
    def troubles(self) -> Mapping[str, str]: ...

    def form(self, name: str) -> Form:
        """Return how a secret in memory looks."""
        ...

    def held(self, fingerprint: Fingerprinting) -> Mapping[str, str | None]:
        """Return the fingerprint of each secret in memory, or None for one that is not set."""
        ...

    async def observe(self, fingerprint: Fingerprinting) -> SecretObservations:
        """Return the present state of each secret in its file."""
        ...

    def uses(self) -> Mapping[str, SecretUse]:
        """Return the use of each secret."""
        ...


class SecretsCheck:
    """Compares the secrets with their known state, and stores it; `observe` returns their present state."""

    JOB = "guard the secrets"

    def __init__(
        self, store: Store, clock: Clock, held: HeldSecrets, observe: Callable[[], Awaitable[SecretObservations]]
    ) -> None:
        self._store = store
        self._clock = clock
        self._baselines = Collection(store, clock, Baseline, BASELINE, life=FOR_EVER)
        self._announced = Collection(store, clock, Announcement, ANNOUNCED, life=ANNOUNCED_FOR)
        self.held = held
        self._observe = observe

    @property
    def uses(self) -> Mapping[str, SecretUse]:
        return self.held.uses

    def held_fingerprints(self) -> dict[str, object]:
        """Return the fingerprints of the secrets in memory, for the private listener."""
        return {"keyed_by": self.held.keyed_by, "secrets": dict(self.held.fingerprints)}

    async def check(self) -> None:
        """Compare the secrets with their known state, and store each difference."""
        observations = await self._settled_observations()
        await compare_and_set(
            partial(self._note, observations), "The store is too busy to note how the secrets are."
        )

    async def announce(self, name: str, reason: str, *, removal: bool = False) -> Announcement:
        """Accept a change or a permanent removal of a secret within the next 24 hours; raise `Invalid`."""
        if name not in {*self.uses, DIRECTORY}:
            raise Invalid(f"There is no secret {name}; there are {', '.join(self.uses)}, and {DIRECTORY}.")
        if not reason.strip():
            raise Invalid("The reason is missing.")
        now = self._clock.now()
        announcement = Announcement(
            name=name, reason=reason.strip(), removal=removal, at=now, until=now + ANNOUNCED_FOR
        )
        await write(self._store, [self._announced.put(announcement, name)])
        return announcement

    async def announced(self) -> dict[str, Announcement]:
        """Return the announcements that count now, by secret."""
        found = (await self._announced.all()).values()
        return {one.name: one for one in found if is_ahead(one.until, self._clock.now(), ANNOUNCED_FOR)}

    async def baselines(self) -> dict[str, Baseline]:
        """Return the known state of each secret, by its name."""
        return {name: one for name, (one, _) in (await self._stored()).items() if one}

    async def unreadable(self) -> list[RecordUnreadable]:
        """Return why some baselines and announcements cannot be read."""
        return [*await self._baselines.unreadable(), *await self._announced.unreadable()]

    async def findings(self) -> list[Finding]:
        """Return a finding for each secret with an alarm, or one for all; an empty list when the store fails."""
        try:
            baselines = await self.baselines()
            alarms = {one.name: alarm for one in baselines.values() if (alarm := one.worst())}
            is_changed = any(one.trouble == "changed" for one in alarms.values())
            restored = await self._after_restore(baselines.values()) if is_changed else ""
        except StoreError:
            return []
        if alarms:
            return [self._finding(name, alarm, restored) for name, alarm in alarms.items()]
        known = sum(one.fingerprint is not None for name, one in baselines.items() if name != DIRECTORY)
        why = f"{known} are as they were." if baselines else "The service has not looked at them yet."
        return [Finding("secrets", "ok" if baselines else "off", why, essential=False)]

    async def panel(self) -> Panel:
        """Return each secret for the owner's page, without any value."""
        baselines, announced = await self.baselines(), await self.announced()
        rows = tuple(self._row(name, baselines.get(name), announced.get(name)) for name in [*self.uses, DIRECTORY])
        bad = [one.name for one in baselines.values() if one.alarms]
        missing = [name for name, use in self.uses.items() if use.needed and not self._holds(name)]
        if bad or missing:
            headline = f"{len({*bad, *missing})} not as it should be"
            return Panel("Secrets", headline, "bad", "Type `orrery secrets check`.", _COLUMNS, rows)
        headline = f"{sum(map(self._holds, self.uses))} in use, none changed unannounced"
        if announced:
            headline += f"; {len(announced)} announced, and may change"
        return Panel("Secrets", headline, "attention" if announced else "good", "", _COLUMNS, rows)

    async def _settled_observations(self) -> SecretObservations:
        observations = await self._observe()
        if any(self._differs(name, observed) for name, observed in observations.items()):
            await self._clock.sleep(SETTLE)
            return await self._observe()
        return observations

    def _differs(self, name: str, observed: SecretObservation) -> bool:
        return self.held.fingerprints.get(name, observed.fingerprint or None) != (observed.fingerprint or None)

    async def _note(self, observations: SecretObservations) -> Conflict | None:
        """Store the observations with their pushes in one commit; return what another process changed."""
        known, announced, now = await self._stored(), await self.announced(), self._clock.now()
        events: list[SecretEvent] = []
        changes = Changes()
        for name, observed in observations.items():
            before, unchanged = known.get(name, (None, Absent(self._baselines.key(name))))
            held = self.held.fingerprints.get(name, observed.fingerprint or None)
            context = CheckContext(now, self.held.observer, announced.get(name), held)
            after, kind = compare(before, name, observed, context)
            if after and after != before:
                changes += Changes([self._baselines.put(after, name)], [unchanged])
            if kind:
                events.append(SecretEvent(name, kind, held != (observed.fingerprint or None)))
        changes += Changes(outbox.enqueue(pushes(events, now), now))
        if changes.writes and isinstance(outcome := await commit(self._store, changes), Conflict):
            return outcome
        for event in events:
            log.warning("secrets are not as before", which=event.name, found=event.kind)
        return None

    async def _after_restore(self, known: Iterable[Baseline]) -> str:
        try:
            restored = await last_restore(self._store, self._clock)
        except RecordUnreadable as error:
            return str(error)
        if restored is None or not any(one.since < restored.at for one in known):
            return ""
        return f"The store was restored at {restored.at:%Y-%m-%d %H:%M} UTC: it may not know of a rotation before."

    async def _stored(self) -> dict[str, tuple[Baseline | None, Check]]:
        """Return the known state of each secret as `Collection.replaceable` does; raise `RecordUnreadable`."""
        entries = self._baselines.entries()
        return {entry.key.removeprefix(BASELINE): self._baselines.replaceable_in(entry) async for entry in entries}

    def _holds(self, name: str) -> bool:
        return self.held.fingerprints.get(name) is not None

    def _finding(self, name: str, alarm: Alarm, restored: str) -> Finding:
        trouble = alarm.trouble
        (why, todo), use, held = describe(trouble, name), self.uses.get(name), self._holds(name)
        elsewhere = f"Seen by {alarm.observer}." if alarm.observer != self.held.observer else ""
        remarks = (why, elsewhere, loss(trouble, use, held=held), restored if trouble == "changed" else "")
        return Finding(
            "secrets directory" if name == DIRECTORY else secret_part(name),
            "broken",
            " ".join(filter(None, remarks)),
            todo,
            essential=bool(use and use.essential and use.needed and not held),
            settled=trouble != "restart",
            severity=ACT_TODAY if trouble in ("mode", "restart") else URGENT,
            items=(trouble,),
        )

    def _row(self, name: str, baseline: Baseline | None, announced: Announcement | None) -> tuple[str, ...]:
        alarm = baseline.worst() if baseline else None
        use = self.uses.get(name)
        missing = "missing" if use and use.needed else "off"
        held = self.held.fingerprints.get(name)
        state = alarm.trouble if alarm else "present" if held or (baseline and baseline.fingerprint) else missing
        until = f"until {utc_text(announced.until)}" if announced else "-"
        return name, state, until, held or "-"

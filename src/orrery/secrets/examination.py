"""What `orrery secrets check` finds about each secret. It shows no value and no length."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from orrery.ports.running_service import RunningSecrets, RunningService
from orrery.runtime.nodes import Nodes
from orrery.runtime.secret import SecretUse
from orrery.runtime.secret_probe import RELOAD, ProbeContext, Remark, SecretProbe
from orrery.secrets.alerts import describe
from orrery.secrets.baseline import Alarm, Announcement, Baseline
from orrery.secrets.check import ObservedSecrets, SecretsCheck
from orrery.secrets.fingerprints import DIRECTORY, SecretObservation, SecretObservations

ExaminedState = Literal["ok", "broken", "off"]

_READ, _PASS = 0o004, 0o001
"""Everybody's right to read a file, and to pass through its folder."""


@dataclass(frozen=True, slots=True)
class ExaminedSecret:
    """One examined secret: its state, its fingerprint where it was read from, and the remarks.

    `in_use` is whether the service that runs here holds the same, or None where none runs; `elsewhere` are the
    other nodes that hold another value.
    """

    secret: str
    state: ExaminedState
    fingerprint: str | None
    in_use: bool | None
    elsewhere: tuple[str, ...]
    announced: Announcement | None
    remarks: tuple[Remark, ...]

    def row(self) -> dict[str, object]:
        """Return it as the command prints it."""
        until = self.announced.until if self.announced else None
        return {
            "secret": self.secret,
            "state": self.state,
            "found": "; ".join(remark.text.rstrip(".") for remark in self.remarks),
            "what_to_do": " ".join(dict.fromkeys(remark.todo for remark in self.remarks if remark.todo)),
            "fingerprint": self.fingerprint,
            "in_use": self.in_use,
            "other_on": self.elsewhere,
            "announced_until": until.isoformat() if until else None,
            "reason": self.announced.reason if self.announced else None,
        }


@dataclass(frozen=True, slots=True)
class _Known:
    """The information that is gathered before the secrets are examined one by one."""

    baselines: Mapping[str, Baseline]
    announced: Mapping[str, Announcement]
    observations: SecretObservations
    service: RunningSecrets | None
    context: ProbeContext = field(repr=False)


class Examination:
    """Examines every secret of a deployment: here, in the running service, and by the probes of the modules."""

    def __init__(
        self, check: SecretsCheck, secrets: ObservedSecrets, service: RunningService, nodes: Nodes
    ) -> None:
        self._check, self._nodes = check, nodes
        self._secrets = secrets
        self._service = service
        self._probes: dict[str, SecretProbe] = {}

    def add_probes(self, probes: Iterable[SecretProbe]) -> None:
        """Add what the modules try."""
        self._probes |= {one.secret: one for one in probes}

    @property
    def compares_password(self) -> bool:
        """Whether there is a secret with which the admin password can be compared."""
        return any(self._held(one.secret) for one in self._probes.values() if one.compares_password)

    async def run(self, password: str | None) -> tuple[list[ExaminedSecret], str]:
        """Return each secret, the folder if there is one, and a sentence about the running service.

        `password` is the admin password, if it was given.
        """
        observations = await self._secrets.observe(lambda _name, _value: "")
        baselines, announced = await self._check.baselines(), await self._check.announced()
        await self._nodes.read()
        running = await self._service.held_secrets()
        summary = self._summary(running)
        ours = running if running and running.keyed_by == self._check.held.keyed_by else None
        context = ProbeContext(self._service if ours else None, password)
        known = _Known(baselines, announced, observations, ours, context)
        found = [await self._examined(name, use, known) for name, use in self._check.uses.items()]
        return [*found, *self._folder(known)], summary

    def _summary(self, running: RunningSecrets | None) -> str:
        if running is None:
            return "The service does not run here: its memory and its webhook were not looked at."
        if running.keyed_by != self._check.held.keyed_by:
            return "The service that runs here has another store: its memory and its webhook were not looked at."
        return "The service runs: its memory and its webhook were looked at."

    def _held(self, name: str) -> str | None:
        return self._check.held.fingerprints.get(name)

    async def _examined(self, name: str, use: SecretUse, known: _Known) -> ExaminedSecret:
        mine = self._held(name)
        elsewhere = self._nodes.holding_another(name, mine or "")
        remarks = [remark async for remark in self._remarks(name, use, known, mine, elsewhere)]
        theirs = known.service.secrets.get(name) if known.service else None
        broken = any(remark.todo for remark in remarks)
        state: ExaminedState = "broken" if broken else "ok" if mine or theirs else "off"
        in_use = mine == theirs if known.service else None
        return ExaminedSecret(name, state, mine, in_use, elsewhere, known.announced.get(name), tuple(remarks))

    async def _remarks(
        self, name: str, use: SecretUse, known: _Known, mine: str | None, elsewhere: Sequence[str]
    ) -> AsyncIterator[Remark]:
        theirs = known.service.secrets.get(name) if known.service else None
        baseline = known.baselines.get(name)
        if trouble := self._secrets.troubles.get(name):
            yield Remark(trouble, "Put the right value there, in a file that no other user may write.")
        elif lost := _lost(known.observations[name], baseline):
            announced = known.announced.get(name)
            is_removed = announced is not None and announced.removal
            yield Remark("gone, as you announced") if is_removed else Remark(*describe(lost, name))
            return
        elif mine is None and theirs is None:
            yield _missing(name, use)
        elif mine is None:
            yield Remark("not found from here; the running service holds one")
        else:
            async for remark in self._present(name, known):
                yield remark
        if mine and known.service:
            yield _compared(mine, theirs)
        if elsewhere:
            yield Remark(f"{' and '.join(elsewhere)} holds another value")
        if baseline and (alarm := baseline.worst()) and alarm.trouble != "restart":
            yield _alarm_remark(alarm, baseline, mine)

    async def _present(self, name: str, known: _Known) -> AsyncIterator[Remark]:
        form = self._secrets.form(name)
        yield Remark(form.wrong, "Put the right value there.") if form.wrong else Remark("present")
        if form.note:
            yield Remark(form.note)
        if _is_everybodys(known.observations.get(name), known.observations[DIRECTORY]):
            yield Remark("everybody on this machine may read its file", "Take the rights of others away (chmod).")
        if probe := self._probes.get(name):
            async for remark in probe.remarks(known.context):
                yield remark

    def _folder(self, known: _Known) -> list[ExaminedSecret]:
        observed, baseline = known.observations[DIRECTORY], known.baselines.get(DIRECTORY)
        trouble = self._secrets.troubles.get("")
        if observed.state == "missing" and trouble is None:
            return []
        remarks = [] if trouble is None else [Remark(trouble, "Until then the service does not start.")]
        if baseline and (alarm := baseline.worst()):
            remarks.append(Remark(*describe(alarm.trouble, DIRECTORY)))
        state: ExaminedState = "broken" if remarks else "ok"
        announced = known.announced.get(DIRECTORY)
        shown = tuple(remarks) or (Remark("present"),)
        return [ExaminedSecret(DIRECTORY, state, None, None, (), announced, shown)]


def _lost(observed: SecretObservation, baseline: Baseline | None) -> Literal["emptied", "vanished"] | None:
    """Return how a secret was lost that was in the folder before, even if the service has not seen it yet."""
    if baseline is None or baseline.fingerprint is None or baseline.place != "directory":
        return None
    match observed.state:
        case "empty":
            return "emptied"
        case "missing":
            return "vanished"
        case _:
            return None


def _alarm_remark(alarm: Alarm, baseline: Baseline, mine: str | None) -> Remark:
    """Return the remark about the service's last check, unless its alarm is over: it checks every five minutes."""
    seen_from_here = baseline.place == "directory" and mine is not None and mine == baseline.fingerprint
    if seen_from_here and alarm.trouble in ("vanished", "emptied", "changed"):
        return Remark(f"as before again; the service has not looked since {alarm.seen_at:%H:%M} UTC")
    return Remark(*describe(alarm.trouble, baseline.name))


def _missing(name: str, use: SecretUse) -> Remark:
    if use.needed:
        return Remark(f"missing: {use.effect}", f"Put it into the secret file {name}. {RELOAD}")
    return Remark(f"missing. {use.idle}")


def _compared(mine: str, theirs: str | None) -> Remark:
    if theirs is None:
        return Remark("the running service does not hold it", RELOAD)
    if mine != theirs:
        return Remark("the running service holds another value", RELOAD)
    return Remark("the running service holds the same")


def _is_everybodys(observed: SecretObservation | None, folder: SecretObservation) -> bool:
    if observed is None or observed.mode is None or observed.place != folder.place or folder.mode is None:
        return False
    return bool(observed.mode & _READ and folder.mode & _PASS)

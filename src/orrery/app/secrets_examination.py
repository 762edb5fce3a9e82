"""The examination of every secret, here, at the processor and in the running service (issue item 7)."""

import hmac
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

from orrery.account.cli.key_rights import UNTRIED, Rights, try_rights
from orrery.adapters.running_service import RunningSecrets, RunningService
from orrery.app.deployment import Orrery
from orrery.app.settings import Secrets, Settings, observe_secrets
from orrery.checkout import probe
from orrery.checkout.domain import CheckoutDomain
from orrery.edge.auth import hashed
from orrery.errors import OrreryError, ProcessorRefused
from orrery.ports.clock import Clock
from orrery.ports.processor import ProcessorReads
from orrery.runtime.settings import Server
from orrery.secrets.alerts import SecretUse, describe
from orrery.secrets.baseline import Alarm, Announcement, Baseline
from orrery.secrets.check import SecretsCheck
from orrery.secrets.examination import Examined, ExaminedState, Remark
from orrery.secrets.fingerprints import DIRECTORY, SecretObservation
from orrery.tls import advice

WEBHOOK = "/guided/api/webhook"
RESTART = "Restart the service."
_RESTRICTED = "rk_"

_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  where a service that listens everywhere is reached
_READ, _PASS = 0o004, 0o001
"""Everybody's right to read a file, and to pass through its folder."""


@dataclass(frozen=True, slots=True)
class KnownSecrets:
    """The information that is gathered before the secrets are examined one by one."""

    baselines: Mapping[str, Baseline]
    announced: Mapping[str, Announcement]
    observations: Mapping[str, SecretObservation]
    service: RunningSecrets | None


@dataclass
class Examination:
    """Examines every secret of a deployment, and asks the processor and the running service about them.

    `troubles` says why a secret cannot be used, by its name.
    """

    settings: Settings
    secrets: Secrets
    troubles: Mapping[str, str]
    orrery: Orrery
    password: str | None = field(default=None, init=False, repr=False)
    service: RunningService = field(init=False)

    def __post_init__(self) -> None:
        server = self.settings[Server]
        self.service = RunningService(
            _address(server.host, server.port), _address(server.private_host, server.private_port)
        )

    @property
    def compares_password(self) -> bool:
        return self.secrets.reveal("admin_password_hash") is not None

    async def run(self, password: str | None) -> tuple[list[Examined], str]:
        """Return each secret, the folder if there is one, and a sentence about the running service."""
        self.password = password
        check = self.orrery[SecretsCheck]
        observations = observe_secrets(self.settings, lambda _name, _value: "")
        known = KnownSecrets(
            await check.baselines(), await check.announced(), observations, await self.service.held_secrets()
        )
        said = self._said(known.service)
        if known.service and known.service.keyed_by != check.held.keyed_by:
            known = KnownSecrets(known.baselines, known.announced, observations, None)
        found = [await self._examined(name, use, known) for name, use in check.uses.items()]
        return [*found, *self._folder(known)], said

    def _said(self, service: RunningSecrets | None) -> str:
        if service is None:
            return "The service does not run here: its memory and its webhook were not looked at."
        if service.keyed_by != self.orrery[SecretsCheck].held.keyed_by:
            return "The service that runs here has another store: its memory and its webhook were not looked at."
        return "The service runs: its memory and its webhook were looked at."

    async def _examined(self, name: str, use: SecretUse, known: KnownSecrets) -> Examined:
        mine = self.orrery[SecretsCheck].held.fingerprints[name]
        remarks = [remark async for remark in self._remarks(name, use, known, mine)]
        elsewhere = known.service is not None and known.service.secrets.get(name) is not None
        there = mine is not None or elsewhere
        broken = any(remark.todo for remark in remarks)
        state: ExaminedState = "broken" if broken else "ok" if there else "off"
        return Examined(name, state, mine, known.announced.get(name), tuple(remarks))

    async def _remarks(
        self, name: str, use: SecretUse, known: KnownSecrets, mine: str | None
    ) -> AsyncIterator[Remark]:
        theirs = known.service.secrets.get(name) if known.service else None
        baseline = known.baselines.get(name)
        if trouble := self.troubles.get(name):
            yield Remark(trouble, "Put the right value there, in a file that nobody else may write.")
        elif lost := _lost(known.observations[name], baseline):
            yield Remark(*describe(lost, name))
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
        if baseline and (alarm := baseline.worst()) and alarm.trouble != "restart":
            yield _alarm_remark(alarm, baseline, mine)

    async def _present(self, name: str, known: KnownSecrets) -> AsyncIterator[Remark]:
        form = self.secrets.form(name, self.settings.mode)
        yield Remark(form.wrong, "Put the right value there.") if form.wrong else Remark("present")
        if form.note:
            yield Remark(form.note)
        if _is_everybodys(known.observations.get(name), known.observations[DIRECTORY]):
            yield Remark("everybody on this machine may read its file", "Take the rights of others away (chmod).")
        match name:
            case "processor_api_key":
                async for remark in self._processor_key():
                    yield remark
            case "webhook_signing_secret":
                async for remark in self._webhook(running=known.service is not None):
                    yield remark
            case "admin_password_hash":
                yield self._password_matches()
            case _:
                pass

    async def _processor_key(self) -> AsyncIterator[Remark]:
        orrery = self.orrery
        try:
            account = await orrery[ProcessorReads].get_account()
            yield Remark(f"the processor accepts it ({account.id})")
        except ProcessorRefused as error:
            if error.status != HTTPStatus.FORBIDDEN:
                todo = "Put a key there that the processor accepts; see its rights in the how-to."
                yield Remark(str(error), todo)
                return
            yield Remark("the processor accepts it, but not for reading the account")
        except OrreryError as error:
            todo = advice(error, "Try again when the processor can be reached.")
            yield Remark(f"not tried at the processor: {error}", todo)
            return
        if self.secrets.normalized("processor_api_key").startswith(_RESTRICTED):
            rights = await try_rights(
                orrery[ProcessorReads], orrery[CheckoutDomain].health.processor, orrery[Clock].now()
            )
            for remark in _rights_remarks(rights):
                yield remark

    async def _webhook(self, *, running: bool) -> AsyncIterator[Remark]:
        secrets = [line.encode() for line in self.secrets.parts("webhook_signing_secret")]
        if not probe.accepts_itself(secrets, self.orrery[Clock].now()):
            yield Remark("it does not accept what it signed itself", "Put the right value there.")
            return
        yield Remark("it accepts what it signed itself")
        if running:
            yield _delivered([await self._verdict(secret) for secret in secrets])

    async def _verdict(self, secret: bytes) -> probe.ProbeVerdict:
        signature = probe.signed(secret, self.orrery[Clock].now())
        refusal = await self.service.deliver(WEBHOOK, probe.BODY, signature)
        return probe.verdict(refusal.status, refusal.error, refusal.message) if refusal else "unclear"

    def _password_matches(self) -> Remark:
        if not self.password or not self.password.strip():
            return Remark("the password was not tried")
        digest = hashed(self.password.strip().encode())
        if hmac.compare_digest(digest, self.secrets.normalized("admin_password_hash").lower()):
            return Remark("the password matches")
        return Remark("the password is another one", "Make the hash anew: `orrery admin hash`.")

    def _folder(self, known: KnownSecrets) -> list[Examined]:
        observed, baseline = known.observations[DIRECTORY], known.baselines.get(DIRECTORY)
        if observed.state == "missing" and "" not in self.troubles:
            return []
        remarks = (
            [Remark(self.troubles[""], "Until then the service does not start.")] if "" in self.troubles else []
        )
        if baseline and (alarm := baseline.worst()):
            remarks.append(Remark(*describe(alarm.trouble, DIRECTORY)))
        state: ExaminedState = "broken" if remarks else "ok"
        return [
            Examined(
                DIRECTORY, state, None, known.announced.get(DIRECTORY), tuple(remarks) or (Remark("present"),)
            )
        ]


def _address(host: str, port: int) -> str:
    reached = _WILDCARDS.get(host, host)
    return f"http://[{reached}]:{port}" if ":" in reached else f"http://{reached}:{port}"


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
    """Return the remark about the service's last check, unless its alarm is over: it checks every ten minutes."""
    seen_from_here = baseline.place == "directory" and mine is not None and mine == baseline.fingerprint
    if seen_from_here and alarm.trouble in ("vanished", "emptied", "changed"):
        return Remark(f"as before again; the service has not looked since {alarm.seen_at:%H:%M} UTC")
    return Remark(*describe(alarm.trouble, baseline.name))


def _rights_remarks(rights: Rights) -> Iterator[Remark]:
    yield Remark(f"may read {_listed(rights.may)}" if rights.may else "may read nothing that is used")
    for right in rights.lacking:
        if right.needed:
            yield Remark(f"may not read {right.name}: {right.without}", f"Give it the right to read {right.name}.")
        else:
            yield Remark(f"may not read {right.name}, so `orrery processor {right.without}` does not work")
    if rights.too_many:
        surplus = _listed(rights.too_many)
        yield Remark(f"may read {surplus}, which nothing here needs", f"Take the right to read {surplus} away.")
    if rights.unclear:
        todo = "Try again when the processor can be reached."
        yield Remark(f"no answer that tells about {_listed(rights.unclear)}", todo)
    yield Remark(f"untried, because only writing would tell: writing {_listed(UNTRIED)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _missing(name: str, use: SecretUse) -> Remark:
    if use.needed:
        return Remark(f"missing: {use.effect}", f"Put it into the secret file {name}, and restart the service.")
    return Remark(f"missing. {use.idle}")


def _compared(mine: str, theirs: str | None) -> Remark:
    if theirs is None:
        return Remark("the running service does not hold it", RESTART)
    if mine != theirs:
        return Remark("the running service holds another value", RESTART)
    return Remark("the running service holds the same")


def _delivered(verdicts: list[probe.ProbeVerdict]) -> Remark:
    if set(verdicts) == {"accepted"}:
        return Remark("the running webhook accepts a signed probe")
    if "unclear" in verdicts:
        return Remark("the running webhook gave no answer that tells", "See the service's log.")
    if "no secret" in verdicts:
        return Remark("the running webhook has no secret", RESTART)
    return Remark("the running webhook refuses a signed probe", RESTART)


def _is_everybodys(observed: SecretObservation | None, folder: SecretObservation) -> bool:
    if observed is None or observed.mode is None or observed.place != folder.place or folder.mode is None:
        return False
    return bool(observed.mode & _READ and folder.mode & _PASS)

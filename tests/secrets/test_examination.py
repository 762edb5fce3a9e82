"""The examination of each secret: here, in the running service, and by the probe that a module brings."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field

import pytest

from orrery.ports.health import Round
from orrery.ports.running_service import RunningSecrets
from orrery.ports.store import Store
from orrery.runtime.nodes import NodeIdentity, Nodes
from orrery.runtime.secret import Form, SecretUse
from orrery.runtime.secret_probe import RELOAD, ProbeContext, Remark, SecretProbe
from orrery.secrets.check import HeldSecrets, SecretsCheck
from orrery.secrets.examination import Examination
from orrery.secrets.fingerprints import DIRECTORY, Fingerprinting, SecretObservation, SecretObservations
from tests.support.clock import ManualClock
from tests.support.running import ServiceInMemory
from tests.support.secrets_checked import FINGERPRINTS, KEY, TOKEN, UNUSED, USES, CheckedSecrets, lying


@dataclass
class LyingSecrets:
    """The secrets of a process, as a test says."""

    troubles: Mapping[str, str]
    forms: Mapping[str, Form]
    lying: Mapping[str, SecretObservation]
    observer: str = "here:8081"

    def form(self, name: str) -> Form:
        """Return how it looks."""
        return self.forms.get(name, Form())

    def held(self, fingerprint: Fingerprinting) -> Mapping[str, str | None]:
        """Return that none is held: the check of the test knows."""
        del fingerprint
        return dict.fromkeys(USES)

    async def observe(self, fingerprint: Fingerprinting) -> SecretObservations:
        """Return what lies there."""
        del fingerprint
        return self.lying

    def uses(self) -> Mapping[str, SecretUse]:
        """Return the uses."""
        return USES


@dataclass
class Examined:
    """An examination over a deployment whose secrets are `memory`; the probes keep what they were given."""

    memory: dict[str, str] = field(default_factory=lambda: {KEY: "first", TOKEN: "first"})
    troubles: dict[str, str] = field(default_factory=dict[str, str])
    forms: dict[str, Form] = field(default_factory=dict[str, Form])
    service: ServiceInMemory = field(default_factory=ServiceInMemory)
    mode: int = 0o600
    store: Store = field(init=False)
    clock: ManualClock = field(init=False)
    given: list[tuple[str, ProbeContext]] = field(default_factory=list[tuple[str, ProbeContext]])

    def examination(self) -> Examination:
        """Return the examination."""
        checked = CheckedSecrets(memory=self.memory)
        assert checked.store is not None
        held = {name: self.fingerprint(name) for name in USES}
        check = SecretsCheck(
            checked.store,
            checked.clock,
            HeldSecrets(held, FINGERPRINTS.keyed_by, "here:8081", USES),
            lambda: secrets.observe(FINGERPRINTS),
        )
        found = {name: SecretObservation("missing") for name in USES}
        found |= {name: self.observed(name, value) for name, value in self.memory.items()}
        found[DIRECTORY] = SecretObservation("present", "there", "directory", 0o755)
        secrets = LyingSecrets(self.troubles, self.forms, found)
        self.store, self.clock = checked.store, checked.clock
        return Examination(check, secrets, self.service, self.node("a", {}))

    def node(self, name: str, common: Mapping[str, str]) -> Nodes:
        """Return a node with these digests."""
        return Nodes(self.store, self.clock, NodeIdentity(name, name, lambda: common))

    def fingerprint(self, name: str) -> str | None:
        """Return the fingerprint of a secret in memory."""
        return FINGERPRINTS(name, self.memory[name]) if name in self.memory else None

    def observed(self, name: str, value: str) -> SecretObservation:
        """Return a file with the mode."""
        one = lying(name, value)
        return SecretObservation(one.state, one.fingerprint, one.place, self.mode)

    def running(self, keyed_by: str = FINGERPRINTS.keyed_by, **memory: str) -> None:
        """Let a service run that holds these values."""
        values = self.memory | memory
        held = {name: FINGERPRINTS(name, values[name]) if name in values else None for name in USES}
        self.service.secrets = RunningSecrets(keyed_by, held)

    def probe(self, name: str) -> Callable[[ProbeContext], AsyncIterator[Remark]]:
        """Return a probe that keeps what it is given, and finds something broken."""

        async def remarks(context: ProbeContext) -> AsyncIterator[Remark]:
            self.given.append((name, context))
            yield Remark("it was tried", "Do something.")

        return remarks

    async def found(self, password: str | None = None) -> tuple[dict[str, dict[str, object]], str]:
        """Return the rows by secret, with a probe for each secret, and what is said of the service."""
        examination = self.examination()
        examination.add_probes(SecretProbe(name, self.probe(name)) for name in USES)
        rows, said = await examination.run(password)
        return {one.secret: one.row() for one in rows}, said


@pytest.fixture
def world() -> Examined:
    """Return a new one."""
    return Examined()


async def test_a_present_secret_is_probed() -> None:
    """Its probe's remarks are beside the others, and one with advice makes it broken; a missing one has none."""
    world = Examined({TOKEN: "first"})
    found, said = await world.found()
    assert [name for name, _ in world.given] == [TOKEN]
    assert (found[TOKEN]["state"], found[TOKEN]["found"]) == ("broken", "present; it was tried")
    assert found[TOKEN]["what_to_do"] == "Do something."
    assert (found[KEY]["state"], found[KEY]["found"]) == ("broken", "missing: nobody can buy")
    assert (found[UNUSED]["state"], found[UNUSED]["found"]) == ("off", "missing. No tracker wants one")
    assert "does not run here" in said


async def test_a_probe_gets_the_service_and_the_password(world: Examined) -> None:
    """It is given the service of this deployment, and the password that was typed."""
    world.running()
    found, said = await world.found("a typed password")
    assert world.given[0][1] == ProbeContext(world.service, "a typed password")
    assert found[TOKEN]["found"] == "present; it was tried; the running service holds the same"
    assert "The service runs" in said


async def test_a_service_with_another_store_is_not_asked(world: Examined) -> None:
    """No probe meets a service of another deployment, and its secrets are compared with nothing."""
    world.running(keyed_by=FINGERPRINTS("another", "store"))
    found, said = await world.found()
    assert {context.service for _, context in world.given} == {None}
    assert found[TOKEN]["found"] == "present; it was tried"
    assert "another store" in said


async def test_another_value_in_the_running_service() -> None:
    """A restart is advised where the service holds an old value, or a secret that is not there from here."""
    world = Examined({KEY: "second"})
    world.running(**{KEY: "first", TOKEN: "first"})
    found, _ = await world.found()
    assert found[KEY]["found"] == "present; it was tried; the running service holds another value"
    assert found[KEY]["what_to_do"] == f"Do something. {RELOAD}"
    assert (found[KEY]["in_use"], found[TOKEN]["in_use"], found[UNUSED]["in_use"]) == (False, False, True)
    assert (found[TOKEN]["state"], found[TOKEN]["found"]) == (
        "ok",
        "not found from here; the running service holds one",
    )


@pytest.mark.parametrize(("there", "another"), [("first", False), ("second", True), ("", True)])
async def test_a_node_with_another_value_is_named(
    world: Examined,
    there: str,
    another: bool,  # noqa: FBT001  it comes from the table above
) -> None:
    """A node keeps only the beginnings of fingerprints; that it has another value is its own machine's matter."""
    examination = world.examination()
    digest = FINGERPRINTS(KEY, there)[:4] if there else ""
    await world.node("b", {KEY: digest}).pulse(Round(world.clock.now(), []))
    rows, _ = await examination.run(None)
    found = {one.secret: one.row() for one in rows}
    assert (found[KEY]["other_on"], found[KEY]["state"]) == (("b",) if another else (), "ok")
    assert ("b holds another value" in str(found[KEY]["found"])) is another
    assert found[TOKEN]["other_on"] == ()


async def test_a_secret_that_cannot_be_used_is_not_probed() -> None:
    """What was left out says why; a fault of the folder has its own row."""
    world = Examined({TOKEN: "first"}, troubles={KEY: "It is too short.", "": "It belongs to somebody else."})
    found, _ = await world.found()
    assert [name for name, _ in world.given] == [TOKEN]
    assert found[KEY]["found"] == "It is too short"
    assert (found[DIRECTORY]["state"], found[DIRECTORY]["found"]) == ("broken", "It belongs to somebody else")


async def test_the_form_and_the_mode_of_a_file() -> None:
    """What looks wrong, a note, and a file that everybody may read, are said before the probe's remarks."""
    world = Examined(forms={KEY: Form("It is no key."), TOKEN: Form(note="an old token")}, mode=0o644)
    found, _ = await world.found()
    assert found[KEY]["found"] == "It is no key; everybody on this machine may read its file; it was tried"
    assert str(found[TOKEN]["found"]).startswith("present; an old token; everybody on this machine")


@pytest.mark.parametrize(
    ("secret", "compares", "asked"), [(KEY, True, True), (KEY, False, False), (UNUSED, True, False)]
)
def test_the_password_is_asked_for_when_something_is_compared(
    secret: str,
    compares: bool,  # noqa: FBT001  it comes from the table above
    asked: bool,  # noqa: FBT001  it comes from the table above
    world: Examined,
) -> None:
    """The owner is asked only when a probe compares it with a secret that is present."""
    examination = world.examination()
    examination.add_probes([SecretProbe(secret, world.probe(secret), compares_password=compares)])
    assert examination.compares_password is asked

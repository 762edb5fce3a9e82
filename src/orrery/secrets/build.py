"""The parts of the watch over the secrets."""

from collections.abc import Sequence

from orrery.ports.panels import PanelSource
from orrery.ports.running_service import RunningService
from orrery.runtime.jobs import Job
from orrery.runtime.module import load
from orrery.runtime.nodes import Nodes
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.secrets.baseline import EVERY
from orrery.secrets.check import HeldSecrets, ObservedSecrets, SecretsCheck
from orrery.secrets.examination import Examination
from orrery.secrets.fingerprints import Fingerprints


def build(runtime: Runtime) -> Parts:
    """Return the check of the secrets that this process holds, and their examination with the modules' probes."""
    secrets, fingerprints = runtime.need(ObservedSecrets), Fingerprints.of_store(runtime.index_key)
    held = HeldSecrets(secrets.held(fingerprints), fingerprints.keyed_by, secrets.observer, secrets.uses())
    check = SecretsCheck(runtime.store, runtime.clock, held, lambda: secrets.observe(fingerprints))
    examination = Examination(check, secrets, runtime.port(RunningService), runtime.need(Nodes))

    def add_probes(modules: Sequence[Parts]) -> None:
        examination.add_probes(one for parts in modules for one in parts.secret_probes)

    return Parts(
        module="secrets",
        routes=lambda: load("orrery.secrets.routes:secrets_routes")(check.held_fingerprints),
        # Each process checks its secrets: another process's secrets may still be there.
        jobs=[Job(SecretsCheck.JOB, EVERY, check.check, everywhere=True)],
        checks=[check.findings],
        panels=[PanelSource("Secrets", check.panel, 40, ("secret ", "secrets", "secrets directory"))],
        unreadable=[check.unreadable],
        offers={SecretsCheck: check, Examination: examination},
        once_composed=[add_probes],
    )

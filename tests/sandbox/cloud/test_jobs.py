"""What a job does: it is played by the steps that the sandbox was given, with the rights of its identity."""

from collections.abc import Generator
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest

from orrery.ports.cloud.machine import LookAtPower, MachineReply, Start, Step
from tests.sandbox.cloud.official import ACCOUNT, IDENTITY, Official, operating


def ended(cloud: Official) -> tuple[str, str]:
    """Shut the machine down, let an hour pass, and return the job's status and its words."""
    cloud.box.pull("shutdown")
    cloud.box.advance(3600)
    job = cloud.last_job()
    text = cloud.automation.job.get_output(cloud.group, ACCOUNT, job.name) or job.properties.exception
    return job.properties.status, text.strip()


def test_without_the_role_it_is_forbidden(cloud: Official) -> None:
    """The look is answered with 403, and the job fails with what the steps raise (spec 3, Errors)."""
    identity = cloud.identities.get(cloud.group, IDENTITY)
    role = str(uuid5(NAMESPACE_URL, cloud.box.config.machine_id + identity.principal_id))
    cloud.roles.delete(cloud.box.config.machine_id, role)
    assert ended(cloud) == ("Failed", "The look was answered with 403.")
    cloud.put_role(identity.principal_id)


def test_what_a_look_shows(tmp_path: Path) -> None:
    """The power, the tag of a pause, and the true time since the webhook's call, whatever the factor."""
    seen: list[MachineReply] = []

    def keep(data: str) -> Generator[Step, MachineReply, str]:
        del data
        seen[:] = [(yield LookAtPower()), (yield Start())]
        return "kept"

    with operating(tmp_path, restart=keep, factor=30.0) as cloud:
        cloud.provision()
        machine = (cloud.group, cloud.box.config.machine)
        cloud.machines.begin_update(*machine, {"tags": {"Orrery-Paused-Until": "until Monday"}}).result()
        cloud.box.pull("shutdown", job=9)
        cloud.box.advance(60)
        created = cloud.last_job().properties.creation_time
    look, start = seen
    assert (look.status, look.power, look.pause) == (200, "stopped", "until Monday")
    assert (look.at - created).total_seconds() == pytest.approx(9, abs=0.001)
    assert (start.status, start.power) == (202, "unknown")

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


@pytest.mark.parametrize("status", [403, 409, 429, 500])
def test_a_start_can_be_refused(cloud: Official, status: int) -> None:
    """A fault of the cloud is an answer to the job's own calls, too."""
    cloud.box.fault(f"cloud_{status}", "job POST start")
    assert ended(cloud) == ("Failed", f"The start was answered with {status}.")


def test_a_text_that_names_no_identity(cloud: Official) -> None:
    """A runbook signs in as the identity whose client id it names, if the account has that: else it fails."""
    identity = cloud.identities.get(cloud.group, IDENTITY)
    other = cloud.put_identity("unattached")
    for text in ("Connect-AzAccount", f"Connect-AzAccount -Identity -AccountId {other.client_id}"):
        cloud.put_runbook(text)
        assert ended(cloud) == ("Failed", "no managed identity")
        cloud.box.pull("start")
        cloud.box.advance(3600)
    cloud.put_runbook(f"Connect-AzAccount -Identity -AccountId {identity.client_id}")


def test_a_second_call_finds_the_machine_running(cloud: Official) -> None:
    """Twice is harmless: a job for a machine that runs reports that, and starts nothing."""
    uri = cloud.automation.webhook.generate_uri(cloud.group, ACCOUNT)
    cloud.put_webhook(uri, "twice")
    cloud.box.post(uri)
    cloud.box.advance(60)
    assert cloud.last_job().properties.status == "Completed"
    assert cloud.box.events("job")[-1]["details"]["text"] == "already running"
    cloud.automation.webhook.delete(cloud.group, ACCOUNT, "twice")


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

"""The cloud by its official libraries: answers and requests as published, and the known traps."""

from collections.abc import Generator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError

from orrery.ports.cloud.machine import LookAtPower, MachineReply, Start, Step
from tests.sandbox.contracts import check_cloud, check_request, needs_contract
from tests.support.azure import (
    ACCOUNT,
    ALERT,
    GROUP,
    IDENTITY,
    RUNBOOK,
    SECOND_ALERT,
    WEBHOOK,
    Official,
    code_of,
    operating,
)


@pytest.fixture(scope="module")
def module_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Official]:
    """A cloud with the resources put: starting one takes a tenth of a second."""
    with operating(tmp_path_factory.mktemp("cloud")) as cloud:
        cloud.provision()
        yield cloud


@pytest.fixture
def cloud(module_cloud: Official) -> Official:
    """The module's cloud with every fault off, its machine running, and nothing due."""
    module_cloud.box.clear_faults()
    module_cloud.box.pull("known")
    run_again(module_cloud)
    return module_cloud


def run_again(cloud: Official) -> None:
    """Let the machine run, and nothing be due."""
    cloud.box.advance(3600)
    if cloud.box.known()["machine"]["power"] != "running":
        cloud.box.pull("start")
        cloud.box.advance(3600)


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Official]:
    """A cloud in which the machine was shut down and brought back, and everything was looked at."""
    with operating(tmp_path_factory.mktemp("tour")) as cloud:
        cloud.provision()
        cloud.box.pull("shutdown")
        cloud.box.advance(900)
        look_at_everything(cloud)
        yield cloud


def look_at_everything(cloud: Official) -> None:
    """Read each resource, and each listing."""
    group, automation = cloud.group, cloud.automation
    identity = cloud.identities.get(group, IDENTITY)
    cloud.put_identity()
    list(cloud.roles.list_for_subscription(filter=f"assignedTo('{identity.principal_id}')"))
    automation.automation_account.get(group, ACCOUNT)
    automation.runbook.get(group, ACCOUNT, RUNBOOK)
    automation.runbook.get_content(group, ACCOUNT, RUNBOOK)
    automation.webhook.get(group, ACCOUNT, WEBHOOK)
    automation.webhook.update(group, ACCOUNT, WEBHOOK, {"name": WEBHOOK, "properties": {"isEnabled": True}})
    list(automation.webhook.list_by_automation_account(group, ACCOUNT))
    job = cloud.last_job()
    automation.job.get_output(group, ACCOUNT, job.name)
    list(automation.usages.list_by_automation_account(group, ACCOUNT))
    cloud.monitor.action_groups.get(group, GROUP)
    cloud.monitor.activity_log_alerts.get(group, ALERT)
    list(cloud.monitor.activity_log_alerts.list_by_resource_group(group))
    cloud.machines.instance_view(group, cloud.box.config.machine)
    cloud.machines.get(group, cloud.box.config.machine, expand="instanceView")


@needs_contract
def test_answers_are_those_of_the_descriptions(tour: Official) -> None:
    """Each answer whose operation is described has that status, and those fields and no other."""
    assert sum(check_cloud(one) for one in tour.exchanges) >= 29


@needs_contract
def test_requests_are_what_templates_may_say(tour: Official) -> None:
    """Each PUT of the libraries is a resource as the vendor's schema of that version has it."""
    assert sum(check_request(one) for one in tour.exchanges) >= 7


def test_starting_the_machine(cloud: Official) -> None:
    """The library waits until the machine runs; a start of a running machine succeeds, and does nothing."""
    machine = (cloud.group, cloud.box.config.machine)
    cloud.automation.webhook.update(cloud.group, ACCOUNT, WEBHOOK, {"properties": {"isEnabled": False}})
    cloud.box.pull("shutdown", start=60)
    cloud.box.advance(600)
    poller = cloud.machines.begin_start(*machine)
    assert cloud.box.known()["machine"]["power"] == "starting"
    cloud.box.advance(60)
    poller.result()
    assert cloud.box.known()["machine"]["power"] == "running"
    cloud.machines.begin_start(*machine).result()
    cloud.automation.webhook.update(cloud.group, ACCOUNT, WEBHOOK, {"properties": {"isEnabled": True}})


def test_tags_are_changed_by_their_etag(cloud: Official) -> None:
    """A change that names an older etag is refused, and changes nothing."""
    machine = (cloud.group, cloud.box.config.machine)
    seen = cloud.machines.get(*machine)
    same = {"etag": seen.etag, "match_condition": MatchConditions.IfNotModified}
    changed = cloud.machines.begin_update(*machine, {"tags": {"pause": "until Monday"}}, **same).result()
    assert changed.tags == {"pause": "until Monday"}
    with pytest.raises(HttpResponseError) as refused:
        cloud.machines.begin_update(*machine, {"tags": {}}, **same)
    assert refused.value.status_code == 412
    assert cloud.machines.get(*machine).tags == {"pause": "until Monday"}


def test_the_activity_log_tells_an_outage(cloud: Official) -> None:
    """The events of the machine since a time, newest first: health, the deallocation, the start."""
    since = cloud.now().isoformat()
    cloud.box.pull("deallocate")
    cloud.box.advance(3600)
    wanted = f"eventTimestamp ge '{since}' and resourceUri eq '{cloud.box.config.machine_id.upper()}'"
    events = [
        (one.category.value, one.operation_name.value.split("/")[-2], one.status.value)
        for one in cloud.monitor.activity_logs.list(filter=wanted)
    ]
    assert events[-2:] == [
        ("Administrative", "deallocate", "Succeeded"),
        ("Administrative", "deallocate", "Started"),
    ]
    assert ("ResourceHealth", "Activated", "Active") in events
    assert ("Administrative", "start", "Succeeded") in events


def test_deleting(tour: Official) -> None:
    """What is deleted is gone with what is below it; deleting it again is no error."""
    group, automation = tour.group, tour.automation
    for _ in range(2):
        tour.monitor.activity_log_alerts.delete(group, ALERT)
        tour.monitor.activity_log_alerts.delete(group, SECOND_ALERT)
        tour.monitor.action_groups.delete(group, GROUP)
        automation.runbook.delete(group, ACCOUNT, RUNBOOK)
        automation.automation_account.delete(group, ACCOUNT)
        tour.identities.delete(group, IDENTITY)
    with pytest.raises(HttpResponseError) as gone:
        automation.webhook.get(group, ACCOUNT, WEBHOOK)
    assert gone.value.status_code == 404
    [role] = tour.roles.list_for_scope(tour.box.config.machine_id)
    tour.roles.delete(tour.box.config.machine_id, role.name)
    assert list(tour.roles.list_for_scope(tour.box.config.machine_id)) == []


def test_a_principal_that_is_seconds_old(cloud: Official) -> None:
    """It is not found yet unless the caller names its kind; one that was never created is not found at all."""
    fresh = cloud.put_identity("fresh")
    for principal, kind in ((fresh.principal_id, None), (str(uuid4()), "ServicePrincipal")):
        with pytest.raises(HttpResponseError) as missing:
            cloud.put_role(principal, kind=kind)
        assert code_of(missing) == (400, "PrincipalNotFound")
    assert cloud.put_role(fresh.principal_id).principal_id == fresh.principal_id
    cloud.identities.delete(cloud.group, "fresh")
    assert fresh.principal_id in {one.principal_id for one in cloud.roles.list_for_subscription()}


Leaves = list[tuple[str, str]]


HEALTH: Leaves = [("category", "ResourceHealth"), ("properties.currentHealthStatus", "Unavailable")]


def fired(cloud: Official, action: str = "shutdown") -> list[str]:
    """Pull a lever and let an hour pass; return the names of the alerts that fired."""
    before = len(cloud.box.events())
    cloud.box.pull(action)
    events = cloud.box.advance(3600)["events"][before:]
    return [one["details"]["name"] for one in events if one["kind"] == "alert"]


ALERTS: list[tuple[Leaves, dict[str, object], bool]] = [
    (HEALTH, {}, True),
    ([(where.upper(), what.lower()) for where, what in HEALTH], {}, True),
    ([*HEALTH, ("properties.cause", "PlatformInitiated")], {}, True),
    ([*HEALTH, ("properties.cause", "PlatoformInitiated")], {}, False),
    ([("category", "ResourceHealth"), ("properties.currentHealthState", "Unavailable")], {}, False),
    (HEALTH, {"enabled": False}, False),
    (HEALTH, {"scopes": ["/subscriptions/00000000-0000-4000-8000-000000000009"]}, False),
    (HEALTH, {"scopes": ["/subscriptions/00000000-0000-4000-8000-000000000001"]}, True),
    (HEALTH, {"actions": {"actionGroups": []}}, True),
]


def test_an_alert_fires_when_its_condition_is_met(cloud: Official) -> None:
    """Every leaf must hold for an event in its scopes; a misspelt one is stored, and never holds."""
    group_id = cloud.monitor.action_groups.get(cloud.group, GROUP).id
    for leaves, more, fires in ALERTS:
        cloud.put_alert(ALERT, group_id, leaves, **more)
        assert (leaves, more, ALERT in fired(cloud)) == (leaves, more, fires)
        run_again(cloud)
    cloud.put_alert(ALERT, group_id, HEALTH)


SHUTDOWN: dict[str, float] = {"stop": 10, "health": 30, "alert": 90, "job": 6, "start": 70}


def kinds_and_times(events: list[dict[str, Any]]) -> list[tuple[str, float]]:
    """Return what happened, and after how many true seconds."""
    return [(one["kind"], one["after"]) for one in events]


def chain(cloud: Official, action: str, **delays: float) -> list[dict[str, Any]]:
    """Pull a lever and let an hour pass; return what happened."""
    before = len(cloud.box.events())
    cloud.box.pull(action, **delays)
    return cloud.box.advance(3600)["events"][before:]


def test_a_shutdown_is_answered(cloud: Official) -> None:
    """Each link follows at its time: health, alert, webhook and e-mail, job, start, running, the job's end."""
    assert kinds_and_times(chain(cloud, "shutdown", **SHUTDOWN)) == [
        ("shutdown", 0),
        ("power", 10),
        ("health", 30),
        ("alert", 120),
        ("webhook", 120),
        ("mail", 120),
        ("job", 126),
        ("start", 126),
        ("power", 196),
        ("job", 201),
    ]
    assert cloud.last_job().properties.status == "Completed"


def test_a_restart_of_the_sandbox_loses_nothing(tmp_path: Path) -> None:
    """What was due, and a job that waits, go on in the next process over the same folder."""
    with operating(tmp_path) as cloud:
        cloud.provision()
        cloud.box.pull("shutdown", **SHUTDOWN)
        cloud.box.advance(150)
        assert cloud.last_job().properties.status == "Running"
    with operating(tmp_path) as cloud:
        assert kinds_and_times(cloud.box.advance(60)["events"])[-2:] == [("power", 196), ("job", 201)]


def ended(cloud: Official) -> tuple[str, str]:
    """Shut the machine down, let an hour pass, and return the job's status and its words."""
    cloud.box.pull("shutdown")
    cloud.box.advance(3600)
    job = cloud.last_job()
    text = cloud.automation.job.get_output(cloud.group, ACCOUNT, job.name) or job.properties.exception
    return job.properties.status, text.strip()


def test_without_the_role_it_is_forbidden(cloud: Official) -> None:
    """The look is refused, and the job fails (spec 3, Errors)."""
    identity = cloud.identities.get(cloud.group, IDENTITY)
    role = str(uuid5(NAMESPACE_URL, cloud.box.config.machine_id + identity.principal_id))
    cloud.roles.delete(cloud.box.config.machine_id, role)
    assert ended(cloud)[0] == "Failed"
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


@pytest.fixture
def uri(cloud: Official) -> str:
    """Return a URI that no webhook has yet."""
    return cloud.automation.webhook.generate_uri(cloud.group, ACCOUNT)


def called(cloud: Official, uri: str) -> int:
    """Post to a URI and return the status."""
    return cloud.box.post(uri).status_code


def test_the_uri_is_answered_once_and_stays(cloud: Official, uri: str) -> None:
    """Only the first PUT's answer has it. Another is refused; none, or the same, leaves the first one working."""
    assert cloud.put_webhook(uri, "kept").properties.uri == uri
    assert cloud.automation.webhook.get(cloud.group, ACCOUNT, "kept").properties.uri == ""
    listed = cloud.automation.webhook.list_by_automation_account(cloud.group, ACCOUNT)
    assert {one.properties.uri for one in listed} == {""}
    other = cloud.automation.webhook.generate_uri(cloud.group, ACCOUNT)
    with pytest.raises(HttpResponseError, match="Property 'uri' cannot be updated"):
        cloud.put_webhook(other, "kept")
    for again in (None, uri):
        assert cloud.put_webhook(again, "kept").properties.uri == ""
    assert (called(cloud, uri), called(cloud, other)) == (202, 404)


def test_nothing_extends_the_expiry(cloud: Official, uri: str) -> None:
    """Neither a PUT nor a PATCH changes when a webhook expires, without an error."""
    first = cloud.put_webhook(uri, "expiry", days=10).properties.expiry_time
    assert cloud.put_webhook(None, "expiry", days=300).properties.expiry_time == first
    later = (cloud.now() + timedelta(days=300)).isoformat()
    changes = {"name": "expiry", "properties": {"expiryTime": later, "isEnabled": True}}
    assert cloud.automation.webhook.update(cloud.group, ACCOUNT, "expiry", changes).properties.expiry_time == first


def test_what_a_call_is_answered(cloud: Official, uri: str) -> None:
    """202 with the job's id; 400 when it is disabled, expired, or the token is wrong; 404 when it is gone."""
    assert called(cloud, uri) == 404
    cloud.put_webhook(uri, "called")
    answer = cloud.box.post(uri)
    assert (answer.status_code, answer.json()) == (202, {"JobIds": [cloud.box.known()["jobs"][0]["name"]]})
    assert called(cloud, f"{uri}x") == 400
    for enabled, status in ((False, 400), (True, 202)):
        changes = {"name": "called", "properties": {"isEnabled": enabled}}
        cloud.automation.webhook.update(cloud.group, ACCOUNT, "called", changes)
        assert called(cloud, uri) == status
    cloud.box.advance(timedelta(days=366).total_seconds())
    assert called(cloud, uri) == 400
    cloud.automation.webhook.delete(cloud.group, ACCOUNT, "called")
    assert called(cloud, uri) == 404

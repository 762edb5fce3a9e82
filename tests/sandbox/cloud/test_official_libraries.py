"""Every call that the product makes, by the official libraries; the answers are held against the contracts."""

from collections.abc import Iterator

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.mgmt.automation import AutomationClient

from tests.sandbox.cloud.contract import check_answer, check_request, needs_contract
from tests.sandbox.cloud.official import (
    ACCOUNT,
    ALERT,
    GROUP,
    IDENTITY,
    RUNBOOK,
    SECOND_ALERT,
    WEBHOOK,
    Official,
    operating,
)


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
    list(cloud.roles.list_for_subscription(filter=f"principalId eq '{identity.principal_id}'"))
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
    assert sum(check_answer(one) for one in tour.exchanges) >= 29


@needs_contract
def test_requests_are_what_templates_may_say(tour: Official) -> None:
    """Each PUT of the libraries is a resource as the vendor's schema of that version has it."""
    assert sum(check_request(one) for one in tour.exchanges) >= 7


def test_the_jobs_of_the_specified_version(cloud: Official) -> None:
    """With api-version 2023-11-01 the listing takes `$top`, and has the newest job first."""
    older = cloud.client(AutomationClient, api_version="2023-11-01")
    for _ in range(2):
        cloud.box.pull("shutdown")
        cloud.box.advance(3600)
    newest = cloud.box.known()["jobs"][0]["name"]
    jobs = list(older.job.list_by_automation_account(cloud.group, ACCOUNT, params={"$top": 1}))
    assert [one.name for one in jobs] == [newest]


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
    """What is deleted is gone with what is below it; deleting it again is no error, but of a webhook."""
    group, automation = tour.group, tour.automation
    automation.webhook.delete(group, ACCOUNT, WEBHOOK)
    with pytest.raises(HttpResponseError):
        automation.webhook.delete(group, ACCOUNT, WEBHOOK)
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

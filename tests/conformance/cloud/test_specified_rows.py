"""The rows of the specification that the layer in the cloud is made of, each seen through the official libraries.

tests/gateway/test_specification.py names the test of each row.
"""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from subprocess import CompletedProcess
from typing import Any

import pytest

from orrery.gateway.cloud.findings import FREE_MINUTES
from orrery.gateway.cloud.runbook import rendered
from orrery.sandbox.cloud.access import MACHINE_CONTRIBUTOR
from tests.support.azure import Official
from tests.support.program import run_orrery
from tests.support.provisioning import Layer, layer_in

SHUTDOWNS_A_MONTH = 90
"""One each 8 hours (spec 3, What the service does)."""


@pytest.fixture(scope="module")
def module_layer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layer]:
    with layer_in(tmp_path_factory.mktemp("rows")) as layer:
        assert layer.provisioning.make().succeeded
        yield layer


@pytest.fixture
def layer(module_layer: Layer) -> Layer:
    """The layer that `apply` made, with its machine running and nothing due."""
    module_layer.box.advance(3600)
    if module_layer.box.known()["machine"]["power"] != "running":
        module_layer.box.pull("start")
        module_layer.box.advance(3600)
    return module_layer


@pytest.fixture
def official(layer: Layer) -> Iterator[Official]:
    with closing(Official(layer.box)) as official:
        yield official


def outage(layer: Layer, lever: str = "shutdown", **delays: float) -> list[dict[str, Any]]:
    """Shut the machine down and let an hour pass; return what happened."""
    before = len(layer.box.events())
    layer.box.pull(lever, **delays)
    return layer.box.advance(3600)["events"][before:]


def typed(layer: Layer, command: str) -> CompletedProcess[str]:
    return run_orrery("gateway", "cloud", command, "--json", "--config", str(layer.config))


def payload(layer: Layer) -> str:
    """Return what the health alert posts."""
    machine, properties = layer.box.config.machine_id, {"currentHealthStatus": "Unavailable"}
    log = {"category": "ResourceHealth", "resourceId": machine, "properties": properties}
    return json.dumps({"schemaId": "x", "data": {"status": "Activated", "context": {"activityLog": log}}})


def after(events: list[dict[str, Any]], kind: str) -> float:
    """Return how many seconds after the shutdown the first event of a kind was."""
    return next(one["after"] for one in events if one["kind"] == kind)


def running_after(events: list[dict[str, Any]]) -> float:
    return next(one["after"] for one in events if one["details"].get("power") == "running")


# Resources


def test_resource_user_assigned_identity(layer: Layer, official: Official) -> None:
    """The runbook's text signs in as it, and its account has no other."""
    identity = official.identities.get(official.group, layer.wanted.identity)
    text = official.automation.runbook.get_content(official.group, layer.wanted.account, layer.wanted.runbook)
    account = official.automation.automation_account.get(official.group, layer.wanted.account)
    assert f"'{identity.client_id}'" in "".join(text)
    assert [one.client_id for one in account.identity.user_assigned_identities.values()] == [identity.client_id]


def test_resource_role_assignment(layer: Layer, official: Official) -> None:
    """One role, that which may start machines, on the one machine."""
    principal = official.identities.get(official.group, layer.wanted.identity).principal_id
    (role,) = official.roles.list_for_subscription(filter=f"assignedTo('{principal}')")
    assert role.scope == layer.box.config.machine_id
    assert role.role_definition_id.endswith(MACHINE_CONTRIBUTOR)


def test_resource_automation_account(layer: Layer, official: Official) -> None:
    """Its tier is Basic, and it has the runbook and the webhook."""
    place = (official.group, layer.wanted.account)
    assert official.automation.automation_account.get(*place).sku.name == "Basic"
    (runbook,) = official.automation.runbook.list_by_automation_account(*place)
    (webhook,) = official.automation.webhook.list_by_automation_account(*place)
    assert runbook.name == webhook.runbook.name == layer.wanted.runbook


def test_resource_runbook(layer: Layer, official: Official) -> None:
    """For PowerShell 7.2, published, about 70 lines; a second run does no harm."""
    runbook = official.automation.runbook.get(official.group, layer.wanted.account, layer.wanted.runbook)
    assert (runbook.runbook_type, runbook.state) == ("PowerShell72", "Published")
    text = rendered(layer.cloud.machine_id, "00000000-0000-4000-8000-000000000009")
    assert 60 <= len(text.splitlines()) <= 80
    events = outage(layer, "deallocate")
    jobs = [one for one in events if one["kind"] == "job" and one["details"]["status"] == "Completed"]
    assert (len(jobs), [one["kind"] for one in events].count("start")) == (2, 1)


def test_resource_webhook(layer: Layer, official: Official) -> None:
    """It lasts a year; its URI is kept here, and is shown nowhere later."""
    (webhook,) = official.automation.webhook.list_by_automation_account(official.group, layer.wanted.account)
    assert timedelta(days=364) < webhook.expiry_time - official.now() <= timedelta(days=365)
    assert not official.automation.webhook.get(official.group, layer.wanted.account, webhook.name).uri
    assert layer.box.post(layer.uri_file.read_text().strip()).status_code == 202


def test_resource_activity_log_alert(layer: Layer, official: Official) -> None:
    """Its conditions and its scope are the specified ones."""
    alert = official.monitor.activity_log_alerts.get(official.group, layer.wanted.alerts["health"])
    assert {(one.field, one.equals) for one in alert.condition.all_of} == {
        ("category", "ResourceHealth"),
        ("properties.currentHealthStatus", "Unavailable"),
    }
    assert alert.scopes == [layer.box.config.machine_id]


def test_resource_action_group(layer: Layer, official: Official) -> None:
    """Its receivers are the webhook and an e-mail address."""
    group = official.monitor.action_groups.get(official.group, layer.wanted.action_group)
    assert [one.service_uri for one in group.webhook_receivers] == [layer.uri_file.read_text().strip()]
    assert [one.email_address for one in group.email_receivers] == [layer.wanted.email]


# The payload


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schemaId", "Microsoft.Insights/activityLogs"),
        ("data.status", "Activated"),
        ("data.context.activityLog.category", "ResourceHealth"),
        ("data.context.activityLog.resourceId", "{machine}"),
        ("data.context.activityLog.properties.currentHealthStatus", "Unavailable"),
        ("data.context.activityLog.properties.cause", "PlatformInitiated"),
    ],
)
def test_payload_field(layer: Layer, field: str, value: str) -> None:
    """The alert that was made posts it, and the runbook is given it."""
    outage(layer)
    found = re.search(r"RequestBody:(\{.*\}),RequestHeader", layer.box.known()["jobs"][0]["data"])
    assert found
    value_of: Any = json.loads(found[1])
    for name in field.split("."):
        value_of = value_of[name]
    assert value_of == value.format(machine=layer.box.config.machine_id)


# States and transitions


def test_state_vm_running_is_shut_down_by_the_host(layer: Layer) -> None:
    """It is stopped, and 30 s later its health is Unavailable."""
    layer.box.pull("shutdown")
    layer.box.advance(31)
    found = layer.cloud.machine()
    assert found
    assert (found.power, layer.cloud.health()) == ("stopped", "Unavailable")


def test_state_vm_unavailable_and_an_alert_fires(layer: Layer) -> None:
    """1 to 5 minutes after the change of the health the webhook is called, and 5 to 10 s later the job runs."""
    events = outage(layer)
    assert 60 <= after(events, "alert") - after(events, "health") <= 300
    assert after(events, "webhook") == after(events, "alert")
    assert 5 <= after(events, "job") - after(events, "webhook") <= 10


@pytest.mark.parametrize(("lever", "power"), [("shutdown", "stopped"), ("deallocate", "deallocated")])
def test_state_vm_stopped_or_deallocated_is_started(layer: Layer, lever: str, power: str) -> None:
    """60 to 120 s after the call it runs; the job ends at its next look."""
    events = outage(layer, lever)
    (start,) = [one for one in events if one["kind"] == "start"]
    assert start["details"] == {"by": "runbook", "power": power}
    assert 60 <= running_after(events) - start["after"] <= 120
    ended = next(one for one in events if one["details"].get("status") == "Completed")
    assert 0 <= ended["after"] - running_after(events) <= 15


def test_state_vm_running_stays_as_it_is(layer: Layer) -> None:
    """The job ends clean with that sentence."""
    before = len(layer.box.events("start"))
    (job,) = layer.cloud.call_webhook(layer.uri_file.read_text().strip(), payload(layer))
    layer.box.advance(60)
    assert layer.cloud.output(job).strip() == "The machine is already running: nothing to do."
    assert len(layer.box.events("start")) == before


# Endpoints


def test_endpoint_webhook(layer: Layer) -> None:
    """A POST of JSON is answered 202, with the ids of jobs that there are."""
    answer = layer.box.post(layer.uri_file.read_text().strip(), payload(layer))
    assert answer.status_code == 202
    assert [layer.cloud.job(one).id for one in answer.json()["JobIds"]] == answer.json()["JobIds"]


def test_endpoint_instance_view(layer: Layer, official: Official) -> None:
    """Its power state is that of our look at the machine."""
    for power in ("running", "stopped"):
        view = official.machines.instance_view(official.group, layer.box.config.machine)
        found = layer.cloud.machine()
        assert found
        assert (found.power, view.statuses[-1].code) == (power, f"PowerState/{power}")
        if power == "running":
            layer.box.pull("shutdown", alert=3000)
            layer.box.advance(60)


def test_endpoint_start(layer: Layer) -> None:
    """It is accepted, and the machine runs."""
    layer.box.pull("shutdown", alert=3000)
    layer.box.advance(60)
    layer.cloud.start()
    layer.box.advance(120)
    assert layer.box.known()["machine"]["power"] == "running"


def test_endpoint_jobs(layer: Layer) -> None:
    """The listing is asked for in the specified version with `$top`, and answers the last jobs."""
    outage(layer)
    (job,) = layer.cloud.jobs(1)
    assert job.id == layer.box.known()["jobs"][0]["name"]
    asked = [one["query"] for one in layer.box.known()["requests"] if one["what"] == "GET jobs"][-1]
    assert (asked["api-version"], asked["$top"]) == ("2023-11-01", "1")


# Errors


def test_error_health_status_unknown_instead_of_unavailable(layer: Layer) -> None:
    """`doctor` names it while it lasts, the health alert never fires, and that of the deallocation does."""
    layer.box.pull("unknown")
    before = len(layer.box.events())
    layer.box.pull("deallocate")
    layer.box.advance(45)
    found = json.loads(typed(layer, "doctor").stdout)
    assert next(one["state"] for one in found if one["part"] == "health") == "broken"
    events = layer.box.advance(3600)["events"][before:]
    layer.box.pull("known")
    assert [one["details"]["category"] for one in events if one["kind"] == "alert"] == ["Administrative"]
    assert layer.box.known()["machine"]["power"] == "running"


# Limits


def test_limit_alert_delay(layer: Layer) -> None:
    """1 to 5 minutes, for either alert, after the event that it is for."""
    events = outage(layer, "deallocate")
    begins = {"ResourceHealth": after(events, "health"), "Administrative": after(events, "power")}
    for one in (one for one in events if one["kind"] == "alert"):
        assert 60 <= one["after"] - begins.pop(one["details"]["category"]) <= 300
    assert begins == {}


@pytest.mark.parametrize("lever", ["shutdown", "deallocate"])
def test_limit_total_vm_recovery(layer: Layer, lever: str) -> None:
    """3 to 7 minutes, with each delay in the middle of its range."""
    events = outage(layer, lever, stop=15, alert=180, job=7.5, start=90)
    assert 3 * 60 <= running_after(events) <= 7 * 60


def test_limit_runbook_poll(layer: Layer) -> None:
    """Every 15 s for up to 4 min: a machine that does not come up in that time is a failed job with that error."""
    outage(layer, start=3000)
    job = layer.cloud.job(layer.cloud.jobs(1)[0].id)
    assert job.started_at
    assert job.ended_at == job.started_at + timedelta(minutes=4)
    assert job.status == "Failed"
    assert "within 4 min" in job.exception


def test_limit_runbook_cost(layer: Layer) -> None:
    """A month's jobs of both alerts stay within the free minutes."""
    used = layer.cloud.minutes_used()
    outage(layer, "deallocate")
    now = layer.cloud.minutes_used()
    assert used is not None
    assert now is not None
    assert 0 < (now - used) * SHUTDOWNS_A_MONTH <= FREE_MINUTES


def test_limit_webhook_lifetime(layer: Layer) -> None:
    """A new webhook lasts 365 days from its making, and not longer."""
    now = layer.box.clock.now()
    assert layer.provisioning.make(rotate=True).succeeded
    webhook = max(layer.cloud.webhooks(), key=lambda one: one.created_at)
    assert timedelta(days=365) <= webhook.expires_at - now < timedelta(days=365, hours=1)


def test_limit_webhook_calls(layer: Layer) -> None:
    """Those of this month are in `status` beside the free ones."""
    for _ in range(2):
        _ = outage(layer)  # after the first one, another month may have begun
    found = json.loads(typed(layer, "status").stdout)
    assert found["free_webhook_calls"] == 100_000
    called = [job.created_at for job in layer.cloud.jobs(100)]
    now = max(called)
    assert found["webhook_calls"] == len([one for one in called if (one.year, one.month) == (now.year, now.month)])

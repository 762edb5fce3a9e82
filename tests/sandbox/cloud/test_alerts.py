"""When an alert fires, and what the action group's receivers are sent."""

import json

import pytest

from orrery.sandbox.cloud.alerts import CACHED
from tests.sandbox.cloud.official import ACCOUNT, ALERT, GROUP, Official

Leaves = list[tuple[str, str]]
HEALTH: Leaves = [("category", "ResourceHealth"), ("properties.currentHealthStatus", "Unavailable")]


@pytest.fixture
def group_id(cloud: Official) -> str:
    """Return the action group's id."""
    return cloud.monitor.action_groups.get(cloud.group, GROUP).id


def fired(cloud: Official, action: str = "shutdown") -> list[str]:
    """Pull a lever and let an hour pass; return the names of the alerts that fired."""
    before = len(cloud.box.events())
    cloud.box.pull(action)
    events = cloud.box.advance(3600)["events"][before:]
    return [one["details"]["name"] for one in events if one["kind"] == "alert"]


@pytest.mark.parametrize(
    ("leaves", "more", "fires"),
    [
        (HEALTH, {}, True),
        ([(where.upper(), what.lower()) for where, what in HEALTH], {}, True),
        ([*HEALTH, ("properties.cause", "PlatformInitiated")], {}, True),
        ([*HEALTH, ("properties.cause", "PlatoformInitiated")], {}, False),
        ([("category", "ResourceHealth"), ("properties.currentHealthState", "Unavailable")], {}, False),
        (HEALTH, {"enabled": False}, False),
        (HEALTH, {"scopes": ["/subscriptions/00000000-0000-4000-8000-000000000009"]}, False),
        (HEALTH, {"scopes": ["/subscriptions/00000000-0000-4000-8000-000000000001"]}, True),
        (HEALTH, {"actions": {"actionGroups": []}}, True),
    ],
    ids=["right", "spelling", "cause", "typo", "misspelt key", "disabled", "elsewhere", "wide", "no action"],
)
def test_an_alert_fires_when_its_condition_is_met(
    cloud: Official,
    group_id: str,
    leaves: Leaves,
    more: dict[str, object],
    fires: bool,  # noqa: FBT001  a column
) -> None:
    """Every leaf must hold for an event in its scopes; a misspelt one is stored, and never holds."""
    cloud.put_alert(ALERT, group_id, leaves, **more)
    assert (ALERT in fired(cloud)) is fires
    cloud.put_alert(ALERT, group_id, HEALTH)


def test_a_disabled_action_group_does_nothing(cloud: Official, group_id: str) -> None:
    """The alert fires; no webhook is called and no e-mail sent."""
    for enabled, power in ((False, "stopped"), (True, "running")):
        group = cloud.monitor.action_groups.get(cloud.group, GROUP)
        group.enabled = enabled
        assert cloud.monitor.action_groups.create_or_update(cloud.group, GROUP, group).id == group_id
        assert fired(cloud) == [ALERT]
        assert cloud.box.known()["machine"]["power"] == power
        if not enabled:
            cloud.box.pull("start")
            cloud.box.advance(3600)


def test_a_changed_action_group_is_used_as_it_was_for_minutes(cloud: Official) -> None:
    """The alert of the next minute calls the webhook from before the change, a later one that of the change."""
    kept = cloud.monitor.action_groups.get(cloud.group, GROUP)
    cloud.put_group(f"{cloud.box.config.url}/webhooks?token=none")
    statuses: list[int] = []
    for _ in range(2):
        cloud.box.pull("shutdown", alert=60)
        cloud.box.advance(3600)
        statuses.append(cloud.box.events("webhook")[-1]["details"]["status"])
    assert statuses == [202, 400]
    cloud.monitor.action_groups.create_or_update(cloud.group, GROUP, kept)
    cloud.box.advance(CACHED)


def test_the_common_schema_is_another_payload(cloud: Official) -> None:
    """A receiver that asks for the common schema is sent that, which has none of the specified fields."""
    uri = cloud.automation.webhook.generate_uri(cloud.group, ACCOUNT)
    cloud.put_runbook("# nothing", kind="PowerShell", name="older")
    cloud.put_webhook(uri, "common", runbook="older")
    kept = cloud.monitor.action_groups.get(cloud.group, GROUP)
    cloud.put_group(uri, common=True)
    cloud.box.advance(CACHED)
    fired(cloud)
    body = json.loads(json.loads(cloud.box.known()["jobs"][0]["data"])["RequestBody"])
    assert body["schemaId"] == "azureMonitorCommonAlertSchema"
    assert body["data"]["essentials"]["alertTargetIDs"] == [cloud.box.config.machine_id.lower()]
    cloud.monitor.action_groups.create_or_update(cloud.group, GROUP, kept)
    cloud.automation.webhook.delete(cloud.group, ACCOUNT, "common")

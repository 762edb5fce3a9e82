"""When an alert fires, and what the action group's receivers are sent."""

import pytest

from tests.sandbox.cloud.official import ALERT, GROUP, Official

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

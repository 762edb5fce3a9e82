"""What `apply` would change, for each way in which the cloud can differ (spec 3, Cloud resources)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.gateway.cloud.plan import OVERLAP, CloudPlan, current_webhook, planned
from orrery.gateway.cloud.survey import Survey
from orrery.gateway.cloud.wanted import webhook_name
from orrery.ports.cloud import ActionGroup, Alert, Kind, Runbook, Webhook
from tests.support.cloud_layer import (
    ACTION_GROUP,
    COMPLETE,
    EMPTY,
    GRANT,
    GROUP,
    MACHINE,
    NOW,
    URI,
    WANTED,
    WEBHOOK,
    alert,
    text,
)
from tests.support.tables import each_case

assert isinstance(COMPLETE.action_group, ActionGroup)
GROUP_FOUND = COMPLETE.action_group
SUBSCRIPTION = GROUP.partition("/resourceGroups")[0]


def plan(found: Survey) -> CloudPlan:
    return planned(found, WANTED, text)


def changed(found: Survey) -> dict[Kind, str]:
    return {change.kind: change.action for change in plan(found).changes if change.action != "keep"}


def test_a_complete_layer_needs_nothing() -> None:
    """A second `apply` changes nothing."""
    assert plan(COMPLETE).is_empty


def test_an_empty_subscription_needs_every_resource() -> None:
    """The seven resources of the specification and the planned alert."""
    kinds = {"identity", "account", "role", "runbook", "webhook", "action-group", "health", "deallocate"}
    assert changed(EMPTY) == dict.fromkeys(kinds, "create")


def test_ids_are_compared_without_their_case() -> None:
    """The cloud answers with `resourcegroups` and lower-case names at its pleasure."""
    found = replace(
        COMPLETE,
        grants=(replace(GRANT, scope=MACHINE.upper()),),
        alerts={"health": replace(alert("health"), scopes=(MACHINE.lower(),)), "deallocate": alert("deallocate")},
    )
    assert plan(found).is_empty


@each_case(
    "scope",
    [SUBSCRIPTION, GROUP, f"{MACHINE}-2", "/", f"{MACHINE}/extensions/one"],
)
def test_role_assignment_is_on_the_one_machine_only(scope: str) -> None:
    """Any wider scope is an error, which `apply` names and does not touch."""
    found = plan(replace(COMPLETE, grants=(GRANT, replace(GRANT, id="the-wide-one", scope=scope))))
    assert len(found.troubles) == 1
    assert "the-wide-one" in found.troubles[0].todo


def test_another_role_on_the_machine_is_an_error() -> None:
    """Owner of the machine is more than is needed to start it."""
    assert plan(replace(COMPLETE, grants=(GRANT, replace(GRANT, role="owner")))).troubles


def test_a_moved_machine_is_named() -> None:
    """A machine that is not where the settings say stops everything."""
    assert "deleted or moved" in plan(replace(COMPLETE, machine=None)).troubles[0].why


def test_a_runbook_of_another_runtime_is_an_error() -> None:
    """Its type cannot be changed."""
    found = replace(COMPLETE, runbook=Runbook("PowerShell", text("the-client")))
    assert "PowerShell72" in plan(found).troubles[0].why


@pytest.mark.parametrize(
    ("runbook", "why"),
    [
        (Runbook("PowerShell72", None), "not published"),
        (Runbook("PowerShell72", "exit"), "another one"),
        (Runbook("PowerShell72", text("another-client")), "another one"),
        (Runbook("PowerShell72", text("the-client"), edited=True), "unpublished edit"),
    ],
)
def test_a_runbook_that_drifted_is_published_anew(runbook: Runbook, why: str) -> None:
    """The published text is compared, for this identity."""
    found = plan(replace(COMPLETE, runbook=runbook))
    (change,) = (one for one in found.changes if one.kind == "runbook")
    assert change.action == "update"
    assert why in change.why[0]


@pytest.mark.parametrize(
    "webhook",
    [
        replace(WEBHOOK, expires_at=NOW),
        replace(WEBHOOK, enabled=False),
        replace(WEBHOOK, runbook="another"),
    ],
)
def test_a_webhook_that_does_not_work_is_replaced(webhook: Webhook) -> None:
    """An expired or disabled one, or one of another runbook."""
    assert changed(replace(COMPLETE, webhooks=(webhook,)))["webhook"] == "replace"


def test_a_kept_uri_without_its_webhook_is_used() -> None:
    """An `apply` that was killed between keeping the URI and making the webhook."""
    changes = plan(replace(COMPLETE, webhooks=())).changes
    assert [(one.name, one.action) for one in changes if one.kind == "webhook"] == [(WEBHOOK.name, "create")]


def test_a_webhook_whose_uri_is_kept_nowhere_is_deleted() -> None:
    """What an earlier run left behind; the webhook of another runbook of the account stays."""
    orphan = replace(WEBHOOK, name=webhook_name("restart-gateway", "another"))
    foreign = replace(WEBHOOK, name="restart-gateway", runbook="another")
    changes = plan(replace(COMPLETE, webhooks=(WEBHOOK, orphan, foreign))).changes
    assert [one.name for one in changes if one.action == "delete"] == [orphan.name]


@pytest.mark.parametrize("days", [59, 60, 61])
def test_webhook_expiry_is_said_60_days_ahead(days: int) -> None:
    """From the 60th day before its end on."""
    found = replace(COMPLETE, webhooks=(replace(WEBHOOK, expires_at=NOW + timedelta(days=days)),))
    (change,) = (one for one in plan(found).changes if one.kind == "webhook")
    assert bool(change.why) == (days <= 60)


def test_action_group_calls_the_kept_webhook_with_the_specified_payload() -> None:
    """Common alert schema off, the kept URI, and the e-mail address: each difference is corrected."""
    group = GROUP_FOUND
    for wrong in (
        replace(group, enabled=False),
        replace(group, uris=(f"{URI}2",)),
        replace(group, common_uris=group.uris),
        replace(group, emails=()),
    ):
        assert changed(replace(COMPLETE, action_group=wrong)) == {"action-group": "update"}
    beside = replace(
        group, uris=(URI, f"{URI}2"), common_uris=(f"{URI}2",), emails=("second@x.example", *group.emails)
    )
    assert changed(replace(COMPLETE, action_group=beside)) == {}


@each_case(
    "wrong",
    [
        replace(alert("health"), enabled=False),
        replace(alert("health"), scopes=(SUBSCRIPTION,)),
        replace(alert("health"), scopes=(MACHINE, GROUP)),
        replace(alert("health"), action_groups=()),
        replace(alert("health"), conditions=frozenset({("category", "ResourceHealth")})),
        replace(
            alert("health"),
            conditions=frozenset({("category", "ResourceHealth"), ("properties.currentState", "Unavailable")}),
        ),
    ],
)
def test_alert_condition_and_scope_are_those_of_the_specification(wrong: Alert) -> None:
    """A misspelt field is accepted by the cloud, and never fires."""
    found = replace(COMPLETE, alerts={"health": wrong, "deallocate": alert("deallocate")})
    assert changed(found) == {"health": "update"}


def test_rotation_keeps_the_old_webhook_until_the_new_one_is_proven() -> None:
    """No deletion is part of the plan: it comes after the test."""
    plan = planned(COMPLETE, WANTED, text, rotate=True)
    assert {one.kind: one.action for one in plan.changes if one.action != "keep"} == {
        "webhook": "replace",
        "action-group": "update",
    }


OLD_URI = f"{URI}-of-before"
OLD = replace(WEBHOOK, name=webhook_name("restart-gateway", OLD_URI))
NEW = replace(WEBHOOK, created_at=NOW - OVERLAP + timedelta(minutes=1))


def of_webhooks(found: Survey) -> list[tuple[str, str]]:
    """Return what becomes of each webhook."""
    return [(one.name, one.action) for one in plan(found).changes if one.kind == "webhook"]


@pytest.mark.parametrize(("minutes", "action"), [(-1, "keep"), (0, "delete"), (1, "delete")])
def test_an_old_webhook_stays_for_half_an_hour(minutes: int, action: str) -> None:
    """From the making of the one that has taken its place: alerts may still be delivered to it."""
    new = replace(WEBHOOK, created_at=NOW - OVERLAP - timedelta(minutes=minutes))
    found = replace(COMPLETE, webhooks=(OLD, new))
    assert of_webhooks(found) == [(WEBHOOK.name, "keep"), (OLD.name, action)]
    assert plan(found).is_empty == (action == "keep")


def test_the_webhook_that_the_action_group_calls_is_the_one() -> None:
    """A rotation that was cut off before is undone: what was never called goes, and no alert is lost."""
    called = replace(GROUP_FOUND, uris=(OLD_URI,))
    found = replace(COMPLETE, webhooks=(OLD, NEW), action_group=called)
    assert of_webhooks(found) == [(OLD.name, "update"), (NEW.name, "delete")]
    assert changed(found).get("action-group", "keep") == "keep"
    older = replace(OLD, created_at=OLD.created_at - OVERLAP)
    for uri, current in ((OLD_URI, older), (URI, WEBHOOK), ("", WEBHOOK)):  # of two the kept one, else the newest
        both = replace(
            COMPLETE, uri=uri, webhooks=(older, WEBHOOK), action_group=replace(called, uris=(OLD_URI, URI))
        )
        assert current_webhook(both, WANTED) == current


def test_the_called_webhook_is_known_without_its_uri() -> None:
    """On the machine of the reports, which needs no copy of the URI."""
    found = replace(COMPLETE, uri="")
    assert current_webhook(found, WANTED) == WEBHOOK
    assert of_webhooks(found) == [(WEBHOOK.name, "update")]


def test_an_expired_webhook_that_is_called_makes_way_for_the_kept_one() -> None:
    """A rotation that came late, and was cut off, goes forward; from then on the old one has its half an hour."""
    expired = replace(OLD, expires_at=NOW)
    found = replace(COMPLETE, webhooks=(expired, WEBHOOK), action_group=replace(GROUP_FOUND, uris=(OLD_URI,)))
    assert of_webhooks(found) == [(WEBHOOK.name, "keep"), (OLD.name, "keep")]
    assert changed(found)["action-group"] == "update"


def test_no_uri_is_shown() -> None:
    """Neither a plan nor a survey shows the webhook's URI, which is a credential."""
    assert URI not in repr(plan(COMPLETE)) + repr(COMPLETE)
    assert ACTION_GROUP in repr(COMPLETE)

"""The layer is made, proven, corrected and removed, over the official libraries."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orrery.adapters.azure.clients import Deadlines
from orrery.adapters.azure.cloud import AzureCloud
from orrery.adapters.movable_clock import MovableClock
from orrery.errors import OrreryError
from orrery.gateway.cloud.plan import OVERLAP
from orrery.gateway.cloud.provision import CloudNotReady
from orrery.gateway.cloud.survey import known
from orrery.ports.cloud.errors import CloudError, CloudRefused, CloudUnreachable
from orrery.sandbox.cloud.alerts import CACHED
from tests.support.azure import Official
from tests.support.provisioning import Layer, broken, plan

HASTY = Deadlines(connect=2, read=1, retries=0)


def test_apply_makes_everything_and_proves_it(layer: Layer) -> None:
    """From nothing: eight resources, a kept URI, and a test job that has looked at the machine."""
    tested = layer.provisioning.make()
    assert (tested.status, tested.output) == (
        "Completed",
        "Nothing to do: this is a test. The machine is running.",
    )
    assert plan(layer).is_empty
    assert broken(layer) == {}
    assert layer.uri_file.stat().st_mode & 0o777 == 0o600


def test_a_plan_writes_nothing(layer: Layer) -> None:
    """Neither on an empty cloud nor on a made one does a plan send anything but GET."""
    for _ in range(2):
        before = layer.box.clock.now().timestamp()
        assert plan(layer).changes
        assert {one.partition(" ")[0] for one in layer.box.asked_since(before)} == {"GET"}
        layer.provisioning.make()


def test_typed_again_it_changes_nothing(made: Layer) -> None:
    """A second `apply` sends nothing that changes anything but its test call, and makes no second webhook."""
    before = made.box.clock.now().timestamp()
    made.provisioning.make()
    assert [one for one in made.box.asked_since(before) if not one.startswith("GET")] == ["POST call"]
    assert len(made.cloud.webhooks()) == 1


@pytest.mark.parametrize("lever", ["shutdown", "deallocate"])
def test_the_chain_that_was_made_brings_the_machine_back(made: Layer, lever: str) -> None:
    """Within the specified 3 to 7 minutes, for both alerts (spec 3, Limits: total VM recovery)."""
    before = len(made.box.events())
    made.box.pull(lever, health=30, alert=90, start=90)
    events = made.box.advance(3600)["events"][before:]
    assert made.box.known()["machine"]["power"] == "running"
    running = [one["after"] for one in events if one["kind"] == "power"][-1]
    assert 3 * 60 <= running <= 7 * 60


def test_a_pause_is_respected_and_ends_by_itself(made: Layer, by_hand: Official) -> None:
    """A paused machine stays down, and an alert after the pause starts it. Other tags stay."""
    machine_of = by_hand.group, made.box.config.machine
    by_hand.machines.begin_update(*machine_of, {"tags": {"owner": "somebody"}}).result()
    made.cloud.tag_pause("2999-01-01T00:00:00Z")
    assert by_hand.machines.get(*machine_of).tags["owner"] == "somebody"
    made.box.pull("shutdown")
    made.box.advance(3600)
    machine = made.cloud.machine()
    assert machine
    assert (machine.power, machine.pause) == ("stopped", "2999-01-01T00:00:00Z")
    made.cloud.tag_pause("2020-01-01T00:00:00Z")
    made.box.pull("start")
    made.box.advance(3600)
    made.box.pull("deallocate")
    made.box.advance(3600)
    assert made.box.known()["machine"]["power"] == "running"


@pytest.mark.parametrize(
    ("fault", "operation", "error", "words"),
    [
        ("cloud_403", "PUT role", CloudRefused, "Contributor on the resource group"),
        ("cloud_409", "PUT webhook", CloudRefused, "try again in a minute"),
        ("cloud_429", "PUT group", CloudUnreachable, "Try again in 7 s"),
        ("cloud_500", "PUT alert", CloudUnreachable, "failed (500)"),
        ("cloud_cut", "PUT draft", CloudUnreachable, "gave no whole answer. Try again"),
        ("cloud_hang", "PUT account", CloudUnreachable, "gave no whole answer. Try again"),
        (
            "cloud_401",
            "GET machine",
            CloudNotReady,
            "Nothing was changed. The cloud does not accept the",
        ),
    ],
)
def test_each_failure_is_one_sentence_and_loses_nothing(
    layer: Layer, fault: str, operation: str, error: type[OrreryError], words: str
) -> None:
    """It names what failed, holds no secret, and typing the command again completes the rest."""
    with closing(AzureCloud(layer.names, layer.box.config.url, layer.trust, HASTY)) as cloud:
        hasty = replace(layer, cloud=cloud)
        layer.box.fault(fault, operation, count=None, value=7)
        with pytest.raises(error) as raised:
            hasty.provisioning.make()
        assert words in str(raised.value)
        assert "https://" not in str(raised.value)
        layer.box.clear_faults()
        assert hasty.provisioning.make().succeeded
        assert plan(layer).is_empty


def test_a_call_that_is_limited_once_is_repeated(layer: Layer) -> None:
    """429 with Retry-After is waited out."""
    layer.box.fault("cloud_429", "PUT identity", value=0)
    assert layer.provisioning.make().succeeded


def test_the_kept_uri_is_lost(made: Layer) -> None:
    """It is taken from the action group, which calls it: no new webhook is made, and nothing is lost meanwhile."""
    old = made.uri_file.read_text()
    made.uri_file.unlink()
    assert {one.action for one in plan(made).changes if one.kind == "webhook"} == {"update"}
    made.provisioning.make()
    assert plan(made).is_empty
    assert made.uri_file.read_text() == old


def test_a_webhook_that_somebody_deleted_is_made_anew(made: Layer, by_hand: Official) -> None:
    """Its URI cannot be used again: the cloud refuses it."""
    (webhook,) = made.cloud.webhooks()
    by_hand.automation.webhook.delete(by_hand.group, made.wanted.account, webhook.name)
    assert "webhook" in broken(made)
    made.provisioning.make()
    assert plan(made).is_empty


def test_an_expired_webhook_is_named_and_rotated(made: Layer) -> None:
    """The alert fires and the runbook does not; rotation is one command."""
    made.box.pull("expire")
    assert "expired" in broken(made)["webhook"].why
    assert "rotate-webhook" in broken(made)["webhook"].todo
    assert made.provisioning.make(rotate=True).succeeded
    assert plan(made).is_empty


def webhooks(layer: Layer) -> list[str]:
    """Return the names of the webhooks, the oldest first."""
    return [one.name for one in sorted(layer.cloud.webhooks(), key=lambda one: one.created_at)]


def expect_restarted(layer: Layer) -> None:
    """Shut the machine down at this moment, and see it run again."""
    layer.box.pull("shutdown", health=1, alert=60)
    layer.box.advance(3600)
    assert layer.box.known()["machine"]["power"] == "running"


def test_rotation_has_no_gap(made: Layer) -> None:
    """An alert right after it, which the cloud still delivers to the old webhook, starts the machine."""
    (old,) = webhooks(made)
    assert made.provisioning.make(rotate=True).succeeded
    assert webhooks(made)[0] == old
    assert plan(made).is_empty
    assert broken(made) == {}
    expect_restarted(made)
    assert made.box.known()["jobs"][0]["properties"]["startedBy"].endswith(old)


def test_the_old_webhook_goes_half_an_hour_after_a_rotation(made: Layer, tmp_path: Path) -> None:
    """Not before, however often `apply` is typed: its test calls are no alerts. Then the plan names it.

    A clock that is hours ahead opens no gap: who has made a webhook deletes none.
    """
    (old,) = webhooks(made)
    ahead = MovableClock(tmp_path / "ahead")
    ahead.advance(6 * 3600)
    replace(made.provisioning, clock=ahead).make(rotate=True)
    made.box.advance(OVERLAP.total_seconds() - 120)
    made.provisioning.make()
    assert (webhooks(made)[0], broken(made)) == (old, {})
    made.box.advance(120)
    assert "left behind" in broken(made)["webhook"].why
    made.provisioning.make()
    assert (old in webhooks(made), len(webhooks(made)), plan(made).is_empty) == (False, 1, True)


def test_the_old_webhook_goes_once_an_alert_came_by_the_new_one(made: Layer) -> None:
    """Then the cloud calls the new one: the next `apply` need not wait. One by the old one proves nothing."""
    old_uri = made.uri_file.read_text().strip()
    made.provisioning.make(rotate=True)
    made.box.post(old_uri)
    made.box.advance(CACHED)
    made.provisioning.make()
    assert len(webhooks(made)) == 2
    made.box.pull("shutdown", health=1, alert=60, start=60)
    made.box.advance(600)
    assert len(webhooks(made)) == 2
    made.provisioning.make()
    assert len(webhooks(made)) == 1
    expect_restarted(made)


@pytest.mark.parametrize(
    ("fault", "operation"),
    [
        ("cloud_403", "PUT webhook"),
        ("cloud_403", "PUT group"),
        ("cloud_cut", "POST call"),
        ("cloud_403", "GET job"),
    ],
)
def test_a_rotation_that_was_cut_off_leaves_no_gap_and_one_webhook(
    made: Layer, fault: str, operation: str
) -> None:
    """At whichever request: the first `apply` half an hour later ends with one webhook, and nothing is lost."""
    made.box.fault(fault, operation, count=None)
    with pytest.raises(CloudError):
        made.provisioning.make(rotate=True)
    made.box.clear_faults()
    made.box.advance(OVERLAP.total_seconds())
    assert made.provisioning.make().succeeded
    assert len(webhooks(made)) == 1
    assert plan(made).is_empty
    expect_restarted(made)


def test_two_rotations_in_a_row_keep_all_that_may_be_called(made: Layer) -> None:
    """The half hour begins with the last one."""
    for _ in range(2):
        made.provisioning.make(rotate=True)
        made.box.advance(OVERLAP.total_seconds() - 60)
    assert len(webhooks(made)) == 3
    made.box.advance(60)
    made.provisioning.make()
    assert len(webhooks(made)) == 1


def drifted(official: Official, layer: Layer) -> dict[str, Any]:
    """Return what somebody may change by hand, by the part in which it is found."""
    group, names, found = official.group, layer.wanted, layer.provisioning.survey()
    assert found.identity
    runbook = (group, names.account, names.runbook)
    receiver = {"name": "runbook", "serviceUri": found.uri, "useCommonAlertSchema": True}
    properties = {"groupShortName": "gateway", "enabled": True, "webhookReceivers": [receiver]}
    body = {"location": "Global", "properties": properties}
    return {
        "runbook": lambda: (
            official.automation.runbook_draft.begin_replace_content(*runbook, "exit").result(),
            official.automation.runbook.begin_publish(*runbook).result(),
        ),
        "action group": lambda: official.monitor.action_groups.create_or_update(group, names.action_group, body),
        "health alert": lambda: official.monitor.activity_log_alerts.delete(group, names.alerts["health"]),
        "role": lambda: official.roles.delete_by_id(known(found.grants)[0].id),
    }


@pytest.mark.parametrize("part", ["runbook", "action group", "health alert", "role"])
def test_drift_is_named_and_corrected(made: Layer, by_hand: Official, part: str) -> None:
    """The published text, the schema flag, an alert and the role: each is found, and `apply` puts it right."""
    drifted(by_hand, made)[part]()
    assert set(broken(made)) == {part}
    assert made.provisioning.make().succeeded
    assert plan(made).is_empty


def test_without_an_account_each_missing_part_is_named(layer: Layer) -> None:
    """Before the first `apply`, or when somebody deleted the account: no question about its jobs fails."""
    assert set(broken(layer)) == {
        "account",
        "action group",
        "deallocate alert",
        "health alert",
        "identity",
        "role",
        "runbook",
        "webhook",
    }
    assert (layer.cloud.jobs(5), layer.cloud.minutes_used()) == ([], None)


def test_a_revoked_role_fails_the_job_with_the_fix(made: Layer) -> None:
    """Forbidden: the job's error names what to do, and `doctor` names it from the job."""
    assert made.cloud.delete("role")
    made.box.pull("shutdown")
    made.box.advance(3600)
    assert "orrery gateway cloud apply" in broken(made)["jobs"].todo
    assert made.box.known()["machine"]["power"] == "stopped"


def test_a_wider_role_stops_everything(made: Layer, by_hand: Official) -> None:
    """A role on the whole group is an error: it is named, and nothing is changed."""
    identity = made.cloud.identity()
    assert identity
    role = f"/subscriptions/{made.box.config.subscription}/providers/Microsoft.Authorization/roleDefinitions"
    given = {
        "role_definition_id": f"{role}/b24988ac-6180-42a0-ab88-20f7382dd24c",
        "principal_type": "ServicePrincipal",
    }
    wide = by_hand.roles.create(
        made.box.config.group_id,
        "11111111-1111-4111-8111-111111111111",
        given | {"principal_id": identity.principal_id},
    )
    with pytest.raises(CloudNotReady, match="more than the one role") as raised:
        made.provisioning.make()
    assert wide.id in str(raised.value)
    assert "rights" in broken(made)


def test_destroy_leaves_nothing_and_no_foreign_runbook(made: Layer, by_hand: Official) -> None:
    """Each resource is deleted once; another's runbook is named, so that its account can stay."""
    by_hand.automation.runbook.create_or_update(
        by_hand.group,
        made.wanted.account,
        "of-somebody-else",
        {"location": "westeurope", "properties": {"runbookType": "PowerShell"}},
    )
    assert made.cloud.other_runbooks() == ["of-somebody-else"]
    kinds = ("deallocate", "health", "action-group", "webhook", "runbook", "account", "role", "identity")
    assert [made.cloud.delete(kind) for kind in kinds] == [True] * 8
    found = made.provisioning.survey()
    assert (found.identity, found.account, found.action_group, found.grants) == (None, None, None, ())
    assert set(found.alerts.values()) == {None}

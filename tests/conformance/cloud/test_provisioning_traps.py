"""The layer beside others' changes, and on a machine that lacks something."""

from subprocess import CompletedProcess
from typing import Any

import pytest

from orrery.errors import Invalid
from tests.support.azure import Official
from tests.support.program import run_orrery
from tests.support.provisioning import Layer, broken, plan


@pytest.fixture
def typed(shared_layer: tuple[Layer, Any, Any], monkeypatch: pytest.MonkeyPatch) -> "Typed":
    """The commands of this deployment."""
    monkeypatch.setenv("ORRERY_CONFIG", str(shared_layer[0].config))
    return Typed()


class Typed:
    """`orrery gateway cloud …` as a process."""

    def __call__(self, *words: str) -> CompletedProcess[str]:
        return run_orrery("gateway", "cloud", *words)


@pytest.mark.parametrize("command", ["doctor", "status"])
def test_a_missing_account_is_a_finding(made: Layer, typed: Typed, command: str) -> None:
    """An account that somebody deleted ends neither the findings nor the rest of the status."""
    assert made.cloud.delete("account")
    done = typed(command)
    assert "The cloud refused" not in done.stderr
    assert "account" in broken(made)


def test_an_unseen_subscription_is_not_an_empty_one(made: Layer, typed: Typed) -> None:
    """Where the account sees no subscription, nothing counts as deleted, and the URI is kept."""
    subscription = made.box.config.subscription
    text = made.config.read_text().replace(subscription, f"aaaaaaaa{subscription[8:]}")
    made.config.write_text(text)
    done = typed("destroy", "--yes")
    assert done.returncode == 1
    assert "Correct `subscription`" in done.stderr
    assert made.uri_file.exists()


def test_without_a_folder_for_the_uri_nothing_is_made(layer: Layer, typed: Typed) -> None:
    """It is reported before the first resource."""
    layer.config.write_text(layer.config.read_text().replace('directory = "secrets"', ""))
    done = typed("apply")
    assert done.returncode == 2
    assert done.stderr.startswith("Nothing was changed. A new secret needs a folder")
    assert layer.cloud.identity() is None


def test_a_uri_file_that_cannot_be_written_is_said_first(layer: Layer) -> None:
    """A file where the folder should be."""
    layer.uri_file.parent.rmdir()
    layer.uri_file.parent.touch()
    with pytest.raises(Invalid, match=r"^Nothing was changed\."):
        layer.provisioning.make()
    assert layer.cloud.identity() is None


def test_two_at_once_are_one(layer: Layer) -> None:
    """While one command makes the layer, a second one on this machine changes nothing: it would lose a webhook."""
    first, second = layer.provisioning, layer.provisioning
    with first.uri.held(), pytest.raises(Invalid, match="Another command"):
        second.make()
    assert layer.cloud.identity() is None
    first.make()
    second.make()
    assert plan(layer).is_empty


def test_an_account_keeps_what_others_gave_it(layer: Layer, by_hand: Official) -> None:
    """Its own identity, another one and its tags stay when our runbook's identity is added."""
    other = by_hand.put_identity("of-somebody-else")
    identity = {"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": {other.id: dict[str, str]()}}
    account = {
        "location": "westeurope",
        "tags": {"team": "nebula"},
        "identity": identity,
        "properties": {"sku": {"name": "Basic"}},
    }
    accounts = by_hand.automation.automation_account
    where = by_hand.group, layer.wanted.account
    accounts.create_or_update(*where, account)
    assert layer.provisioning.make().succeeded
    found = accounts.get(*where)
    assert found.identity.type == "SystemAssigned, UserAssigned"
    assert other.id in found.identity.user_assigned_identities
    assert len(found.identity.user_assigned_identities) == 2
    assert found.tags == {"team": "nebula"}
    assert plan(layer).is_empty


def test_an_action_group_keeps_the_receivers_that_others_added(made: Layer, by_hand: Official) -> None:
    """A second webhook, a second address and the tags: no difference, and no rotation takes them away."""
    groups, where = by_hand.monitor.action_groups, (by_hand.group, made.wanted.action_group)
    body = groups.get(*where).serialize()
    chat = {"name": "chat", "serviceUri": "https://chat.example/hook", "useCommonAlertSchema": True}
    body["properties"]["webhookReceivers"].append(chat)
    body["properties"]["emailReceivers"].append({"name": "second", "emailAddress": "second@cosmos.example"})
    groups.create_or_update(*where, body | {"tags": {"team": "nebula"}})
    assert plan(made).is_empty
    assert made.provisioning.make(rotate=True).succeeded
    found = groups.get(*where)
    assert [one.name for one in found.webhook_receivers] == ["runbook", "chat"]
    assert [one.name for one in found.email_receivers] == ["owner", "second"]
    assert found.tags == {"team": "nebula"}
    assert plan(made).is_empty


def test_a_role_of_a_group_is_wider_too(made: Layer, by_hand: Official) -> None:
    """What a group of the identity may do, the runbook may do."""
    role = f"/subscriptions/{made.box.config.subscription}/providers/Microsoft.Authorization/roleDefinitions"
    given = {
        "role_definition_id": f"{role}/b24988ac-6180-42a0-ab88-20f7382dd24c",
        "principal_id": "22222222-2222-4222-8222-222222222222",
        "principal_type": "Group",
    }
    by_hand.roles.create(made.box.config.group_id, "11111111-1111-4111-8111-111111111111", given)
    assert "more than the one role" in broken(made)["rights"].why


def test_jobs_of_others_do_not_hide_ours(made: Layer, by_hand: Official) -> None:
    """An account with another runbook that runs often: the last jobs of ours are still found."""
    by_hand.put_runbook("exit", "of-somebody-else", made.wanted.account)
    uri = by_hand.automation.webhook.generate_uri(by_hand.group, made.wanted.account)
    by_hand.put_webhook(uri, runbook="of-somebody-else", name="of-somebody-else", account=made.wanted.account)
    for _ in range(3):
        made.cloud.call_webhook(uri, "{}")
    assert len(made.cloud.jobs(2)) == 1


def test_a_webhook_of_another_runbook_is_not_ours(made: Layer, by_hand: Official) -> None:
    """Two machines may share an account: the webhook of the other one stays, though its name begins alike."""
    by_hand.put_runbook("exit", "of-another-machine", made.wanted.account)
    uri = by_hand.automation.webhook.generate_uri(by_hand.group, made.wanted.account)
    by_hand.put_webhook(
        uri, f"{made.wanted.webhook}-0123abcd", runbook="of-another-machine", account=made.wanted.account
    )
    assert plan(made).is_empty


@pytest.mark.parametrize("start", ["\ufeff", "\ufeff\r\n"])
def test_a_mark_at_the_begin_of_a_text_is_no_difference(made: Layer, by_hand: Official, start: str) -> None:
    """A text that was saved with a byte order mark, or with other line ends, is the same text."""
    identity = made.cloud.identity()
    assert identity
    text = start + made.provisioning.text(identity.client_id).replace("\n", "\r\n")
    where = by_hand.group, made.wanted.account, made.wanted.runbook
    by_hand.automation.runbook_draft.begin_replace_content(*where, text).result()
    by_hand.automation.runbook.begin_publish(*where).result()
    assert plan(made).is_empty


def test_an_identity_that_was_made_anew_is_given_to_the_account(made: Layer, by_hand: Official) -> None:
    """An account keeps the ids of the identity that was deleted: that is found, and put right."""
    by_hand.identities.delete(by_hand.group, made.wanted.identity)
    by_hand.put_identity(made.wanted.identity)
    assert {"account", "role", "runbook"} <= set(broken(made))
    assert made.provisioning.make().succeeded
    assert plan(made).is_empty


def test_a_start_by_hand_needs_no_health(made: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the service that knows the health fails, the machine is still seen."""
    monkeypatch.setenv("ORRERY_CONFIG", str(made.config))
    made.box.fault("cloud_500", "GET health", count=None)
    done = run_orrery("gateway", "start")
    assert (done.returncode, "already running" in done.stderr) == (0, True)


@pytest.mark.parametrize(("fault", "words"), [("cloud_401", "az login"), ("cloud_403", "that is signed in")])
def test_a_start_by_hand_that_is_refused(
    made: Layer, monkeypatch: pytest.MonkeyPatch, fault: str, words: str
) -> None:
    """It names who is signed in: the runbook's identity has nothing to do with it."""
    monkeypatch.setenv("ORRERY_CONFIG", str(made.config))
    made.box.fault(fault, "GET machine", count=None)
    done = run_orrery("gateway", "start")
    assert done.returncode == 1
    assert words in done.stderr
    assert "identity of the runbook" not in done.stderr


def test_a_picture_that_cannot_be_written_is_one_sentence(made: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not there is a wrong call."""
    monkeypatch.setenv("ORRERY_CONFIG", str(made.config))
    made.box.pull("shutdown")
    made.box.advance(3600)
    done = run_orrery("gateway", "timeline", "--svg", "/nowhere/outage.svg")
    assert (done.returncode, done.stderr) == (
        2,
        "/nowhere/outage.svg cannot be written: No such file or directory.\n",
    )


def test_what_stands_in_the_way_is_one_line(layer: Layer, typed: Typed) -> None:
    """A machine that is not there: a sentence to read, without a line end that is shown as a sign."""
    layer.config.write_text(layer.config.read_text().replace('machine = "gateway"', 'machine = "elsewhere"'))
    done = typed("apply")
    assert done.stderr.startswith("Nothing was changed. There is no machine /subscriptions/")

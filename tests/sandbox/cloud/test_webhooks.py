"""The traps of automation's webhooks: a URI that is answered once, and can neither be changed nor prolonged."""

from datetime import timedelta
from typing import Any

import pytest
from azure.core.exceptions import HttpResponseError

from tests.sandbox.cloud.official import ACCOUNT, Official


@pytest.fixture
def uri(cloud: Official) -> str:
    """Return a URI that no webhook has yet."""
    return cloud.automation.webhook.generate_uri(cloud.group, ACCOUNT)


def called(cloud: Official, uri: str) -> int:
    """Post to a URI and return the status."""
    return cloud.box.post(uri).status_code


def refused(cloud: Official, uri: str | None, name: str, **more: Any) -> tuple[int | None, str]:  # noqa: ANN401  as put_webhook takes it
    """Return the status and the words of the refusal to put a webhook."""
    with pytest.raises(HttpResponseError) as refusal:
        cloud.put_webhook(uri, name, **more)
    return refusal.value.status_code, refusal.value.message


def test_the_uri_is_answered_once(cloud: Official, uri: str) -> None:
    """The answer to the first PUT has it; what is read later has an empty text in its place."""
    assert cloud.put_webhook(uri, "once").properties.uri == uri
    assert cloud.automation.webhook.get(cloud.group, ACCOUNT, "once").properties.uri == ""
    listed = cloud.automation.webhook.list_by_automation_account(cloud.group, ACCOUNT)
    assert {one.properties.uri for one in listed} == {""}


def test_a_put_over_it_keeps_the_uri(cloud: Official, uri: str) -> None:
    """Another URI is refused; none, or the same, leaves the first one working."""
    cloud.put_webhook(uri, "kept")
    other = cloud.automation.webhook.generate_uri(cloud.group, ACCOUNT)
    status, words = refused(cloud, other, "kept")
    assert (status, "Property 'uri' cannot be updated." in words) == (400, True)
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

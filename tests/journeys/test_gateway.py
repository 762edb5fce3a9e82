"""A gateway that stops, is silent and comes back, as its owner sees it: owner's page, doctor and pushes."""

import json
from collections.abc import Iterator

import pytest

from orrery.gateway.settings import GatewaySettings
from orrery.runtime.watch import EVERY, OVER_AFTER, PUSHED_AFTER
from tests.support.deployment import Deployment, running
from tests.support.marked import ADMIN_PASSWORD, SECRETS
from tests.support.waiting import eventually

GRACE = GatewaySettings.model_validate({}).ping_grace
SETTINGS = "[gateway]\npings = true"
BROKEN, WORKS = "Broken: gateway", "Works again: gateway"
STEP = 60.0
"""Seconds by which the clock moves at once: much less than the grace, so that no jump is silence."""


@pytest.fixture
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a deployment whose sandbox plays the gateway's guest."""
    with running(Deployment(tmp_path_factory.mktemp("gateway"), guest=True, more=SETTINGS, plain=1)) as deployment:
        yield deployment


def press(shop: Deployment, action: str) -> None:
    """Press a button of the sandbox; what it breaks stays broken."""
    answer = shop.client.post(
        f"{shop.sandbox.base_url}/_gateway",
        data={"do": action, "recovered_after": "inf"},
        headers={"Accept": "application/json"},
    )
    assert answer.status_code == 200, answer.text


def doctor(shop: Deployment) -> tuple[str, str]:
    """Return what doctor says of the gateway: state and reason."""
    findings = json.loads(shop.orrery("doctor", "--json").stdout)
    return next((one["state"], one["why"]) for one in findings if one["part"] == "gateway")


def owners_page(shop: Deployment) -> str:
    """Return the owner's page."""
    return shop.client.get(f"{shop.private}/owner?open", auth=("owner", ADMIN_PASSWORD)).text


def pushes(shop: Deployment) -> list[tuple[str, int]]:
    """Return titles and priorities of the pushes about the gateway, the first one first."""
    found = [(one["title"], one["priority"]) for one in shop.sandbox.ask("GET", "/push")]
    return [one for one in reversed(found) if one[0] in {BROKEN, WORKS}]


def expect(shop: Deployment, *wanted: tuple[str, int]) -> None:
    """Fail, for now, unless these are the pushes."""
    assert pushes(shop) == [*wanted]


def pings_come(shop: Deployment, seconds: float) -> None:
    """Move the clock by less than the grace at a time, with a ping after each step and a look at the parts."""
    passed = 0.0
    while passed < seconds:
        shop.sandbox.advance(STEP)
        passed += STEP
        press(shop, "start")
        shop.readiness()


def test_stop_silence_and_the_end(shop: Deployment) -> None:
    """A stop is shown at once, silence is pushed once and urgently, and the end once; each with its cause."""
    eventually(lambda: see(shop, "ok"))
    press(shop, "stop")
    assert "stopped by hand" in doctor(shop)[1]
    assert "stopped by hand" in owners_page(shop)
    assert "orrery gateway guest pause" in owners_page(shop)
    shop.readiness()
    assert pushes(shop) == []

    press(shop, "start")
    assert doctor(shop)[0] == "ok"
    press(shop, "silent")
    shop.sandbox.advance(GRACE + EVERY.total_seconds())
    shop.readiness()
    shop.sandbox.advance(PUSHED_AFTER.total_seconds())
    eventually(lambda: expect(shop, (BROKEN, 5)))
    assert "No ping since" in doctor(shop)[1]
    assert "The last one was good" in owners_page(shop)
    assert shop.readiness() == [200, 200]

    pings_come(shop, OVER_AFTER.total_seconds() + STEP)
    eventually(lambda: expect(shop, (BROKEN, 5), (WORKS, 2)))
    assert doctor(shop)[0] == "ok"
    figures = shop.client.get(f"{shop.private}/metrics").text
    assert 'orrery_gateway_pings_total{finding="bad"}' in figures

    log = json.loads(shop.orrery("gateway", "pings", "--json").stdout)
    assert [one["title"] for one in log["pushes"]] == [BROKEN, WORKS]
    assert {"good", "stopped"} <= {one["kind"] for one in log["stretches"]}
    assert max(one["seconds"] for one in log["silences"]) >= GRACE
    assert log["last_ping"]["state"] == "active"
    listed = shop.orrery("gateway", "pings").stdout
    assert " silence " in listed
    assert f"{BROKEN} (urgent, delivered)" in listed


def test_a_report_of_the_cloud_is_seen(shop: Deployment) -> None:
    """An alert that is off is on the owner's page and in doctor, and in the log of the pings."""
    alerts = {"health": "off", "deallocate": "on"}
    report = {
        "power": "running",
        "health": "Available",
        "webhook_expires_at": "2099-01-01T00:00:00Z",
        "alerts": alerts,
    }
    token = {"Authorization": f"Bearer {SECRETS['gateway_ping_token']}"}
    assert shop.client.post(f"{shop.public}/ping", json={"report": report}, headers=token).status_code == 204
    assert "The health alert is off." in owners_page(shop)
    findings = {one["part"]: one["state"] for one in json.loads(shop.orrery("doctor", "--json").stdout)}
    assert (findings["gateway cloud"], findings["gateway webhook"]) == ("broken", "ok")
    assert json.loads(shop.orrery("gateway", "pings", "--json").stdout)["cloud_report"]["health_alert"] == "off"


def see(shop: Deployment, state: str) -> None:
    """Fail, for now, unless doctor finds the gateway so, with a ping."""
    found, why = doctor(shop)
    assert (found, "last ping" in why) == (state, True)

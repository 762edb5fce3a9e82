"""What `cloud doctor` finds: each row of the specification's table of errors, with its cause and its fix."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.errors import Invalid
from orrery.gateway.causes import Ping
from orrery.gateway.cloud.findings import GuestReport, findings
from orrery.gateway.cloud.ping_file import read_pings
from orrery.gateway.cloud.restart import restart
from orrery.gateway.cloud.survey import Activity, Survey
from orrery.ports.cloud import Health, MachineFound, RunbookJob
from orrery.ports.cloud.errors import CloudUnreachable
from orrery.ports.cloud.machine import MachineReply, RestartFailed
from orrery.ports.health import Finding
from tests.support.cloud_layer import COMPLETE, MACHINE, NOW, QUIET, WANTED, WEBHOOK, alert, job, text

GOOD = GuestReport(Ping("active", "200"))


def broken(
    found: Survey,
    *jobs: RunbookJob,
    guest: GuestReport | None = GOOD,
    minutes: float = 12,
    health: Health = "Available",
) -> list[Finding]:
    said = findings(found, WANTED, text, Activity(health, [*(jobs or (job(),))], minutes), guest)
    return [one for one in said if one.state == "broken"]


def the_one(found: list[Finding]) -> Finding:
    (one,) = found
    return one


def test_a_complete_layer_has_nothing_broken() -> None:
    """All is well."""
    assert broken(COMPLETE) == []


def test_error_243_credentials_is_named_from_the_guests_ping() -> None:
    """Row 1: the credentials are not warm."""
    ping = Ping("activating", "", "auto-restart", "exit-code", 243)
    assert "243/CREDENTIALS" in the_one(broken(COMPLETE, guest=GuestReport(ping))).why


def test_error_alert_fires_runbook_does_not_is_an_expired_webhook() -> None:
    """Row 2: the fix is a new webhook."""
    found = replace(COMPLETE, webhooks=(replace(WEBHOOK, expires_at=NOW - timedelta(days=1)),))
    one = the_one(broken(found))
    assert one.part == "webhook"
    assert "the runbook does not" in one.why
    assert "rotate-webhook" in one.todo


def test_error_start_is_forbidden_is_a_revoked_role() -> None:
    """Row 3, the first cause."""
    one = the_one(broken(replace(COMPLETE, grants=())))
    assert (one.part, "Forbidden" in one.why, "cloud apply" in one.todo) == ("role", True, True)


def test_error_start_is_forbidden_is_a_deleted_identity() -> None:
    """Row 3, the second cause."""
    parts = {one.part for one in broken(replace(COMPLETE, identity=None, grants=()))}
    assert {"identity", "role"} <= parts


def test_error_start_is_forbidden_is_read_from_the_last_job() -> None:
    """Row 3, as a job says it."""
    steps = restart("", MACHINE)
    next(steps)
    with pytest.raises(RestartFailed) as failed:
        steps.send(MachineReply(403, NOW))
    one = the_one(broken(COMPLETE, job("Failed", str(failed.value))))
    assert (one.part, "orrery gateway cloud apply" in one.todo) == ("jobs", True)


def test_error_health_unknown_instead_of_unavailable() -> None:
    """The first alert never fires; the deallocate alert is the net, and is missed when it is not there."""
    down = replace(COMPLETE, machine=MachineFound(MACHINE, "deallocated"))
    said = {one.part: one for one in broken(down, health="Unknown")}
    assert "never fires" in said["health"].why
    assert "deallocate alert acts" in said["health"].todo
    alone = replace(down, alerts={"health": alert("health"), "deallocate": None})
    said = {one.part: one for one in broken(alone, health="Unknown")}
    assert "cloud apply" in said["health"].todo
    assert "deallocate alert" in said


def test_error_gateway_dead_on_a_running_machine_is_a_broken_credential_chain() -> None:
    """Row 5: after 30 minutes."""
    ping = Ping("activating", "", "auto-restart", "exit-code", 243)
    guest = GuestReport(ping, timedelta(minutes=31))
    one = the_one(broken(COMPLETE, guest=guest))
    assert "credential chain is broken" in one.why
    assert "the token fetch script" in one.todo


def test_error_tunnel_answers_502() -> None:
    """Row 6: the gateway is dead behind a healthy tunnel."""
    assert "502" in the_one(broken(COMPLETE, guest=GuestReport(Ping("active", "502")))).why


def test_without_a_ping_it_says_that_it_cannot_tell() -> None:
    """Nobody guesses what only the guest can know."""
    said = findings(COMPLETE, WANTED, text, QUIET)
    assert next(one for one in said if one.part == "service").why.startswith("Unknown")


def test_a_list_of_pings_that_cannot_be_read_is_a_part() -> None:
    """It costs the service's finding alone: also where the last ping in it is the one that is cut."""
    cut = read_pings('{"stretches": [], "last_ping": {"at": "yesterday"}}')
    with pytest.raises(Invalid) as raised:
        _ = cut.guest(NOW)
    said = findings(COMPLETE, WANTED, text, QUIET, raised.value)
    assert [one.part for one in said if one.state == "broken"] == ["service"]


def test_who_cannot_sign_in_is_told_once() -> None:
    """One reason for all parts is one finding; a part that alone is not known is its own."""
    silent = CloudUnreachable("No token.", "Sign in.")
    found = replace(COMPLETE, machine=silent, identity=silent, grants=silent, account=silent)
    said = [(one.part, one.todo) for one in findings(found, WANTED, text, Activity(silent, silent, silent), GOOD)]
    assert said == [("cloud", "Sign in."), ("service", "")]
    assert {one.part for one in broken(replace(COMPLETE, machine=silent))} == {"machine"}


@pytest.mark.parametrize(("minutes", "count"), [(500.0, 0), (501.0, 1)])
def test_limit_of_500_free_job_minutes(minutes: float, count: int) -> None:
    """More than the free ones is a finding."""
    assert len(broken(COMPLETE, minutes=minutes)) == count


def test_a_paused_machine_is_nobodys_trouble() -> None:
    """An intended stop is no finding."""
    down = MachineFound(MACHINE, "stopped", "2026-11-23T10:00:00Z")
    assert broken(replace(COMPLETE, machine=down), health="Unavailable") == []

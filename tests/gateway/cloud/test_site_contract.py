"""What the commands of the cloud and the site hand each other fits: the report, and the list of pings."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import TypeAdapter

from orrery.adapters.memory import MemoryStore
from orrery.gateway.causes import Ping
from orrery.gateway.cloud.findings import findings
from orrery.gateway.cloud.ping_file import read_pings
from orrery.gateway.cloud.report import report
from orrery.gateway.cloud.survey import Activity, Survey
from orrery.gateway.ping_log import PingLogs
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.gateway.reports import WEBHOOK_PARTS, Reports
from orrery.gateway.routes import CloudBody
from orrery.ports.cloud import NO_TOKEN
from orrery.ports.cloud.errors import CloudRefused, CloudUnreachable
from tests.support.clock import ManualClock
from tests.support.cloud_layer import COMPLETE, NOW, QUIET, WANTED, WEBHOOK, job, text


@pytest.mark.parametrize("survey", [COMPLETE, replace(COMPLETE, machine=None, webhooks=())], ids=["all", "little"])
def test_the_site_takes_the_report(survey: Survey) -> None:
    """Whatever was found in the cloud."""
    jobs = [job("Failed", "Forbidden"), job(), replace(job(), ended_at=None, status="Running")]
    ended_at = (NOW + timedelta(minutes=5)).isoformat()
    outage = {"began_at": NOW.isoformat(), "ended_at": ended_at, "ended_by": "layer 1"}
    seen = Activity("Available", jobs, 12.0)
    body = report(survey, WANTED, seen, findings(survey, WANTED, text, seen), outage)
    taken = CloudBody.model_validate_json(json.dumps(body)).report
    assert [one.status for one in taken.jobs] == ["Failed", "Completed", "Running"]
    assert (taken.webhook_expires_at is None) == (survey.webhooks == ())
    assert taken.alerts.health == "on"
    assert taken.last_outage
    assert taken.last_outage.ended_by == "layer 1"


NOT_ALLOWED = CloudRefused("Not allowed to read /subscriptions/1.", "Type that.", status=403)
UNREADABLE = CloudUnreachable("It cannot be read.", "Try again.")
UNSIGNED = CloudRefused("Nobody gave a token.", status=401, code=NO_TOKEN)


def test_the_site_takes_a_report_of_half() -> None:
    """A part that is not known is named with its state, and is neither missing nor a trouble; no id is in it."""
    alerts = {"health": UNREADABLE, "deallocate": COMPLETE.alerts["deallocate"]}
    survey = replace(COMPLETE, machine=UNREADABLE, identity=NOT_ALLOWED, grants=NOT_ALLOWED, webhooks=UNREADABLE)
    survey = replace(survey, alerts=alerts, account=UNSIGNED)
    seen = Activity(UNREADABLE, UNREADABLE, NOT_ALLOWED, events=UNREADABLE)
    body = report(survey, WANTED, seen, findings(survey, WANTED, text, seen), None)
    assert "/subscriptions" not in json.dumps(body)
    taken = CloudBody.model_validate_json(json.dumps(body)).report
    assert {(one.part, one.state) for one in taken.unknown} == {
        *((part, "not allowed") for part in ("identity", "role", "job-minutes")),
        *(
            (part, "unreadable")
            for part in ("account", "machine", "webhook", "health alert", "health", "jobs", "activity log")
        ),
    }
    assert (taken.power, taken.alerts.health, taken.alerts.deallocate) == ("unknown", "unknown", "on")
    assert taken.troubles == []
    assert "webhook_expires_at" not in taken.model_fields_set


def test_a_webhook_is_not_missing_where_the_action_group_is_not_known() -> None:
    """On the machine of the reports, which has no URI: what is left out is not known, and the part is named."""
    survey = replace(COMPLETE, action_group=UNREADABLE, uri="")
    body = report(survey, WANTED, QUIET, findings(survey, WANTED, text, QUIET), None)
    taken = CloudBody.model_validate_json(json.dumps(body)).report
    assert "webhook_expires_at" not in taken.model_fields_set
    assert not WEBHOOK_PARTS.isdisjoint(one.part for one in taken.unknown)


def test_what_the_site_finds_itself_is_no_trouble_of_a_report() -> None:
    """A webhook that expires soon is pushed once, as a part of its own: not as a trouble of the cloud, too."""
    soon = replace(COMPLETE, webhooks=(replace(WEBHOOK, expires_at=NOW + timedelta(days=30)),))
    seen = Activity("Available", [job("Failed", "Forbidden")], 12.0)
    said = findings(soon, WANTED, text, seen)
    assert {"webhook", "jobs"} <= {one.part for one in said if one.state == "broken"}
    body = report(soon, WANTED, QUIET, said, None)
    assert CloudBody.model_validate_json(json.dumps(body)).report.troubles == []


async def test_the_list_of_pings_is_read() -> None:
    """A machine without the site's store reads what `orrery gateway pings --json` printed."""
    clock = ManualClock()
    store = MemoryStore(clock)
    pings = Pings(store, clock, GatewayPlan(expects=True, has_token=True, grace=timedelta(minutes=10)))
    for said in (Ping("active", "200"), Ping("failed", "none", "failed", "exit-code", 243)):
        await pings.receive(said)
        clock.advance(300)
    log = await PingLogs(pings, Reports(store, clock), clock).read(timedelta(days=1))
    printed = TypeAdapter[object](object).dump_json(
        {"stretches": log.stretches, "silences": log.silences, "pushes": log.pushes, "last_ping": log.last_ping}
    )
    read = read_pings(printed.decode())
    assert ([one.state for one in read.stretches], len(read.silences), read.unreadable) == (
        ["active", "failed"],
        2,
        0,
    )
    guest = read.guest(clock.now())
    assert guest
    assert (guest.ping.exec_main_status, guest.lasts) == (243, timedelta(minutes=5))

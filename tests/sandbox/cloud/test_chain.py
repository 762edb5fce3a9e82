"""The chain that brings the machine back: from the host's shutdown to the end of the job."""

from pathlib import Path
from typing import Any

from tests.sandbox.cloud.official import OWNER, WEBHOOK, Official, operating

SHUTDOWN: dict[str, float] = {"stop": 10, "health": 30, "alert": 90, "job": 6, "start": 70}


def kinds_and_times(events: list[dict[str, Any]]) -> list[tuple[str, float]]:
    """Return what happened, and after how many true seconds."""
    return [(one["kind"], one["after"]) for one in events]


def chain(cloud: Official, action: str, **delays: float) -> list[dict[str, Any]]:
    """Pull a lever and let an hour pass; return what happened."""
    before = len(cloud.box.events())
    cloud.box.pull(action, **delays)
    return cloud.box.advance(3600)["events"][before:]


def test_a_shutdown_is_answered(cloud: Official) -> None:
    """Each link follows at its time: health, alert, webhook and e-mail, job, start, running, the job's end."""
    assert kinds_and_times(chain(cloud, "shutdown", **SHUTDOWN)) == [
        ("shutdown", 0),
        ("power", 10),
        ("health", 30),
        ("alert", 120),
        ("webhook", 120),
        ("mail", 120),
        ("job", 126),
        ("start", 126),
        ("power", 196),
        ("job", 201),
    ]
    assert cloud.last_job().properties.status == "Completed"


def test_the_delays_are_those_of_the_specification(cloud: Official) -> None:
    """30 s to the health change, 1 to 5 minutes to the alert, 5 to 10 s to the job, 60 to 120 s to the machine."""
    for _ in range(5):
        at = {one["kind"]: one["after"] for one in chain(cloud, "shutdown") if one["kind"] != "job"}
        assert at["health"] == 30
        assert 60 <= at["alert"] - at["health"] <= 300
        assert 5 <= at["start"] - at["webhook"] <= 10
        assert 60 <= at["power"] - at["start"] <= 120


def test_the_payload_is_the_specified_one(cloud: Official) -> None:
    """The six fields of spec 3 and no other, in text that looks like JSON and is none; an e-mail goes out, too."""
    chain(cloud, "shutdown")
    log = (
        f'{{"category":"ResourceHealth","resourceId":"{cloud.box.config.machine_id}",'
        '"properties":{"currentHealthStatus":"Unavailable","cause":"PlatformInitiated"}}'
    )
    body = (
        '{"schemaId":"Microsoft.Insights/activityLogs",'
        f'"data":{{"status":"Activated","context":{{"activityLog":{log}}}}}}}'
    )
    data = cloud.box.known()["jobs"][0]["data"]
    assert data.startswith(f"{{WebhookName:{WEBHOOK},RequestBody:{body},RequestHeader:{{")
    mails = cloud.box.web.get("/mail", headers={"Accept": "application/json"}).json()
    assert mails[0]["to"] == [OWNER]


def test_a_restart_of_the_sandbox_loses_nothing(tmp_path: Path) -> None:
    """What was due, and a job that waits, go on in the next process over the same folder."""
    with operating(tmp_path) as cloud:
        cloud.provision()
        cloud.box.pull("shutdown", **SHUTDOWN)
        cloud.box.advance(150)
        assert cloud.last_job().properties.status == "Running"
    with operating(tmp_path) as cloud:
        assert kinds_and_times(cloud.box.advance(60)["events"])[-2:] == [("power", 196), ("job", 201)]

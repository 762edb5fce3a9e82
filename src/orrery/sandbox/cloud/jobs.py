"""Jobs: a published runbook that a webhook starts, played by the steps of `CloudConfig.restart`."""

from http import HTTPStatus

from orrery.ports.cloud import PAUSE_TAG
from orrery.ports.cloud.machine import (
    LookAtPower,
    MachineReply,
    SignIn,
    Start,
    Step,
    WaitSeconds,
)
from orrery.sandbox.cloud.access import identities, may_start
from orrery.sandbox.cloud.machine import start, state_of
from orrery.sandbox.cloud.resources import Cloud, Moment, instant, new_guid, part, timestamp
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document

_TYPE = "Microsoft.Automation/automationAccounts/jobs"
_FAULTS = {"cloud_403": 403, "cloud_409": 409, "cloud_429": 429, "cloud_500": 500}
_SHOWN = (
    "jobId",
    "creationTime",
    "endTime",
    "lastModifiedTime",
    "provisioningState",
    "runOn",
    "runbook",
    "startTime",
    "startedBy",
    "status",
)


def new_job(cloud: Cloud, moment: Moment, webhook: Document, body: str, headers: dict[str, str]) -> str:
    """Create a job, which starts some seconds later; return its id."""
    account_id, job_id = webhook["id"].rsplit("/", 2)[0], new_guid()
    runbook: str = webhook["properties"]["runbook"]["name"]
    seen = cloud.require(f"{account_id}/runbooks/{runbook}")
    job = {
        "id": f"{account_id}/jobs/{job_id}",
        "name": job_id,
        "type": _TYPE,
        "properties": {
            "jobId": job_id,
            "runbook": {"name": runbook},
            "startedBy": f"{{webhook}} {webhook['name']}",
            "runOn": "",
            "parameters": {},
            "creationTime": timestamp(moment.at),
            "lastModifiedTime": timestamp(moment.at),
            "lastStatusModifiedTime": timestamp(moment.at),
            "startTime": None,
            "endTime": None,
            "exception": None,
            "status": "New",
            "statusDetails": "None",
            "provisioningState": "Processing",
        },
    }
    _ = cloud.put(
        {
            "body": job,
            "data": _webhook_data(webhook["name"], body, headers),
            "text": seen["content"],
            "replies": [],
            "output": "",
            "created": {"at": moment.at, "after": moment.after},
            "began": None,
            "seconds": 0.0,
        }
    )
    cloud.later("job", moment, "job", job=job["id"])
    return job_id


def _webhook_data(name: str, body: str, headers: dict[str, str]) -> str:
    """Return the text of the parameter WebhookData.

    PowerShell 7 is given text that looks like JSON and is none (MicrosoftDocs/azure-docs#96947,
    PowerShell/PowerShell#19781).
    """
    shown = ",".join(f"{key}:{value}" for key, value in headers.items())
    return f"{{WebhookName:{name},RequestBody:{body},RequestHeader:{{{shown}}}}}"


def run(cloud: Cloud, moment: Moment, data: Document) -> None:
    """Go on with a job until it waits, or ends."""
    job = cloud.find(data["job"])
    if job is None:
        return
    if job["began"] is None:
        job["began"] = moment.after
        _mark(cloud, moment, job, "Running", startTime=timestamp(moment.at))
    while True:
        match _next(cloud, job):
            case WaitSeconds(seconds):
                job["replies"].append(_reply(cloud, moment, job, 200))
                _ = cloud.put(job)
                cloud.later(seconds, moment, "job", job=data["job"])
                return
            case SignIn() | LookAtPower() | Start() as step:
                job["replies"].append(_take(cloud, moment, job, step))
            case (status, text):
                _end(cloud, moment, job, status, text)
                return


def _next(cloud: Cloud, job: Document) -> Step | tuple[str, str]:
    """Return what the runbook does after the replies that it was given so far: a step, or its status and sentence.

    It is asked from its beginning each time, so that a job goes on after a restart of the sandbox.
    """
    if job["text"] is None:
        return "Failed", "The runbook has never been published."
    if cloud.config.restart is None:
        return "Completed", "Nothing is run: the sandbox was given no steps."
    steps = cloud.config.restart(job["data"])
    try:
        step = next(steps)
        for one in job["replies"]:
            step = steps.send(MachineReply(one["status"], instant(one["at"]), one["power"], one["pause"]))
    except StopIteration as end:
        return "Completed", str(end.value)
    except Exception as error:  # noqa: BLE001  whatever breaks a runbook is a failed job
        return "Failed", str(error)
    _ = steps.close()  # from Python 3.13 on it returns what the generator does
    return step


def _principal(cloud: Cloud, job: Document) -> str | None:
    """Return the principal that the text signs in as: an identity of the account whose client id it names."""
    account = cloud.find(job["body"]["id"].rsplit("/", 2)[0])
    attached = part(part(part(account or {}, "body"), "identity"), "userAssignedIdentities")
    named = {one["clientId"] for one in attached.values() if one["clientId"] in job["text"]}
    alive = [one["body"]["properties"] for one in identities(cloud)]
    return next((one["principalId"] for one in alive if one["clientId"] in named), None)


_CALLS: dict[type[Step], str] = {
    SignIn: "job sign-in",
    LookAtPower: "job GET instanceView",
    Start: "job POST start",
}


def _take(cloud: Cloud, moment: Moment, job: Document, step: SignIn | LookAtPower | Start) -> Document:
    if fault := cloud.faults.request("cloud job", _CALLS[type(step)]).take(*_FAULTS):
        return _reply(cloud, moment, job, _FAULTS[fault.kind])
    if isinstance(step, SignIn):
        return _reply(cloud, moment, job, 400 if _principal(cloud, job) is None else 200)
    if not may_start(cloud, _principal(cloud, job) or ""):
        return _reply(cloud, moment, job, 403)
    if isinstance(step, LookAtPower):
        return _reply(cloud, moment, job, 200)
    try:
        start(cloud, moment, "runbook")
    except Refusal as refusal:
        return _reply(cloud, moment, job, refusal.status)
    return _reply(cloud, moment, job, 202)


def _reply(cloud: Cloud, moment: Moment, job: Document, status: int) -> Document:
    """Return a reply at its true time: that of the job's creation, and the true seconds since."""
    created = job["created"]
    reply = {
        "status": status,
        "at": created["at"] + moment.after - created["after"],
        "power": "unknown",
        "pause": "",
    }
    if status == HTTPStatus.OK:
        tags: Document = cloud.require(cloud.config.machine_id)["body"]["tags"]
        pause = {name.lower(): text for name, text in tags.items()}.get(PAUSE_TAG.lower(), "")
        reply |= {"power": state_of(cloud)["power"], "pause": pause}
    return reply


def _end(cloud: Cloud, moment: Moment, job: Document, status: str, text: str) -> None:
    job["seconds"] = moment.after - job["began"]
    failed = status == "Failed"
    job["output"] = "" if failed else f"{text}\n"
    ended = {"endTime": timestamp(moment.at), "exception": text if failed else None}
    _mark(cloud, moment, job, status, text=text, **ended)


def _mark(cloud: Cloud, moment: Moment, job: Document, status: str, *, text: str = "", **changes: object) -> None:
    now = timestamp(moment.at)
    done = {"provisioningState": "Succeeded" if status == "Completed" else status}
    job["body"]["properties"] |= {"status": status, "lastModifiedTime": now, "lastStatusModifiedTime": now}
    job["body"]["properties"] |= changes | ({} if status == "Running" else done)
    _ = cloud.put(job)
    cloud.record("job", moment, job=job["body"]["name"], status=status, text=text)


def all_jobs(cloud: Cloud) -> list[Document]:
    """Return the jobs with what is known of them, newest first."""
    return list(cloud.below(cloud.config.group_id, _TYPE))[::-1]


def listed(cloud: Cloud, account_id: str) -> list[Document]:
    """Return the jobs of an account, newest first, as a list shows them."""
    _ = cloud.require(account_id)
    jobs = [one["body"] for one in cloud.below(f"{account_id}/jobs")]
    return [job | {"properties": {key: job["properties"][key] for key in _SHOWN}} for job in reversed(jobs)]


def minutes_this_month(cloud: Cloud) -> float:
    month = timestamp(cloud.now().at)[:7]
    begun = [one for one in all_jobs(cloud) if one["body"]["properties"]["creationTime"].startswith(month)]
    return round(sum(one["seconds"] for one in begun) / 60, 4)

"""The cloud port over the management API."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TypeVar

import requests
from azure.core import MatchConditions

from orrery.adapters.azure import bodies, found
from orrery.adapters.azure.answers import CLOUD, answered, none_if_missing
from orrery.adapters.azure.clients import OPERATION_SECONDS, Clients, Deadlines, Names, body_of
from orrery.errors import CloudRefused, CloudUnreachable
from orrery.ports.cloud import (
    PAUSE_TAG,
    Account,
    ActionGroup,
    Alert,
    AlertKind,
    Grant,
    Identity,
    Job,
    Kind,
    MachineEvent,
    MachineFound,
    Runbook,
    Webhook,
)
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

T = TypeVar("T")

_REFUSED_CALL = (
    "The webhook refused the call ({}): it expired, is disabled, was deleted, or its URI is another one."
)


class AzureCloud:
    """See `orrery.ports.cloud.Cloud`. Raises `CloudRefused` and `CloudUnreachable`."""

    def __init__(
        self, names: Names, management_url: str, trust: Trust = WELL_KNOWN, deadlines: Deadlines | None = None
    ) -> None:
        self._names = names
        self._clients = Clients(names, management_url, trust, deadlines or Deadlines())
        self._account = (names.group, names.account)
        self._runbook = (*self._account, names.runbook)
        self._machine = (names.machine_group, names.machine)

    def close(self) -> None:
        """Close the connections."""
        self._clients.close()

    @property
    def machine_id(self) -> str:
        return self._names.machine_id

    @property
    def action_group_id(self) -> str:
        return self._names.action_group_id

    def machine(self, *, health: bool = True) -> MachineFound | None:
        machine = self._machine_as_found()
        if machine is None or not health:
            return found.machine(machine, None) if machine else None
        read = self._clients.health.get_by_resource
        return found.machine(machine, _or_none("read the machine's health", lambda: read(self.machine_id)))

    def _machine_as_found(self) -> found.Vendors | None:
        return _or_none(
            "read the machine", lambda: self._clients.machines.get(*self._machine, expand="instanceView")
        )

    def identity(self) -> Identity | None:
        where = self._names.group, self._names.identity
        one = _or_none("read the identity", lambda: self._clients.identities.get(*where))
        return None if one is None else found.identity(one)

    def put_identity(self) -> Identity:
        body = body_of({"location": self._names.location})
        with answered("make the identity"):
            made = self._clients.identities.create_or_update(self._names.group, self._names.identity, body)
        return found.identity(made)

    def grants(self, principal_id: str) -> list[Grant]:
        with answered("read the roles of the identity"):
            all_found = list(self._clients.roles.list_for_subscription(filter=f"assignedTo('{principal_id}')"))
        # Not only the filter decides whose they are: a filter that is not understood is not always refused.
        # What a group is given counts for its members, too.
        return [
            found.grant(one)
            for one in all_found
            if _same(str(one.principal_id), principal_id) or _same(found.text(one.principal_type), "Group")
        ]

    def put_grant(self, principal_id: str) -> None:
        body = body_of(bodies.role_assignment(self._names.subscription, principal_id))
        name = bodies.role_assignment_name(self.machine_id, principal_id)
        try:
            with answered("give the identity its role on the machine"):
                _ = self._clients.roles.create(self.machine_id, name, body)
        except CloudRefused as error:
            if error.code != "RoleAssignmentExists":  # the same right, which somebody gave by hand
                raise

    def account(self) -> Account | None:
        accounts = self._clients.automation.automation_account
        one = _or_none("read the automation account", lambda: accounts.get(*self._account))
        return None if one is None else found.account(one)

    def put_account(self, identity: Identity) -> None:
        accounts = self._clients.automation.automation_account
        there = _or_none("read the automation account", lambda: accounts.get(*self._account))
        if there is None:
            with answered("make the automation account"):
                _ = accounts.create_or_update(
                    *self._account, body_of(bodies.account(self._names.location, identity.id))
                )
        else:  # putting it over would take the other identities and the tags away
            with answered("let the automation account use the identity"):
                _ = accounts.update(*self._account, body_of(bodies.account_change(identity.id, there)))

    def runbook(self) -> Runbook | None:
        runbooks = self._clients.automation.runbook
        one = _or_none("read the runbook", lambda: runbooks.get(*self._runbook))
        if one is None:
            return None
        state = found.text(one.state)
        text = None
        if state != "New":
            text = _or_none("read the runbook's text", lambda: runbooks.get_content(*self._runbook))
        return Runbook(found.runtime(one), None if text is None else found.content(text), edited=state == "Edit")

    def other_runbooks(self) -> list[str]:
        with answered("read the runbooks"):
            names = [
                str(one.name)
                for one in self._clients.automation.runbook.list_by_automation_account(*self._account)
            ]
        return [name for name in names if not _same(name, self._names.runbook)]

    def put_runbook(self, text: str) -> None:
        automation = self._clients.automation
        if _or_none("read the runbook", lambda: automation.runbook.get(*self._runbook)) is None:
            body = body_of(bodies.runbook(self._names.runbook, self._names.location))
            with answered("make the runbook"):
                _ = automation.runbook.create_or_update(*self._runbook, body)
        _finish("upload the runbook", lambda: automation.runbook_draft.begin_replace_content(*self._runbook, text))
        _finish("publish the runbook", lambda: automation.runbook.begin_publish(*self._runbook))

    def webhooks(self) -> list[Webhook]:
        with answered("read the webhooks"):
            return [
                found.webhook(one)
                for one in self._clients.automation.webhook.list_by_automation_account(*self._account)
            ]

    def new_webhook_uri(self) -> str:
        with answered("make a webhook's URI"):
            answer = str(self._clients.automation.webhook.generate_uri(*self._account))
        uri = answer.strip().strip('"')  # older descriptions of the API declare it as JSON
        if not uri.startswith("https://"):
            raise CloudRefused(f"{CLOUD} did not answer with a webhook's URI.", status=int(HTTPStatus.OK))
        return uri

    def put_webhook(self, name: str, uri: str, expires_at: datetime) -> None:
        body = body_of(bodies.webhook(name, self._names.runbook, uri, expires_at))
        with answered("make the webhook"):
            _ = self._clients.automation.webhook.create_or_update(*self._account, name, body)

    def delete_webhook(self, name: str) -> None:
        with none_if_missing(), answered("delete a webhook"):
            self._clients.automation.webhook.delete(*self._account, name)

    def call_webhook(self, uri: str, body: str) -> list[str]:
        try:
            answer = self._clients.post(uri, body)
        except requests.RequestException as error:
            raise CloudUnreachable(unreachable("The webhook", error)) from None
        if answer.status_code != HTTPStatus.ACCEPTED:
            raise CloudRefused(_REFUSED_CALL.format(answer.status_code), status=answer.status_code)
        try:
            return [str(one) for one in answer.json()["JobIds"]]
        except (KeyError, TypeError, ValueError):
            raise CloudRefused("The webhook's answer names no job.", status=int(HTTPStatus.ACCEPTED)) from None

    def action_group(self) -> ActionGroup | None:
        where = self._names.group, self._names.action_group
        one = _or_none("read the action group", lambda: self._clients.monitor.action_groups.get(*where))
        return None if one is None else found.action_group(one)

    def put_action_group(self, uri: str) -> None:
        where = self._names.group, self._names.action_group
        groups = self._clients.monitor.action_groups
        body = bodies.action_group(uri, self._names.email)
        if there := _or_none("read the action group", lambda: groups.get(*where)):
            body = bodies.joined(there.serialize(), body)
        with answered("make the action group"):
            _ = groups.create_or_update(*where, body_of(body))

    def alert(self, kind: AlertKind) -> Alert | None:
        where = self._names.group, self._names.alerts[kind]
        one = _or_none("read an alert", lambda: self._clients.monitor.activity_log_alerts.get(*where))
        return None if one is None else found.alert(one)

    def put_alert(self, kind: AlertKind, conditions: Sequence[tuple[str, str]]) -> None:
        where = self._names.group, self._names.alerts[kind]
        body = body_of(bodies.alert(self.machine_id, conditions, self.action_group_id))
        with answered("make an alert"):
            _ = self._clients.monitor.activity_log_alerts.create_or_update(*where, body)

    def jobs(self, most: int) -> list[Job]:
        # The library has no `$top`: it goes in by `params`, which every operation adds to its query.
        page = list[found.Vendors]()
        with none_if_missing(), answered("read the jobs"):  # without an account there are none
            # The account may be used by others, too: the last jobs of all may have none of ours.
            ours = f"properties/runbook/name eq '{self._names.runbook}'"
            pages = self._clients.jobs.list_by_automation_account(
                *self._account, filter=ours, params={"$top": most}
            ).by_page()
            page = list(next(pages, ()))
        own = [found.job(one) for one in page if one.runbook and _same(one.runbook.name, self._names.runbook)]
        return sorted(own, key=lambda job: job.created_at, reverse=True)[:most]

    def job(self, job_id: str) -> Job:
        with answered("read a job"):
            return found.job(self._clients.automation.job.get(*self._account, job_id))

    def output(self, job_id: str) -> str:
        jobs = self._clients.automation.job
        text = _or_none("read a job's output", lambda: jobs.get_output(*self._account, job_id))
        return "" if text is None else found.content(text)

    def minutes_used(self) -> float | None:
        usages = list[found.Vendors]()
        with none_if_missing(), answered("read the job-minutes"):
            usages = list(self._clients.automation.usages.list_by_automation_account(*self._account))
        minutes = [one.current_value for one in usages if one.name and _same(str(one.name.value), "AccountUsage")]
        return next(iter(minutes), None)

    def events(self, since: datetime, until: datetime) -> list[MachineEvent]:
        window = f"eventTimestamp ge '{_utc(since)}' and eventTimestamp le '{_utc(until)}'"
        log = self._clients.monitor.activity_logs
        with answered("read the activity log"):
            entries = list(log.list(filter=f"{window} and resourceUri eq '{self.machine_id}'"))
        # They come newest first: those of one moment stay in the order in which they happened.
        return sorted(map(found.event, reversed(entries)), key=lambda event: event.at)

    def tag_pause(self, text: str) -> None:
        machine = self._machine_as_found()
        if machine is None:
            raise CloudRefused(f"There is no machine {self.machine_id}.", status=int(HTTPStatus.NOT_FOUND))
        tags = {name: value for name, value in found.tags(machine).items() if name.lower() != PAUSE_TAG}
        if text:
            tags[PAUSE_TAG] = text
        # With the version that was read: the update replaces all tags, also those that others have just set.
        etag = getattr(machine, "etag", None)
        unchanged = {"etag": etag, "match_condition": MatchConditions.IfNotModified} if etag else {}
        _finish(
            "tag the machine",
            lambda: self._clients.machines.begin_update(*self._machine, body_of({"tags": tags}), **unchanged),
        )

    def start(self) -> int:
        try:
            with answered("start the machine"):
                _ = self._clients.machines.begin_start(*self._machine, polling=False)
        except CloudRefused as error:
            if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
                raise  # of who is signed in here, not of the runbook's identity
            return error.status
        except CloudUnreachable:
            return int(HTTPStatus.SERVICE_UNAVAILABLE)
        return int(HTTPStatus.ACCEPTED)

    def delete(self, kind: Kind) -> bool:
        group, names, clients = self._names.group, self._names, self._clients
        alerts = clients.monitor.activity_log_alerts
        deletions: dict[Kind, Callable[[], bool]] = {
            "deallocate": lambda: _deleted(alerts.delete, group, names.alerts["deallocate"]),
            "health": lambda: _deleted(alerts.delete, group, names.alerts["health"]),
            "action-group": lambda: _deleted(clients.monitor.action_groups.delete, group, names.action_group),
            "webhook": self._delete_webhooks,
            "runbook": lambda: _deleted(clients.automation.runbook.delete, *self._runbook),
            "account": lambda: _deleted(clients.automation.automation_account.delete, *self._account),
            "role": self._delete_grant,
            "identity": lambda: _deleted(clients.identities.delete, group, names.identity),
        }
        return deletions[kind]()

    def _delete_webhooks(self) -> bool:
        there = self.webhooks() if self.account() else []
        own = [one for one in there if _same(one.runbook, self._names.runbook)]
        for one in own:
            self.delete_webhook(one.name)
        return bool(own)

    def _delete_grant(self) -> bool:
        identity = self.identity()
        if identity is None:
            return False
        name = bodies.role_assignment_name(self.machine_id, identity.principal_id)
        return _deleted(self._clients.roles.delete, self.machine_id, name)


def _or_none(what: str, read: Callable[[], T]) -> T | None:
    with none_if_missing(), answered(what):
        return read()
    return None


def _deleted(delete: Callable[..., Any], *where: str) -> bool:
    """Delete a resource; return whether there was one."""
    with none_if_missing(), answered(f"delete {where[-1]}"):
        delete(*where)
        return True
    return False


def _finish(what: str, begin: Callable[[], Any]) -> None:
    """Begin what the cloud goes on with by itself, and wait for its end."""
    with answered(what):
        poller = begin()
        poller.wait(OPERATION_SECONDS)
        if not poller.done():
            raise CloudUnreachable(f"{CLOUD} was to {what}, and has not done so within {OPERATION_SECONDS} s.")
        _ = poller.result()


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()


def _utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

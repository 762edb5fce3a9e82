"""The cloud port over the management API."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, TypeVar

import requests
from azure.core import MatchConditions

from orrery.adapters.azure import bodies, found
from orrery.adapters.azure.answers import (
    CLOUD,
    Right,
    answered,
    none_if_missing,
    require_document,
    require_listing,
    require_text,
)
from orrery.adapters.azure.clients import (
    ACCOUNTS,
    ALERTS,
    GROUPS,
    IDENTITIES,
    MACHINES,
    OPERATION_SECONDS,
    Clients,
    Deadlines,
    Names,
    body_of,
)
from orrery.ports.cloud import (
    PAUSE_TAG,
    ActionGroup,
    Alert,
    AlertKind,
    AutomationAccount,
    Grant,
    Health,
    Identity,
    Kind,
    MachineEvent,
    MachineFound,
    Runbook,
    RunbookJob,
    Webhook,
)
from orrery.ports.cloud.errors import CloudRefused, CloudUnreachable
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

T = TypeVar("T")

DOCUMENT = {"raw_response_hook": require_document}
LISTING = {"raw_response_hook": require_listing}
TEXT = {"raw_response_hook": require_text}
"""What the body of a good answer must be."""

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

    def sign_in(self) -> None:
        with answered("sign in"):
            self._clients.sign_in()

    def machine(self) -> MachineFound | None:
        return self._machine_as(found.machine)

    def _machine_as(self, shaped: Callable[[Any], T]) -> T | None:
        read = self._clients.machines.get
        return _or_none(
            "read the machine",
            Right(f"{MACHINES}/read", self.machine_id),
            lambda: shaped(read(*self._machine, expand="instanceView", **DOCUMENT)),
        )

    def health(self) -> Health | None:
        read = self._clients.health.get_by_resource
        right = Right("Microsoft.ResourceHealth/availabilityStatuses/read", self.machine_id)
        return _or_none(
            "read the machine's health", right, lambda: found.health(read(self.machine_id, **DOCUMENT))
        )

    def identity(self) -> Identity | None:
        where = self._names.group, self._names.identity
        right = Right(f"{IDENTITIES}/read", self._names.id(IDENTITIES, self._names.identity))
        read = self._clients.identities.get
        return _or_none("read the identity", right, lambda: found.identity(read(*where, **DOCUMENT)))

    def put_identity(self) -> Identity:
        body = body_of({"location": self._names.location})
        with answered("make the identity"):
            return found.identity(
                self._clients.identities.create_or_update(self._names.group, self._names.identity, body)
            )

    def grants(self, principal_id: str) -> list[Grant]:
        right = Right("Microsoft.Authorization/roleAssignments/read", self._names.subscription_id)
        with answered("read the roles of the identity", right):
            wanted = f"assignedTo('{principal_id}')"
            listed = self._clients.roles.list_for_subscription(filter=wanted, **LISTING)
            grants = [(one, found.grant(one)) for one in listed]
        # Not only the filter decides whose they are: a filter that is not understood is not always refused.
        # What a group is given counts for its members, too.
        return [
            grant
            for one, grant in grants
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

    def account(self) -> AutomationAccount | None:
        return self._account_as(found.account)

    def _account_as(self, shaped: Callable[[Any], T]) -> T | None:
        read = self._clients.automation.automation_account.get
        return _or_none(
            "read the automation account", self._right(""), lambda: shaped(read(*self._account, **DOCUMENT))
        )

    def _right(self, part: str) -> Right:
        """Return the right to read a part of the account."""
        return Right(f"{ACCOUNTS}{part}/read", self._names.account_id)

    def put_account(self, identity: Identity) -> None:
        accounts = self._clients.automation.automation_account
        change = self._account_as(lambda there: bodies.account_change(identity.id, there))
        if change is None:
            with answered("make the automation account"):
                _ = accounts.create_or_update(
                    *self._account, body_of(bodies.account(self._names.location, identity.id))
                )
        else:  # putting it over would take the other identities and the tags away
            with answered("let the automation account use the identity"):
                _ = accounts.update(*self._account, body_of(change))

    def runbook(self) -> Runbook | None:
        there = self._runbook_as(lambda one: (found.word(one.state), found.runtime(one)))
        if there is None:
            return None
        state, runtime = there
        text = None if state == "New" else self._published()
        return Runbook(runtime, text, edited=state == "Edit")

    def _runbook_as(self, shaped: Callable[[Any], T]) -> T | None:
        read = self._clients.automation.runbook.get
        right = self._right("/runbooks")
        return _or_none("read the runbook", right, lambda: shaped(read(*self._runbook, **DOCUMENT)))

    def _published(self) -> str | None:
        read = self._clients.automation.runbook.get_content

        def content() -> str:
            return found.nonempty(found.content(read(*self._runbook, **TEXT)))

        return _or_none("read the runbook's text", self._right("/runbooks/content"), content)

    def other_runbooks(self) -> list[str]:
        listed = self._clients.automation.runbook.list_by_automation_account
        with answered("read the runbooks", self._right("/runbooks")):
            names = [found.word(one.name) for one in listed(*self._account, **LISTING)]
        return [name for name in names if not _same(name, self._names.runbook)]

    def put_runbook(self, text: str) -> None:
        automation = self._clients.automation
        if self._runbook_as(found.runtime) is None:
            body = body_of(bodies.runbook(self._names.runbook, self._names.location))
            with answered("make the runbook"):
                _ = automation.runbook.create_or_update(*self._runbook, body)
        _finish("upload the runbook", lambda: automation.runbook_draft.begin_replace_content(*self._runbook, text))
        _finish("publish the runbook", lambda: automation.runbook.begin_publish(*self._runbook))

    def webhooks(self) -> list[Webhook]:
        listed = self._clients.automation.webhook.list_by_automation_account
        with answered("read the webhooks", self._right("/webhooks")):
            return [found.webhook(one) for one in listed(*self._account, **LISTING)]

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
        return self._action_group_as(found.action_group)

    def _action_group_as(self, shaped: Callable[[Any], T]) -> T | None:
        where = self._names.group, self._names.action_group
        read, right = self._clients.monitor.action_groups.get, Right(f"{GROUPS}/read", self.action_group_id)
        return _or_none("read the action group", right, lambda: shaped(read(*where, **DOCUMENT)))

    def put_action_group(self, uri: str) -> None:
        where = self._names.group, self._names.action_group
        own = bodies.action_group(uri, self._names.email)
        body = self._action_group_as(lambda there: bodies.joined(there.serialize(), own)) or own
        with answered("make the action group"):
            _ = self._clients.monitor.action_groups.create_or_update(*where, body_of(body))

    def alert(self, kind: AlertKind) -> Alert | None:
        name = self._names.alerts[kind]
        read, right = (
            self._clients.monitor.activity_log_alerts.get,
            Right(f"{ALERTS}/read", self._names.id(ALERTS, name)),
        )
        return _or_none(
            f"read the {kind} alert", right, lambda: found.alert(read(self._names.group, name, **DOCUMENT))
        )

    def put_alert(self, kind: AlertKind, conditions: Sequence[tuple[str, str]]) -> None:
        where = self._names.group, self._names.alerts[kind]
        body = body_of(bodies.alert(self.machine_id, conditions, self.action_group_id))
        with answered("make an alert"):
            _ = self._clients.monitor.activity_log_alerts.create_or_update(*where, body)

    def jobs(self, most: int) -> list[RunbookJob]:
        # The account may be used by others, too: the last jobs of all may have none of ours. The library has no
        # `$top`: it goes in by `params`, which every operation adds to its query.
        ours = {"filter": f"properties/runbook/name eq '{self._names.runbook}'", "params": {"$top": most}}
        own = list[RunbookJob]()
        with (
            none_if_missing(),
            answered("read the jobs", self._right("/jobs")),
        ):  # without an account it lists nothing
            pages = self._clients.jobs.list_by_automation_account(*self._account, **ours, **LISTING).by_page()
            page = [(one.runbook, found.job(one)) for one in next(pages, ())]
            own = [job for runbook, job in page if runbook and _same(str(runbook.name), self._names.runbook)]
        return sorted(own, key=lambda job: job.created_at, reverse=True)[:most]

    def job(self, job_id: str) -> RunbookJob:
        with answered("read a job", self._right("/jobs")):
            return found.job(self._clients.automation.job.get(*self._account, job_id, **DOCUMENT))

    def output(self, job_id: str) -> str:
        read = self._clients.automation.job.get_output
        right = self._right("/jobs/output")
        output = _or_none(
            "read a job's output", right, lambda: found.content(read(*self._account, job_id, **TEXT))
        )
        return output or ""

    def minutes_used(self) -> float | None:
        listed = self._clients.automation.usages.list_by_automation_account
        right = self._right("/usages")
        return _or_none(
            "read the job-minutes", right, lambda: found.minutes(list(listed(*self._account, **LISTING)))
        )

    def events(self, since: datetime, until: datetime) -> list[MachineEvent]:
        window = f"eventTimestamp ge '{_utc(since)}' and eventTimestamp le '{_utc(until)}'"
        wanted = f"{window} and resourceUri eq '{self.machine_id}'"
        right = Right("Microsoft.Insights/eventtypes/values/read", self._names.subscription_id)
        with answered("read the activity log", right):
            entries = [
                found.event(one) for one in self._clients.monitor.activity_logs.list(filter=wanted, **LISTING)
            ]
        entries.reverse()  # newest first: those of one moment stay in the order in which they happened
        return sorted(entries, key=lambda event: event.at)

    def tag_pause(self, text: str) -> None:
        there = self._machine_as(lambda machine: (found.tags(machine), getattr(machine, "etag", None)))
        if there is None:
            raise CloudRefused(f"There is no machine {self.machine_id}.", status=int(HTTPStatus.NOT_FOUND))
        tags = {name: value for name, value in there[0].items() if name.lower() != PAUSE_TAG}
        if text:
            tags[PAUSE_TAG] = text
        # With the version that was read: the update replaces all tags, also those that others have just set.
        etag = there[1]
        unchanged = {"etag": etag, "match_condition": MatchConditions.IfNotModified} if etag else {}
        _finish(
            "tag the machine",
            lambda: self._clients.machines.begin_update(*self._machine, body_of({"tags": tags}), **unchanged),
        )

    def start(self) -> None:
        with answered("start the machine"):
            _ = self._clients.machines.begin_start(*self._machine, polling=False)

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


def _or_none(what: str, right: Right, read: Callable[[], T]) -> T | None:
    with none_if_missing(), answered(what, right):
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

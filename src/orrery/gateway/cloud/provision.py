"""Makes the resources in the cloud, one after the other; done again after a crash, it completes them.

The webhook's URI is the one thing that cannot be asked for again. So: a new URI, kept here, read back; then the
webhook, then the action group, then a call of the webhook. The old webhooks are deleted by an `apply` half an hour
later, since alerts may still be delivered to them; sooner when one has come by the new one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from orrery.errors import Invalid, OrreryError
from orrery.gateway.cloud.asking import Asking, survey
from orrery.gateway.cloud.plan import (
    Action,
    RunbookText,
    current_webhook,
    is_called,
    left_behind,
    overlap_end,
    planned,
    uri_of,
    why_unusable,
)
from orrery.gateway.cloud.restart import TEST, TEST_MESSAGE
from orrery.gateway.cloud.survey import Survey, known
from orrery.gateway.cloud.wanted import CONDITIONS, WEBHOOK_LIFETIME, WantedResources, webhook_name
from orrery.ports.clock import Clock
from orrery.ports.cloud import RUNTIME, Cloud, Identity, Kind, RunbookJob, Webhook, WebhookUri
from orrery.ports.cloud.errors import CloudRefused

TEST_PATIENCE = timedelta(minutes=10)
"""How long a test job may wait for a worker of the cloud and run; about one minute is usual."""

ROLE_PATIENCE = timedelta(minutes=10)
"""How long the cloud may take until a role that was just given counts everywhere."""

BETWEEN_TESTS = 30.0
"""Seconds between two test calls while it does not."""

FIRST_POLL = 1.0
LONGEST_POLL = 10.0
"""Seconds between two looks at the test job."""

MOST_JOBS = 20
"""Of the last jobs, how many are looked at for one that an alert has started."""

_MADE: frozenset[Action] = frozenset({"create", "replace"})

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TestJob:
    """The job of a test call: its output, and how many seconds after the call it had ended."""

    id: str
    status: str
    output: str
    seconds: float

    @property
    def succeeded(self) -> bool:
        """Whether the chain works: the runbook signed in and read the machine."""
        return self.status == "Completed"


class CloudNotReady(OrreryError):
    """Something blocks the change, and nothing was changed."""


@dataclass(frozen=True, slots=True)
class Provisioning:
    """The parts of one run.

    `text` renders the runbook, `report` takes a sentence about each finished step, `wait` waits for some seconds.
    """

    cloud: Cloud
    uri: WebhookUri
    clock: Clock
    wanted: WantedResources
    text: RunbookText
    report: Report
    wait: Callable[[float], None]

    def survey(self) -> Survey:
        """Read what is there."""
        return survey(Asking(self.cloud, self.clock), self.uri.read())

    def make(self, *, rotate: bool = False) -> TestJob:
        """Apply the plan, prove the chain by a test job, and then delete old webhooks whose time is over.

        Raises `CloudNotReady` and `CloudError`. Two at once would each change the other's webhook.
        """
        with self.uri.held():
            return self._make(rotate=rotate)

    def _make(self, *, rotate: bool) -> TestJob:
        done = self._apply(rotate=rotate)
        due = self.clock.monotonic() + (ROLE_PATIENCE.total_seconds() if done["role"] != "keep" else 0.0)
        while not (tested := self._test()).succeeded and self.clock.monotonic() < due:
            self.report(
                "The job failed. The role was just given, and counts in some minutes: trying again in 30 s."
            )
            self.wait(BETWEEN_TESTS)
        if tested.succeeded:
            self._remove_old_webhooks(is_new=done["webhook"] in _MADE)
        return tested

    def _apply(self, *, rotate: bool) -> dict[Kind, Action]:
        """Make what is missing and change what differs; return what was done to each resource."""
        found = self.survey()
        plan = planned(found, self.wanted, self.text, rotate=rotate)
        if blocking := [*dict.fromkeys(str(gap.error) for gap in plan.gaps), *map(str, plan.troubles)]:
            raise CloudNotReady(" ".join(["Nothing was changed.", *blocking]))
        actions: dict[Kind, Action] = {change.kind: change.action for change in reversed(plan.changes)}
        if actions["webhook"] != "keep":
            self._require_place()
        identity = self._identity(found)
        self._account(found, identity, actions["account"])
        if actions["role"] != "keep":
            self.cloud.put_grant(identity.principal_id)
            self.report("The identity may start this machine, and nothing else.")
        self._runbook(identity, actions["runbook"])
        uri = self._webhook(found, rotate=rotate)
        if actions["action-group"] != "keep" or actions["webhook"] in _MADE:
            self.cloud.put_action_group(uri)
            self.report(f"The action group {self.wanted.action_group} calls the webhook and sends e-mail.")
        for kind, conditions in CONDITIONS.items():
            if actions[kind] != "keep":
                self.cloud.put_alert(kind, conditions)
                self.report(f"The alert {self.wanted.alerts[kind]} is on.")
        return actions

    def _require_place(self) -> None:
        """Raise before anything is made when a new webhook's URI could not be kept."""
        try:
            self.uri.require_writable()
        except Invalid as error:
            raise Invalid(f"Nothing was changed. {error}") from None

    def _test(self) -> TestJob:
        """Call the webhook with a message that starts nothing, and wait for the job."""
        began = self.clock.monotonic()
        ids = self.cloud.call_webhook(self.uri.read(), TEST_MESSAGE)
        if not ids:
            raise CloudRefused("The webhook was called, and started no job.", status=202)
        self.report(f"The webhook was called, and started the job {ids[0]}.")
        job = self._ended(ids[0])
        output = self.cloud.output(job.id).strip()
        return TestJob(job.id, job.status, job.exception or output, self.clock.monotonic() - began)

    def _remove_old_webhooks(self, *, is_new: bool) -> None:
        found = self.survey()
        current, old = current_webhook(found, self.wanted), left_behind(found, self.wanted)
        if current is None or not is_called(current, found, self.wanted) or current.name != self._own_name:
            raise CloudNotReady(
                "The action group calls another webhook than the new one: somebody else has typed `apply`, too. "
                "No webhook was deleted; type `apply` again on one of the two machines."
            )
        until = overlap_end(found, self.wanted)
        may_go = not is_new and (found.at >= until or (old and self._was_used(current)))
        for one in old:
            if may_go:
                self.cloud.delete_webhook(one.name)
                self.report(f"The old webhook {one.name} is deleted.")
            else:
                self.report(
                    f"The old webhook {one.name} stays: alerts may still be delivered to it. "
                    f"Type `orrery gateway cloud apply` after {until:%Y-%m-%d %H:%M} UTC to delete it."
                )

    @property
    def _own_name(self) -> str:
        return webhook_name(self.wanted.webhook, self.uri.read())

    def _was_used(self, webhook: Webhook) -> bool:
        """Return whether an alert has come by a webhook: a job that completed and was no test."""
        for job in self.cloud.jobs(MOST_JOBS):
            if job.created_at >= webhook.created_at and job.status == "Completed":
                by = self.cloud.job(job.id).started_by.lower()
                if webhook.name.lower() in by and TEST not in self.cloud.output(job.id):
                    return True
        return False

    def _identity(self, found: Survey) -> Identity:
        if identity := known(found.identity):
            return identity
        identity = self.cloud.put_identity()
        self.report(f"The identity {self.wanted.identity} is there.")
        return identity

    def _account(self, found: Survey, identity: Identity, action: Action) -> None:
        if action != "keep" or known(found.identity) is None:
            self.cloud.put_account(identity)
            self.report(f"The automation account {self.wanted.account} is there.")

    def _runbook(self, identity: Identity, action: Action) -> None:
        if action != "keep":
            self.cloud.put_runbook(self.text(identity.client_id))
        runbook = self.cloud.runbook()
        if runbook is None or runbook.text is None or runbook.runtime != RUNTIME:
            raise CloudRefused(f"The runbook {self.wanted.runbook} is not published as {RUNTIME}.", status=200)
        if action != "keep":
            self.report(f"The runbook {self.wanted.runbook} is published, for PowerShell 7.2.")

    def _webhook(self, found: Survey, *, rotate: bool) -> str:
        """Return the URI of a webhook that works, made unless there is one."""
        current = current_webhook(found, self.wanted)
        if current and not rotate and not why_unusable(current, found, self.wanted):
            return self._kept(uri_of(current, found, self.wanted))
        uri = found.uri
        if current or not uri:
            uri = self._new_uri()
        try:
            self._put_webhook(uri)
        except CloudRefused:
            if uri != found.uri:
                raise
            uri = self._new_uri()  # the kept one was of a webhook that somebody deleted
            self._put_webhook(uri)
        return uri

    def _kept(self, uri: str) -> str:
        """Keep the URI that the action group calls, where another one or none is kept."""
        if uri != self.uri.read():
            self.uri.write(uri)
            self.report("The URI of the webhook that the action group calls is kept here.")
        return uri

    def _new_uri(self) -> str:
        uri = self.cloud.new_webhook_uri()
        self.uri.write(uri)
        self.report("A new webhook URI is kept here.")
        return uri

    def _put_webhook(self, uri: str) -> None:
        name = self._own_name
        expires_at = self.clock.now() + WEBHOOK_LIFETIME
        self.cloud.put_webhook(name, uri, expires_at)
        self.report(f"The webhook {name} is there, until {expires_at:%Y-%m-%d}.")

    def _ended(self, job_id: str) -> RunbookJob:
        due = self.clock.monotonic() + TEST_PATIENCE.total_seconds()
        pause = FIRST_POLL
        while not (job := self.cloud.job(job_id)).has_ended and self.clock.monotonic() < due:
            self.wait(pause)
            pause = min(pause * 2, LONGEST_POLL)
        return job if job.has_ended else replace(job, exception="The job has not ended within 10 minutes.")

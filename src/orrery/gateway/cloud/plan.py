"""What `apply` would change, from what is found and what is wanted; pure."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Literal

from orrery.gateway.causes import WEBHOOK_WARNED_BEFORE
from orrery.gateway.cloud.survey import Survey, UnknownPart, known
from orrery.gateway.cloud.wanted import (
    CONDITIONS,
    WantedResources,
    is_own,
    same_id,
    webhook_name,
)
from orrery.ports.cloud import CONTRIBUTOR, RUNTIME, TIER, AlertKind, Grant, Kind, Webhook
from orrery.ports.cloud.errors import CloudError

Action = Literal["create", "update", "keep", "replace", "delete", "unknown"]

OVERLAP = timedelta(minutes=30)
"""How long an old webhook stays after a new one took its place: alerts may still be delivered to it."""


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """What becomes of one resource; `why` has a sentence for each difference. What is unknown has a `todo`."""

    kind: Kind
    name: str
    action: Action
    why: tuple[str, ...] = ()
    todo: str = ""


@dataclass(frozen=True, slots=True)
class PlanTrouble:
    """Something that `apply` does not touch and that blocks it, and what to do about it."""

    part: Literal["machine", "rights", "runbook"]
    why: str
    todo: str

    def __str__(self) -> str:
        return f"{self.why} {self.todo}"


@dataclass(frozen=True, slots=True)
class CloudPlan:
    """The changes in their order, and what blocks them: with a trouble or a gap, nothing is changed."""

    changes: tuple[ResourceChange, ...]
    troubles: tuple[PlanTrouble, ...]
    gaps: tuple[UnknownPart, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether everything is as it is wanted."""
        return all(change.action == "keep" for change in self.changes) and not self.troubles and not self.gaps


RunbookText = Callable[[str], str]
"""Returns the text of the runbook for the identity's client id."""


PARTS: Mapping[Kind, str] = {
    "identity": "identity",
    "account": "account",
    "role": "role",
    "runbook": "runbook",
    "webhook": "webhook",
    "action-group": "action group",
    "health": "health alert",
    "deallocate": "deallocate alert",
}
"""What each resource is called as a part."""


def planned(found: Survey, wanted: WantedResources, text: RunbookText, *, rotate: bool = False) -> CloudPlan:
    """Return the plan; with `rotate` the webhook is replaced although it works."""

    def judged(kind: Kind, name: str, judge: Callable[[], Iterable[ResourceChange]]) -> Iterable[ResourceChange]:
        """Return the changes, or that they are not known because a part is not that they depend on."""
        try:
            return list(judge())
        except CloudError as error:
            parts = [gap.part for gap in found.gaps if gap.error is error]
            if PARTS[kind] in parts:
                return [ResourceChange(kind, name, "unknown", (error.why,), error.todo)]
            return [
                ResourceChange(kind, name, "unknown", (f"It cannot be judged while the {parts[0]} is not known.",))
            ]

    changes = (
        *judged("identity", wanted.identity, lambda: [_identity(found, wanted)]),
        *judged("account", wanted.account, lambda: [_account(found, wanted)]),
        *judged("role", "Virtual Machine Contributor", lambda: [_role(found)]),
        *judged("runbook", wanted.runbook, lambda: [_runbook(found, wanted, text)]),
        *judged("webhook", wanted.webhook, lambda: _webhooks(found, wanted, rotate=rotate)),
        *judged("action-group", wanted.action_group, lambda: [_action_group(found, wanted, rotate=rotate)]),
        *judged("health", wanted.alerts["health"], lambda: [_alert(found, wanted, "health")]),
        *judged("deallocate", wanted.alerts["deallocate"], lambda: [_alert(found, wanted, "deallocate")]),
    )
    return CloudPlan(changes, tuple(_troubles(found, wanted)), tuple(found.gaps))


def current_webhook(found: Survey, wanted: WantedResources) -> Webhook | None:
    """Return the webhook that the action group calls, else the one whose URI is kept here; raise `CloudError`."""
    by_name = {one.name.lower(): one for one in known(found.webhooks)}
    kept = by_name.get(webhook_name(wanted.webhook, found.uri)) if found.uri else None
    if kept and isinstance(found.action_group, CloudError):
        return kept
    called = [by_name[name] for name in _called(found, wanted) if name in by_name]
    working = [one for one in called if not why_unusable(one, found, wanted)]
    if kept in working:
        return kept
    newest_first = sorted(working, key=attrgetter("created_at"), reverse=True)
    return next(iter([*newest_first, *([kept] if kept else []), *called]), None)


def _called(found: Survey, wanted: WantedResources) -> dict[str, str]:
    """Return the URIs that the action group calls, by the names that their webhooks would have."""
    group = known(found.action_group)
    return {webhook_name(wanted.webhook, uri): uri for uri in (group.uris if group else ())}


def uri_of(webhook: Webhook, found: Survey, wanted: WantedResources) -> str:
    """Return the URI of a webhook that is kept here or that the action group calls."""
    if webhook.name.lower() == webhook_name(wanted.webhook, found.uri):
        return found.uri
    return _called(found, wanted)[webhook.name.lower()]


def is_called(webhook: Webhook, found: Survey, wanted: WantedResources) -> bool:
    return webhook.name.lower() in _called(found, wanted)


def why_unusable(webhook: Webhook, found: Survey, wanted: WantedResources) -> str:
    """Return in a sentence why a webhook must be replaced, or nothing."""
    if webhook.expires_at <= found.at:
        return f"It expired on {webhook.expires_at:%Y-%m-%d}."
    if not webhook.enabled:
        return "It is disabled."
    if webhook.runbook.lower() != wanted.runbook.lower():
        return f"It starts another runbook, {webhook.runbook}."
    return ""


def _is_the_one(grant: Grant, machine_id: str) -> bool:
    """Return whether a right of the identity is the one role on the one machine."""
    return same_id(grant.scope, machine_id) and grant.role.lower() == CONTRIBUTOR


def _change(kind: Kind, name: str, *, there: bool, why: Iterable[str]) -> ResourceChange:
    if not there:
        return ResourceChange(kind, name, "create")
    found = tuple(why)
    return ResourceChange(kind, name, "update" if found else "keep", found)


def _identity(found: Survey, wanted: WantedResources) -> ResourceChange:
    return _change("identity", wanted.identity, there=known(found.identity) is not None, why=())


def _account(found: Survey, wanted: WantedResources) -> ResourceChange:
    account, identity = known(found.account), known(found.identity)

    def why() -> Iterable[str]:
        if account and account.tier != TIER:
            yield f"Its tier is {account.tier}, not {TIER}."
        if account and not (identity and any(same_id(one, identity.id) for one in account.identities)):
            yield "Its runbooks may not use the identity."
        elif account and identity and account.clients and identity.client_id not in account.clients:
            yield "It holds an earlier identity of that name, which was deleted."

    return _change("account", wanted.account, there=account is not None, why=why())


def _role(found: Survey) -> ResourceChange:
    has_role = any(_is_the_one(one, found.machine_id) for one in known(found.grants))
    return _change("role", "Virtual Machine Contributor", there=has_role, why=())


def _runbook(found: Survey, wanted: WantedResources, text: RunbookText) -> ResourceChange:
    runbook, identity = known(found.runbook), known(found.identity)

    def why() -> Iterable[str]:
        if runbook and runbook.text is None:
            yield "It is not published."
        elif runbook and (identity is None or not _same_text(runbook.text, text(identity.client_id))):
            yield "Its published text is another one."
        if runbook and runbook.edited:
            yield "It has an unpublished edit."

    return _change("runbook", wanted.runbook, there=runbook is not None, why=why())


def _same_text(one: str | None, other: str) -> bool:
    return (one or "").replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()


def _webhooks(found: Survey, wanted: WantedResources, *, rotate: bool) -> Iterable[ResourceChange]:
    current = current_webhook(found, wanted)
    if current is None:
        # A URI without a webhook is that of an `apply` that was cut off: it is used.
        name = webhook_name(wanted.webhook, found.uri) if found.uri else f"{wanted.webhook}-…"
        yield ResourceChange("webhook", name, "create")
    elif why := why_unusable(current, found, wanted):
        yield ResourceChange("webhook", current.name, "replace", (why,))
    elif rotate:
        yield ResourceChange("webhook", current.name, "replace", ("A new one was asked for.",))
    elif uri_of(current, found, wanted) != found.uri:
        yield ResourceChange(
            "webhook", current.name, "update", ("The action group calls it, and its URI is not kept here.",)
        )
    else:
        left = current.expires_at - found.at
        soon = (f"It expires on {current.expires_at:%Y-%m-%d}: type `orrery gateway cloud rotate-webhook`.",)
        yield ResourceChange("webhook", current.name, "keep", soon if left <= WEBHOOK_WARNED_BEFORE else ())
    for one in left_behind(found, wanted):
        if found.at >= (until := overlap_end(found, wanted)):
            yield ResourceChange("webhook", one.name, "delete", ("Another one has taken its place.",))
        else:
            why = f"Alerts may still be delivered to it: `apply` deletes it from {until:%Y-%m-%d %H:%M} UTC on."
            yield ResourceChange("webhook", one.name, "keep", (why,))


def overlap_end(found: Survey, wanted: WantedResources) -> datetime:
    """Return when old webhooks may go: a while after the current one was made, if the action group calls it."""
    current = current_webhook(found, wanted)
    called = current is not None and is_called(current, found, wanted)
    return (current.created_at if current and called else found.at) + OVERLAP


def left_behind(found: Survey, wanted: WantedResources) -> list[Webhook]:
    """Return our webhooks but the current one; one that starts another runbook may be of another machine."""
    current = current_webhook(found, wanted)
    return [
        one
        for one in known(found.webhooks)
        if is_own(one.name, wanted.webhook)
        and one.runbook.lower() in {"", wanted.runbook.lower()}
        and one != current
    ]


def _action_group(found: Survey, wanted: WantedResources, *, rotate: bool) -> ResourceChange:
    group, current = known(found.action_group), current_webhook(found, wanted)

    def why() -> Iterable[str]:
        if group is None:
            return
        if not group.enabled:
            yield "It is disabled."
        if rotate or not group.uris or (current and not is_called(current, found, wanted)):
            yield "It does not call the webhook."
        elif current and uri_of(current, found, wanted) in group.common_uris:
            yield "It sends the common alert schema, which is another payload than the specified one."
        if wanted.email.lower() not in (one.lower() for one in group.emails):
            yield f"It sends no e-mail to {wanted.email}."

    return _change("action-group", wanted.action_group, there=group is not None, why=why())


def _alert(found: Survey, wanted: WantedResources, kind: AlertKind) -> ResourceChange:
    alert = known(found.alerts[kind])

    def why() -> Iterable[str]:
        if alert is None:
            return
        if not alert.enabled:
            yield "It is disabled."
        if len(alert.scopes) != 1 or not same_id(alert.scopes[0], found.machine_id):
            yield "Its scope is not the one machine."
        if _folded(alert.conditions) != _folded(CONDITIONS[kind]):
            yield "Its conditions are others."
        if not any(same_id(one, found.action_group_id) for one in alert.action_groups):
            yield "It does not use the action group."

    return _change(kind, wanted.alerts[kind], there=alert is not None, why=why())


def _folded(conditions: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(name.lower(), value.lower()) for name, value in conditions}


def _troubles(found: Survey, wanted: WantedResources) -> Iterable[PlanTrouble]:
    for rule in (_of_machine, _of_rights, _of_runbook):
        with suppress(CloudError):  # it is a gap of the plan
            yield from rule(found, wanted)


def _of_machine(found: Survey, _: WantedResources) -> Iterable[PlanTrouble]:
    if known(found.machine) is None:
        yield PlanTrouble(
            "machine",
            f"There is no machine {found.machine_id}: it was deleted or moved.",
            "Correct `machine`, `machine_resource_group` and `subscription` in [cloud].",
        )


def _of_rights(found: Survey, wanted: WantedResources) -> Iterable[PlanTrouble]:
    for grant in known(found.grants):
        if _is_the_one(grant, found.machine_id):
            continue
        yield PlanTrouble(
            "rights",
            f"The identity {wanted.identity} has more than the one role on the one machine: role {grant.role} on "
            f"{grant.scope}.",
            f"If nothing else needs it, type `az role assignment delete --ids {grant.id}`.",
        )


def _of_runbook(found: Survey, wanted: WantedResources) -> Iterable[PlanTrouble]:
    runbook = known(found.runbook)
    if runbook and runbook.runtime != RUNTIME:
        yield PlanTrouble(
            "runbook",
            f"The runbook {wanted.runbook} is of the type {runbook.runtime}, not {RUNTIME}, and a type "
            "cannot be changed.",
            "Delete that runbook, or give `runbook` in [cloud] another name.",
        )

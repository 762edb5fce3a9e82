"""What `apply` would change, from what is found and what is wanted; pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from orrery.gateway.causes import WEBHOOK_WARNED_BEFORE
from orrery.gateway.cloud.survey import Survey
from orrery.gateway.cloud.wanted import (
    CONDITIONS,
    Wanted,
    is_own,
    same_id,
    webhook_name,
)
from orrery.ports.cloud import CONTRIBUTOR, RUNTIME, TIER, AlertKind, Grant, Kind, Webhook

Action = Literal["create", "update", "keep", "replace", "delete"]


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one resource; `why` has a sentence for each difference."""

    kind: Kind
    name: str
    action: Action
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that `apply` does not touch and that stands in its way, and what to do about it."""

    part: Literal["machine", "rights", "runbook"]
    why: str
    todo: str

    def __str__(self) -> str:
        return f"{self.why} {self.todo}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes in their order, and what stands in the way: with a trouble, nothing is changed."""

    changes: tuple[Change, ...]
    troubles: tuple[Trouble, ...]

    @property
    def is_empty(self) -> bool:
        """Whether everything is as it is wanted."""
        return all(change.action == "keep" for change in self.changes) and not self.troubles


RunbookText = Callable[[str], str]
"""Returns the text of the runbook for the identity's client id."""


def planned(found: Survey, wanted: Wanted, text: RunbookText, *, rotate: bool = False) -> Plan:
    """Return the plan; with `rotate` the webhook is replaced although it works."""
    changes = (
        _identity(found, wanted),
        _account(found, wanted),
        _role(found),
        _runbook(found, wanted, text),
        *_webhooks(found, wanted, rotate=rotate),
        _action_group(found, wanted, rotate=rotate),
        *(_alert(found, wanted, kind) for kind in CONDITIONS),
    )
    return Plan(changes, tuple(_troubles(found, wanted)))


def current_webhook(found: Survey, wanted: Wanted) -> Webhook | None:
    """Return the webhook whose URI is kept here."""
    name = webhook_name(wanted.webhook, found.uri) if found.uri else ""
    return next((one for one in found.webhooks if one.name.lower() == name), None)


def why_unusable(webhook: Webhook, found: Survey, wanted: Wanted) -> str:
    """Return in a sentence why a webhook must be replaced, or nothing."""
    if webhook.expires_at <= found.at:
        return f"It expired on {webhook.expires_at:%Y-%m-%d}."
    if not webhook.enabled:
        return "It is disabled."
    if webhook.runbook.lower() != wanted.runbook.lower():
        return f"It starts another runbook, {webhook.runbook}."
    return ""


def wider_grants(found: Survey) -> list[Grant]:
    """Return the rights of the identity beyond the one role on the one machine."""
    return [one for one in found.grants if not _is_the_one(one, found.machine_id)]


def has_role(found: Survey) -> bool:
    return any(_is_the_one(one, found.machine_id) for one in found.grants)


def _is_the_one(grant: Grant, machine_id: str) -> bool:
    return same_id(grant.scope, machine_id) and grant.role.lower() == CONTRIBUTOR


def _change(kind: Kind, name: str, *, there: bool, why: Iterable[str]) -> Change:
    if not there:
        return Change(kind, name, "create")
    found = tuple(why)
    return Change(kind, name, "update" if found else "keep", found)


def _identity(found: Survey, wanted: Wanted) -> Change:
    return _change("identity", wanted.identity, there=found.identity is not None, why=())


def _account(found: Survey, wanted: Wanted) -> Change:
    def why() -> Iterable[str]:
        account, identity = found.account, found.identity
        if account and account.tier != TIER:
            yield f"Its tier is {account.tier}, not {TIER}."
        if account and not (identity and any(same_id(one, identity.id) for one in account.identities)):
            yield "Its runbooks may not use the identity."
        elif account and identity and account.clients and identity.client_id not in account.clients:
            yield "It holds an earlier identity of that name, which was deleted."

    return _change("account", wanted.account, there=found.account is not None, why=why())


def _role(found: Survey) -> Change:
    return _change("role", "Virtual Machine Contributor", there=has_role(found), why=())


def _runbook(found: Survey, wanted: Wanted, text: RunbookText) -> Change:
    def why() -> Iterable[str]:
        runbook, identity = found.runbook, found.identity
        if runbook and runbook.text is None:
            yield "It is not published."
        elif runbook and (identity is None or not _same_text(runbook.text, text(identity.client_id))):
            yield "Its published text is another one."
        if runbook and runbook.edited:
            yield "An unpublished edit lies beside it."

    return _change("runbook", wanted.runbook, there=found.runbook is not None, why=why())


def _same_text(one: str | None, other: str) -> bool:
    return (one or "").replace("\r\n", "\n").strip() == other.replace("\r\n", "\n").strip()


def _webhooks(found: Survey, wanted: Wanted, *, rotate: bool) -> Iterable[Change]:
    current = current_webhook(found, wanted)
    if current is None:
        # A URI without a webhook is that of an `apply` that was cut off: it is used.
        name = webhook_name(wanted.webhook, found.uri) if found.uri else f"{wanted.webhook}-…"
        yield Change("webhook", name, "create")
    elif why := why_unusable(current, found, wanted):
        yield Change("webhook", current.name, "replace", (why,))
    elif rotate:
        yield Change("webhook", current.name, "replace", ("A new one was asked for.",))
    else:
        left = current.expires_at - found.at
        soon = (f"It expires on {current.expires_at:%Y-%m-%d}: type `orrery gateway cloud rotate-webhook`.",)
        yield Change("webhook", current.name, "keep", soon if left <= WEBHOOK_WARNED_BEFORE else ())
    for one in left_behind(found, wanted):
        yield Change("webhook", one.name, "delete", ("Its URI is kept nowhere.",))


def left_behind(found: Survey, wanted: Wanted) -> list[Webhook]:
    """Return our webhooks but the current one; one that starts another runbook may be of another machine."""
    current = current_webhook(found, wanted)
    return [
        one
        for one in found.webhooks
        if is_own(one.name, wanted.webhook)
        and one.runbook.lower() in {"", wanted.runbook.lower()}
        and one != current
    ]


def _action_group(found: Survey, wanted: Wanted, *, rotate: bool) -> Change:
    def why() -> Iterable[str]:
        group = found.action_group
        if group is None:
            return
        if not group.enabled:
            yield "It is disabled."
        if found.uri not in group.uris or rotate:
            yield "It does not call the webhook whose URI is kept here."
        if found.uri in group.common_uris:
            yield "It sends the common alert schema, which is another payload than the specified one."
        if wanted.email.lower() not in (one.lower() for one in group.emails):
            yield f"It sends no e-mail to {wanted.email}."

    return _change("action-group", wanted.action_group, there=found.action_group is not None, why=why())


def _alert(found: Survey, wanted: Wanted, kind: AlertKind) -> Change:
    def why() -> Iterable[str]:
        alert = found.alerts[kind]
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

    return _change(kind, wanted.alerts[kind], there=found.alerts[kind] is not None, why=why())


def _folded(conditions: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(name.lower(), value.lower()) for name, value in conditions}


def _troubles(found: Survey, wanted: Wanted) -> Iterable[Trouble]:
    if found.machine is None:
        yield Trouble(
            "machine",
            f"There is no machine {found.machine_id}: it was deleted or moved.",
            "Correct `machine`, `machine_resource_group` and `subscription` in [cloud].",
        )
    for grant in wider_grants(found):
        yield Trouble(
            "rights",
            f"The identity {wanted.identity} has more than the one role on the one machine: role {grant.role} on "
            f"{grant.scope}.",
            f"If nothing else needs it, type `az role assignment delete --ids {grant.id}`.",
        )
    if found.runbook and found.runbook.runtime != RUNTIME:
        yield Trouble(
            "runbook",
            f"The runbook {wanted.runbook} is of the type {found.runbook.runtime}, not {RUNTIME}, and a type "
            "cannot be changed.",
            "Delete that runbook, or give `runbook` in [cloud] another name.",
        )

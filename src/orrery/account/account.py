"""The account settings that buyers see, changed only with the owner's approval (change rule 4, decisions 15, 17).

The present values are read, checked and shown before a change is proposed; its execution is refused when they have
changed since.
"""

import re
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from orrery.account.configurations import ConfigurationPatch
from orrery.approvals.approvals import Approvals, IntentDraft, Operation
from orrery.errors import Invalid, NotFound
from orrery.ports.processor import (
    BRANDING,
    Configuration,
    ProcessorAccount,
    ProcessorReads,
    ProcessorUnreachable,
    ProcessorWrites,
    split_unreadable,
)
from orrery.runtime.operations import Intent
from orrery.syntax.email_address import is_email_address
from orrery.syntax.lines import is_line

UPDATE_BRANDING = "update-branding"
CREATE_CONFIGURATION = "create-configuration"
UPDATE_CONFIGURATION = "update-configuration"

_DONE = {
    UPDATE_BRANDING: "Change the branding of {}",
    CREATE_CONFIGURATION: "Create the payment method configuration {}",
    UPDATE_CONFIGURATION: "Change the payment method configuration {}",
}

DESCRIPTOR_LENGTHS = range(5, 23)
"""How many characters a statement descriptor has, by the vendor's rules."""

LONGEST_NAME = 100
"""Characters of a configuration's name, by the vendor's published description."""

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_DESCRIPTOR = re.compile(r"(?=.*[A-Za-z])[ !#-&(-)+-;=?-\[\]-~]+")
_FILE = re.compile(r"file_[A-Za-z0-9]+")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field with its present value and its new one; None where it is missing."""

    field: str
    now: str | None
    then: str


@dataclass(frozen=True, slots=True)
class AccountProposal:
    """An intent that waits for the owner's signature, with its difference."""

    intent: Intent
    changes: tuple[FieldChange, ...]


class AccountBody(BaseModel):
    """A body of an intent."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BrandingBody(AccountBody):
    """The body, and the `before`, of an intent to change the branding, by the names of `BRANDING`."""

    branding: dict[str, str | None]

    def changes_to(self, then: "BrandingBody") -> list[FieldChange]:
        """Return what differs in another."""
        pairs = ((name, self.branding.get(name), value) for name, value in then.branding.items())
        return [FieldChange(name, now, value) for name, now, value in pairs if value is not None and now != value]


class ConfigurationBody(AccountBody):
    """The body, and the `before`, of an intent about a configuration.

    `known` are the ids of the existing configurations: only before a creation.
    """

    methods: dict[str, bool] = {}
    name: str | None = None
    active: bool | None = None
    parent: str | None = None
    known: list[str] | None = None

    def changes_to(self, then: "ConfigurationBody") -> list[FieldChange]:
        """Return what differs in another."""
        changes = [
            FieldChange("name", self.name, then.name or ""),
            FieldChange("parent", self.parent, then.parent or ""),
            FieldChange("active", _yes(self.active), _yes(then.active) or ""),
        ]
        for slug, on in then.methods.items():
            changes.append(FieldChange(slug, _switch(self.methods.get(slug)), _switch(on) or ""))
        return [one for one in changes if one.then and one.then != one.now]


class AccountDesk:
    """Proposes changes to the account and its payment method configurations, and carries out approved ones."""

    def __init__(self, reads: ProcessorReads, writes: ProcessorWrites, approvals: Approvals) -> None:
        self._reads = reads
        self._writes = writes
        self._approvals = approvals

    def operations(self) -> list[Operation]:
        """Return what may be done with an approval."""
        return [
            Operation(UPDATE_BRANDING, self._update_branding, self._has_branding),
            Operation(CREATE_CONFIGURATION, self._create, self._has_created),
            Operation(UPDATE_CONFIGURATION, self._update, self._has_updated),
        ]

    async def propose_branding(self, wanted: Mapping[str, str], reason: str) -> AccountProposal:
        """Propose new branding, by the names of `BRANDING`; raise `Invalid` for a wrong or unchanged value."""
        checked = {name: checked_branding(name, value) for name, value in wanted.items()}
        if not checked:
            raise Invalid("Name what shall change.")
        account, wished = await self._reads.get_account(), BrandingBody(branding={**checked})
        changes = _branding_values(account, wished).changes_to(wished)
        if not changes:
            raise Invalid("Nothing would change: the account has these values already.")
        body = BrandingBody(branding={one.field: one.then for one in changes})
        before = BrandingBody(branding={one.field: one.now for one in changes})
        return await self._propose(UPDATE_BRANDING, account.id, body, before, changes, reason)

    async def propose_configuration(
        self, wanted: ConfigurationPatch, parent: str | None, reason: str
    ) -> AccountProposal:
        """Propose a new configuration; raise `Invalid` when its name is taken or a method unknown."""
        there = await self._configurations()
        name = _checked_name(wanted.name or "")
        if taken := [one.id for one in there if one.name == name]:
            raise Invalid(f"There is a configuration named {name!r} already: {', '.join(taken)}.")
        if parent is not None:
            _ = _find(there, parent)
        methods = _checked_methods(wanted, {slug for one in there for slug in one.methods})
        if not methods:
            raise Invalid("Name at least one method to switch on.")
        body = ConfigurationBody(methods=methods, name=name, parent=parent)
        before = ConfigurationBody(known=sorted(one.id for one in there))
        return await self._propose(CREATE_CONFIGURATION, name, body, before, before.changes_to(body), reason)

    async def propose_configuration_change(
        self, configuration_id: str, wanted: ConfigurationPatch, reason: str
    ) -> AccountProposal:
        """Propose to change a configuration; raise `Invalid` for a wrong or unchanged value."""
        current = _find(await self._configurations(), configuration_id)
        name = None if wanted.name is None else _checked_name(wanted.name)
        asked = _checked_methods(wanted, current.methods)
        methods = {slug: on for slug, on in asked.items() if current.methods[slug] != on}
        body = ConfigurationBody(
            methods=methods,
            name=name if name != current.name else None,
            active=wanted.active if wanted.active != current.active else None,
        )
        before = _configuration_values(current, body)
        changes = before.changes_to(body)
        if not changes:
            raise Invalid("Nothing would change: the configuration is so already.")
        return await self._propose(UPDATE_CONFIGURATION, current.id, body, before, changes, reason)

    async def _update_branding(self, intent: Intent, target: str) -> str:
        """Change the branding; raise `Invalid` when the present values are not those of the proposal."""
        body, before = BrandingBody.model_validate(intent.body), BrandingBody.model_validate(intent.before)
        _require_same(await _read(self._branding(target, body)), before)
        named = {name: value for name, value in body.branding.items() if value is not None}
        changed = await self._writes.update_account(named)
        return _difference_text(before.changes_to(_branding_values(changed, body)))

    async def _has_branding(self, intent: Intent, target: str) -> bool:
        """Return whether the branding has the proposed values."""
        body = BrandingBody.model_validate(intent.body)
        return await self._branding(target, body) == body

    async def _create(self, intent: Intent, target: str) -> str:
        """Create the configuration; raise `Invalid` when others are there than when it was proposed."""
        body, before = (
            ConfigurationBody.model_validate(intent.body),
            ConfigurationBody.model_validate(intent.before),
        )
        there = await _read(self._configurations())
        _require_same(ConfigurationBody(known=sorted(one.id for one in there)), before)
        made = await self._writes.create_configuration(
            target, body.methods, parent=body.parent, idempotency_key=f"orrery-{intent.id}"
        )
        return f"{made.id}: {_difference_text(before.changes_to(_configuration_values(made, body)))}"

    async def _has_created(self, intent: Intent, target: str) -> bool:
        """Return whether a configuration of that name has come: the name was free when it was proposed."""
        before = ConfigurationBody.model_validate(intent.before)
        there = await self._configurations()
        return any(one.name == target and one.id not in (before.known or []) for one in there)

    async def _update(self, intent: Intent, target: str) -> str:
        """Change the configuration; raise `Invalid` when its present values are not those of the proposal."""
        body, before = (
            ConfigurationBody.model_validate(intent.body),
            ConfigurationBody.model_validate(intent.before),
        )
        current = _find(await _read(self._configurations()), target)
        _require_same(_configuration_values(current, body), before)
        changed = await self._writes.update_configuration(
            target, body.methods, name=body.name, active=body.active, idempotency_key=f"orrery-{intent.id}"
        )
        return _difference_text(before.changes_to(_configuration_values(changed, body)))

    async def _has_updated(self, intent: Intent, target: str) -> bool:
        """Return whether the configuration has the proposed values."""
        body = ConfigurationBody.model_validate(intent.body)
        return any(
            one.id == target and _configuration_values(one, body) == body for one in await self._configurations()
        )

    async def _branding(self, account_id: str, named: BrandingBody) -> BrandingBody:
        account = await self._reads.get_account()
        if account.id != account_id:
            raise Invalid(f"The API key belongs to another account: {account.id}.")
        return _branding_values(account, named)

    async def _configurations(self) -> list[Configuration]:
        found, unread = split_unreadable([one async for one in self._reads.list_configurations()])
        if unread:  # which one would be changed, and which are there, must be known
            raise unread[0]
        return found

    async def _propose(
        self,
        operation: str,
        target: str,
        body: AccountBody,
        before: AccountBody,
        changes: Sequence[FieldChange],
        reason: str,
    ) -> AccountProposal:
        draft = IntentDraft(
            operation,
            target,
            body.model_dump(mode="json", exclude_defaults=True),
            f"{_DONE[operation].format(target)}: {', '.join(one.field for one in changes)}",
            reason,
            before=before.model_dump(mode="json", exclude_defaults=True),
        )
        return AccountProposal(await self._approvals.propose(draft), tuple(changes))


def checked_branding(name: str, value: str) -> str:
    """Return the value of a field of `BRANDING` as it is sent; raise `Invalid` when the vendor would refuse it."""
    value = value.strip()
    match name.rpartition(".")[2]:
        case "primary_color" | "secondary_color" if not _COLOUR.fullmatch(value):
            raise Invalid(f"{value!r} is no colour such as #1d4ed8.")
        case "primary_color" | "secondary_color":
            return value.lower()
        case "statement_descriptor" if len(value) not in DESCRIPTOR_LENGTHS or not _DESCRIPTOR.fullmatch(value):
            raise Invalid(
                "A statement descriptor has 5 to 22 Latin characters, with a letter, and none of < > \\ ' \" *."
            )
        case "url" | "support_url" if not _is_web_address(value):
            raise Invalid(f"{value!r} is no address that begins with https://.")
        case "support_email" if not is_email_address(value):
            raise Invalid("That is no e-mail address.")
        case "icon" | "logo" if not _FILE.fullmatch(value):
            raise Invalid(f"{value!r} is no id of an uploaded file, such as file_1Nabc.")
        case _ if name not in BRANDING:
            raise Invalid(f"{name!r} is no field of the branding.")
        case _:
            return _checked_name(value)


def _is_web_address(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    host = parts.hostname or ""
    return parts.scheme == "https" and "." in host and "@" not in parts.netloc and value.isprintable()


def _checked_name(value: str) -> str:
    name = value.strip()
    if not is_line(name, LONGEST_NAME):
        raise Invalid(f"A name has 1 to {LONGEST_NAME} characters, all of them printable.")
    return name


def _checked_methods(wanted: ConfigurationPatch, known: Iterable[str]) -> dict[str, bool]:
    if both := sorted(set(wanted.on) & set(wanted.off)):
        raise Invalid(f"Switched on and off at once: {', '.join(both)}.")
    methods = dict.fromkeys(wanted.on, True) | dict.fromkeys(wanted.off, False)
    if unknown := sorted(set(methods) - set(known)):
        raise Invalid(
            f"The account knows no payment method {', '.join(unknown)}. It knows {', '.join(sorted(known))}."
        )
    return methods


def _find(configurations: Sequence[Configuration], configuration_id: str) -> Configuration:
    for one in configurations:
        if one.id == configuration_id:
            return one
    raise NotFound(f"There is no configuration {configuration_id!r}.")


async def _read(reading: Awaitable[T]) -> T:
    """Return the values before a change; an unreadable object is no lost answer, since nothing was sent."""
    try:
        return await reading
    except ProcessorUnreachable as error:
        raise Invalid(f"Nothing was changed: the present values could not be read. {error}") from error


def _require_same(now: AccountBody, before: AccountBody) -> None:
    if now != before:
        raise Invalid(
            "Nothing was changed: the account has other values than when this was proposed. Propose it again."
        )


def _branding_values(account: ProcessorAccount, named: BrandingBody) -> BrandingBody:
    return BrandingBody(branding={name: account.branding.get(name) for name in named.branding})


def _configuration_values(configuration: Configuration, named: ConfigurationBody) -> ConfigurationBody:
    """Return a configuration's values of the fields in `named`."""
    methods = configuration.methods
    return ConfigurationBody(
        methods={slug: methods[slug] for slug in named.methods if slug in methods},
        name=None if named.name is None else configuration.name,
        active=None if named.active is None else configuration.active,
        parent=None if named.parent is None else configuration.parent,
    )


def _difference_text(changes: Sequence[FieldChange]) -> str:
    differences = ", ".join(f"{one.field} {one.now or 'nothing'} -> {one.then}" for one in changes)
    return f"{differences}." if differences else "The processor took it and shows no difference."


def _switch(on: bool | None) -> str | None:  # noqa: FBT001  a method is on, off or not known
    return None if on is None else "on" if on else "off"


def _yes(active: bool | None) -> str | None:  # noqa: FBT001  the same
    return None if active is None else "yes" if active else "no"

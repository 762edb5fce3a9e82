"""An account at the processor, in memory: an adapter of both ports, as far as the account goes."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace

from orrery.errors import OrreryError
from orrery.ports.processor import Configuration, ProcessorAccount, ProcessorReads, ProcessorWrites

METHODS = {"card": True, "link": True, "ideal": False}


def configuration(name: str = "Standard", **other: object) -> Configuration:
    """Return a configuration with card and link on, with other fields where given."""
    fields: dict[str, object] = {
        "id": f"pmc_{name.lower()}",
        "is_default": False,
        "active": True,
        "parent": None,
        "methods": dict(METHODS),
    }
    return Configuration(name=name, **(fields | other))  # pyright: ignore[reportArgumentType]  any field of one


@dataclass
class OneAccount(ProcessorReads, ProcessorWrites):
    """One account. `trouble_before` and `trouble_after` are raised, one a change, before it is made and after.

    `unreadable` are raised, one a look.
    """

    account: ProcessorAccount = field(
        default_factory=lambda: ProcessorAccount(
            "acct_1",
            "nzd",
            "NZ",
            {"business_profile.name": "Northwind", "settings.branding.primary_color": "#1d4ed8"},
        )
    )
    configurations: list[Configuration] = field(default_factory=lambda: [configuration()])
    trouble_before: list[OrreryError] = field(default_factory=list[OrreryError])
    trouble_after: list[OrreryError] = field(default_factory=list[OrreryError])
    unreadable: list[OrreryError] = field(default_factory=list[OrreryError])
    keys: list[str] = field(default_factory=list[str])
    """The idempotency keys of what was changed, in order."""

    async def get_account(self) -> ProcessorAccount:
        """Return the account."""
        self._look()
        return self.account

    async def list_configurations(self) -> AsyncIterator[Configuration]:
        """Yield the configurations."""
        self._look()
        for one in list(self.configurations):
            yield one

    async def update_account(self, branding: Mapping[str, str]) -> ProcessorAccount:
        """Change the branding."""
        with_trouble(self.trouble_before)
        self.account = replace(self.account, branding={**self.account.branding, **branding})
        with_trouble(self.trouble_after)
        return self.account

    async def create_configuration(
        self, name: str, methods: Mapping[str, bool], *, parent: str | None, idempotency_key: str
    ) -> Configuration:
        """Create a configuration; what is not named is off."""
        with_trouble(self.trouble_before)
        self.keys.append(idempotency_key)
        made = configuration(name, parent=parent, methods=dict.fromkeys(METHODS, False) | dict(methods))
        self.configurations.insert(0, made)
        with_trouble(self.trouble_after)
        return made

    async def update_configuration(
        self,
        configuration_id: str,
        methods: Mapping[str, bool],
        *,
        name: str | None,
        active: bool | None,
        idempotency_key: str,
    ) -> Configuration:
        """Change a configuration."""
        with_trouble(self.trouble_before)
        self.keys.append(idempotency_key)
        (at,) = [number for number, one in enumerate(self.configurations) if one.id == configuration_id]
        there = self.configurations[at]
        self.configurations[at] = replace(
            there,
            methods={**there.methods, **methods},
            name=there.name if name is None else name,
            active=there.active if active is None else active,
        )
        with_trouble(self.trouble_after)
        return self.configurations[at]

    def _look(self) -> None:
        with_trouble(self.unreadable)


def with_trouble(troubles: list[OrreryError]) -> None:
    """Raise the trouble that is next, if there is one."""
    if troubles:
        raise troubles.pop(0)

"""A module of Orrery as plain data: the names that all code may use, and where its code is.

Importing every module's data imports none of its code: a command loads the code that it uses, and nothing else.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from orrery.runtime.former_names import FormerName

Role = Literal["site", "cockpit", "guest", "cloud", "scan"]
"""The role of a process (decision 40): it loads the sections and secrets of its role only."""

SITE: frozenset[Role] = frozenset({"site"})


@dataclass(frozen=True, slots=True)
class Named:
    """A section of the settings, or a secret: its name is known to every role, its target is loaded by `roles`.

    The target of a section is its class, that of a secret its `SecretKind`.
    """

    name: str
    target: str
    roles: frozenset[Role] = SITE
    former: tuple[FormerName, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that is read: today's, and those of before."""
        return (self.name, *(one.old for one in self.former))


@dataclass(frozen=True, slots=True)
class Command:
    """A command or a group of commands, by the words that call it.

    `plain`: the target takes the arguments, and in the role scan its deployment, and returns the exit code,
    without typer; a group of such commands has no target. `whole`: the command uses the
    services of every module, not only its own and those of its needs.
    """

    name: str
    summary: str
    target: str
    role: Role = "site"
    plain: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Module:
    """One module. Each target is written `package.module:name`.

    `reads` are sections of other modules that it reads, and the names of their
    secrets; `ports` are what it may ask of the outside; `needs` are
    what other modules provide to it. Its `Runtime` refuses everything else. `build` is called with that `Runtime`,
    and returns the module's `Parts`. The names of sections, secrets and commands, and the prefixes of the keys in
    the store, are unique over all modules. `identity` are the settings, as `section.key`, whose change makes the
    deployment another one. `retired_sections` and `retired_secrets` had a place in earlier releases.
    """

    name: str
    roles: frozenset[Role] = SITE
    sections: tuple[Named, ...] = ()
    secrets: tuple[Named, ...] = ()
    retired_sections: tuple[FormerName, ...] = ()
    retired_secrets: tuple[FormerName, ...] = ()
    commands: tuple[Command, ...] = ()
    reads: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    build: str = ""


def load(target: str) -> Any:  # noqa: ANN401  the caller knows what its target is
    """Return what a target names: the only dynamic import of the package."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def target_of(kind: type) -> str:
    """Return the target that names a class."""
    return f"{kind.__module__}:{kind.__qualname__}"

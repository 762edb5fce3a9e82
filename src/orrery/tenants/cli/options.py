"""The options and ports of every command that acts for an account."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.errors import Invalid

if TYPE_CHECKING:
    from orrery.runtime.console.runner import Runner
    from orrery.tenants.sign_ins import SignIns

Named = Annotated[
    list[str],
    typer.Option(
        "--account",
        metavar="NAME",
        help="The account, such as ann@corp.example; the part ahead of the @ will do where it fits one.",
    ),
]
"""There is no default: every use names the account (spec 3, Authentication 4)."""


def only(given: Sequence[str]) -> str:
    """Return the one account that a call names; raise `Invalid` for several, of which the last would win."""
    if len(given) != 1:
        raise Invalid("--account is there more than once: name one account.")
    return given[0]


def sign_ins_of(runner: "Runner") -> "SignIns":
    """Return the sign-ins of the deployment; its store is not opened."""
    from orrery.ports.clock import Clock  # noqa: PLC0415  `--help` needs none of these
    from orrery.ports.identity import IdentityProvider, SignInFiles  # noqa: PLC0415  the same
    from orrery.tenants.settings import TenantsSettings  # noqa: PLC0415  the same
    from orrery.tenants.sign_ins import SignIns  # noqa: PLC0415  the same

    settings = runner.section(TenantsSettings)
    return SignIns(settings, runner.port(IdentityProvider), runner.port(SignInFiles), runner.port(Clock))

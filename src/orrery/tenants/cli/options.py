"""The option of every command that acts for an account."""

from collections.abc import Sequence
from typing import Annotated

import typer

from orrery.errors import Invalid

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

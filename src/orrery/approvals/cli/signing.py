"""The owner signs an intent at the terminal, for every command that asks for it (decision 15)."""

import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from orrery.approvals.cli import approvals_of
from orrery.approvals.cli.approval_pages import print_intent, print_outcome
from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.ports.signatures import OwnerKeys
from orrery.runtime.console.ending import BROKEN, end_broken
from orrery.runtime.console.runner import Runner, Services
from orrery.runtime.console.tables import note
from orrery.runtime.console.terminal import new_console

if TYPE_CHECKING:
    from orrery.approvals.approvals import KnownIntent

_WELL = ("done", "approved")

_AT_ONCE = "With your yes, this is done at once."
_LATER = "With your yes, nothing is done at once: for 24 hours, the command that asked may use your approval."


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the owner is asked to sign, at this time, and the keys to sign with."""

    proposal: "KnownIntent"
    is_standing: bool
    now: datetime
    keys: OwnerKeys


def sign_intent(
    runner: Runner,
    intent_id: str,
    *,
    key: Path | None = None,
    signed: tuple[bytes, bytes] | None = None,
    goes_on: str = "",
) -> None:
    """Show an intent, sign it with `key` or [approvals] signing_key, carry it out, and print the outcome.

    `signed` is a statement with its signature from another machine. `goes_on` describes what the calling command
    does with a standing approval, once it is signed. Raises `typer.Exit` with 1 when the owner does not sign, or
    the operation is not carried out; `Invalid`, `NotFound` and `NotConfigured`.
    """
    asked = runner.run(lambda services: _look_up(services, intent_id))
    print_intent(asked.proposal, asked.now, for_signing=True)
    given = signed or _signed(runner, asked, key, goes_on or (_LATER if asked.is_standing else _AT_ONCE))
    progress = runner.run(lambda services: approvals_of(services).sign(intent_id, *given))
    print_outcome(progress, goes_on=bool(goes_on))
    end_broken(when=progress.state not in _WELL)


async def _look_up(services: Services, intent_id: str) -> _Asked:
    approvals = approvals_of(services)
    found = await approvals.proposal(intent_id)
    return _Asked(found, approvals.is_standing(found.intent), services[Clock].now(), services[OwnerKeys])


def refuse_for_machines(*, sign: bool, as_json: bool) -> None:
    """Raise `Invalid` when both options are given: a person must read what is signed."""
    if sign and as_json:
        raise Invalid("--sign shows what is signed, for a person: give --json without it.")


async def statement_of(services: Services, found: "KnownIntent") -> bytes:
    """Return the text to be signed now."""
    return approvals_of(services).statement(found.intent).to_bytes()


def _signed(runner: Runner, asked: _Asked, key: Path | None, follows: str) -> tuple[bytes, bytes]:
    """Return a statement about the shown intent, and its signature, once the owner has agreed."""
    if (state := asked.proposal.in_words(asked.now)) != "waiting":
        raise Invalid(f"There is nothing to sign: the intent is {state}.")
    chosen = asked.keys.signing_key(key)
    note(follows)
    if not _is_agreed():
        note("Nothing was signed.")
        raise typer.Exit(BROKEN)
    statement = runner.run(lambda services: statement_of(services, asked.proposal))
    return statement, asked.keys.sign(statement, chosen)


def _is_agreed() -> bool:
    """Ask for a plain yes, away from a terminal too: an unattended run never signs (decision 15)."""
    new_console(stderr=True).print("Type yes to sign this: ", end="")
    return sys.stdin.readline().strip() == "yes"

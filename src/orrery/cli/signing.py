"""The owner signs an intent at the terminal, for every command that asks for it (decision 15)."""

import sys
from pathlib import Path

import typer

from orrery.adapters.ssh_keygen import SshKeygen
from orrery.app import clock_of
from orrery.checkout.operations import EXPIRE_PREFLIGHT_SESSIONS
from orrery.cli.approval_pages import print_intent, print_outcome
from orrery.cli.services import configured, with_services
from orrery.cli.tables import note
from orrery.cli.terminal import new_console
from orrery.errors import Invalid, NotConfigured
from orrery.owner.approvals import Proposal
from orrery.owner.intents import NAMESPACE, Intent, Statement
from orrery.settings import Settings

_WELL = ("done", "approved")


_AT_ONCE = "With your yes, this is done at once."
_LATER = "With your yes, nothing is done at once: for 24 hours, a preflight may expire its test sessions."


def sign_intent(
    config: Path | None,
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
    settings, _ = configured(config, quiet=True)
    found = with_services(config, lambda orrery: orrery.approvals.proposal(intent_id))
    print_intent(found, clock_of(settings).now(), for_signing=True)
    follows = goes_on or (_LATER if found.intent.operation == EXPIRE_PREFLIGHT_SESSIONS else _AT_ONCE)
    given = signed or _signed(settings, found, key, follows)
    progress = with_services(config, lambda orrery: orrery.approvals.sign(intent_id, *given))
    print_outcome(progress, goes_on=bool(goes_on))
    if progress.state not in _WELL:
        raise typer.Exit(1)


def refuse_for_machines(*, sign: bool, as_json: bool) -> None:
    """Raise `Invalid` when both options are given: a person must read what is signed."""
    if sign and as_json:
        raise Invalid("--sign shows what is signed, for a person: give --json without it.")


def statement_of(settings: Settings, intent: Intent) -> bytes:
    """Return the text to be signed now."""
    return Statement(intent.id, intent.digest(), clock_of(settings).now()).to_bytes()


def _signed(settings: Settings, found: Proposal, key: Path | None, follows: str) -> tuple[bytes, bytes]:
    """Return a statement about the shown intent, and its signature, once the owner has agreed."""
    approvals, state = settings.approvals, found.in_words(clock_of(settings).now())
    chosen = key or approvals.signing_key
    if state != "waiting":
        raise Invalid(f"There is nothing to sign: the intent is {state}.")
    if not approvals.owner_keys:
        raise NotConfigured("No key of the owner is configured: see [approvals] owner_keys.")
    if chosen is None:
        raise NotConfigured("No key to sign with: give --key FILE, or set [approvals] signing_key.")
    note(follows)
    if not _is_agreed():
        note("Nothing was signed.")
        raise typer.Exit(1)
    statement = statement_of(settings, found.intent)
    return statement, SshKeygen(approvals.owner_keys, NAMESPACE).sign(statement, chosen.expanduser())


def _is_agreed() -> bool:
    """Ask for a plain yes, away from a terminal too: a run that nobody attends never signs (decision 15)."""
    new_console(stderr=True).print("Type yes to sign this: ", end="")
    return sys.stdin.readline().strip() == "yes"

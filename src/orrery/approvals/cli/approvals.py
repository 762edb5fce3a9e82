"""`orrery approvals`: the intents that wait for approval, the owner's signature, and the log (decision 15)."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orrery.approvals.cli import approvals_of
from orrery.approvals.cli.approval_pages import intent_row, log_row, print_intent, print_outcome, verdict
from orrery.approvals.cli.signing import sign_intent, statement_of
from orrery.approvals.public_keys import public_key
from orrery.errors import Invalid, RecordUnreadable, words_of
from orrery.ports.clock import Clock
from orrery.ports.signatures import LONGEST, OwnerKeys
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson, Newest, Reason
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import Row, note, of_all, show, show_json

if TYPE_CHECKING:
    from orrery.approvals.approvals import KnownIntent
    from orrery.approvals.audit import AuditResult

group = typer.Typer(no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The intent's id; see the list.", metavar="ID")]

_OPEN = ("waiting", "under way", "unknown", "in force")


@group.command("list")
def list_intents(
    every: Annotated[bool, typer.Option("--all", help="Also what is done, failed, withdrawn or void.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List what waits for your approval, or has no known outcome."""

    async def read(services: Services) -> tuple[list[Row], list[RecordUnreadable]]:
        now = services[Clock].now()
        found = [intent_row(one, now) for one in await approvals_of(services).proposals()]
        damaged = await approvals_of(services).unreadable_records()
        return sorted(found, key=lambda row: row["state"] != "waiting"), damaged

    found, damaged = runner.run(read)
    rows = [row for row in found if every or row["state"] in _OPEN]
    columns = ("id", "state", "operation", "summary", "proposed_at", "proposed_by")
    show(rows, columns, as_json=as_json, empty="Nothing waits for your approval.", unreadable=damaged)


@group.command("show")
def show_intent(
    intent_id: Id,
    statement: Annotated[bool, typer.Option("--statement", help="Print only what is to be signed now.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Show everything about an intent, or exactly the bytes to be signed."""

    async def read(services: Services) -> "tuple[KnownIntent, datetime, bytes]":
        found = await approvals_of(services).proposal(intent_id)
        return found, services[Clock].now(), await statement_of(services, found)

    found, now, text = runner.run(read)
    if statement:
        _ = sys.stdout.buffer.write(text)
    elif as_json:
        show_json(intent_row(found, now))
    else:
        print_intent(found, now)


@group.command()
def sign(
    intent_id: Id,
    key: Annotated[Path | None, typer.Option(help="Your key; default: signing_key in the settings.")] = None,
    statement: Annotated[Path | None, typer.Option(help="What was signed elsewhere.")] = None,
    signature: Annotated[Path | None, typer.Option(help="Its signature.")] = None,
    *,
    runner: Handed,
) -> None:
    """Approve an intent by your signature; it is then carried out at once."""
    if (statement is None) != (signature is None) or (key and signature):
        raise Invalid("Give --statement and --signature together, without --key; or none of them.")
    signed = (_read(statement), _read(signature)) if statement and signature else None
    sign_intent(runner, intent_id, key=key, signed=signed)


@group.command()
def settle(intent_id: Id, *, runner: Handed) -> None:
    """Find out at the processor what became of an intent whose answer was lost; nothing is repeated."""
    print_outcome(runner.run(lambda services: approvals_of(services).settle(intent_id)))


@group.command()
def close(intent_id: Id, reason: Reason, *, runner: Handed) -> None:
    """Close an intent whose outcome cannot be found out; nothing is read or carried out."""
    runner.run(lambda services: approvals_of(services).close(intent_id, reason))
    note("It is closed; in the log its outcome stays unknown.")


@group.command()
def withdraw(intent_id: Id, *, runner: Handed) -> None:
    """Take back an intent that was not signed, or end a standing approval."""
    _ = runner.run(lambda services: approvals_of(services).withdraw(intent_id))
    note("It is withdrawn.")


@group.command()
def log(
    limit: Newest = 50,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Show the approval log, the newest entry first."""

    async def read(services: Services) -> tuple[list[Row], int]:
        from orrery.approvals.audit import erased_as_proposed  # noqa: PLC0415  it loads what reads the store

        known = {one.intent.id: one for one in await approvals_of(services).proposals()}
        entries = [entry async for entry in approvals_of(services).log.entries()]
        erased = erased_as_proposed([entry for entry in entries if entry])
        return [log_row(entry, known, erased) for entry in reversed(entries[-limit:])], len(entries)

    columns = ("number", "at", "kind", "operation", "intent", "target", "reason", "note", "signer")
    rows, total = runner.run(read)
    show(rows, columns, as_json=as_json, empty="The log is empty.", more=of_all(len(rows), total))


@group.command()
def verify(
    head: Annotated[
        str | None, typer.Option(help="A head from an earlier push, such as 12:0123456789abcdef.")
    ] = None,
    old_key: Annotated[
        list[Path] | None, typer.Option(help="A public key of yours that is no longer in the settings.")
    ] = None,
    *,
    runner: Handed,
) -> None:
    """Check the whole log: whether an entry was altered, inserted or removed."""
    from orrery.approvals.audit import read_head  # noqa: PLC0415  it loads what reads the store

    remembered = None if head is None else read_head(head)
    old_keys = list(map(_old_key, old_key or []))

    async def run(services: Services) -> "AuditResult":
        return await approvals_of(services).verify(remembered, services[OwnerKeys].signatures(old_keys))

    verified = runner.run(run)
    for sentence in verdict(verified, remembered):
        typer.echo(sentence)
    end_broken(when=not verified.holds)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as content:
            return content.read(LONGEST + 1)
    except OSError as error:
        raise Invalid(f"{file.name} cannot be read: {words_of(error)}.") from None


def _old_key(file: Path) -> str:
    try:
        return public_key(_read(file).decode("utf-8-sig"))
    except (UnicodeDecodeError, Invalid) as error:
        why = str(error) if isinstance(error, Invalid) else "it is not text"
        raise Invalid(f"{file.name} is no public key: {why.removesuffix('.')}.") from None

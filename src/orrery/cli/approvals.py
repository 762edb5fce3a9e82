"""`orrery approvals`: the intents that wait for approval, the owner's signature, and the log (decision 15)."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.ssh_keygen import LONGEST, SshKeygen
from orrery.app import Orrery, clock_of
from orrery.cli.approval_pages import intent_row, log_row, print_intent, print_outcome, verdict
from orrery.cli.services import AsJson, Config, Reason, configured, with_services
from orrery.cli.signing import sign_intent, statement_of
from orrery.cli.tables import Row, note, show
from orrery.errors import Invalid, RecordUnreadable
from orrery.owner.audit import AuditResult, erased_as_proposed, read_head
from orrery.owner.intents import NAMESPACE
from orrery.owner.public_keys import public_key
from orrery.runtime.collection import unreadable

group = typer.Typer(no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The intent's id; see the list.", metavar="ID")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="How many, the newest first.")]

_OPEN = ("waiting", "under way", "unknown", "in force")


@group.command("list")
def list_intents(
    every: Annotated[bool, typer.Option("--all", help="Also what is done, failed, withdrawn or void.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """List what waits for your approval, or has no known outcome."""

    async def read(orrery: Orrery) -> tuple[list[Row], list[RecordUnreadable]]:
        now = orrery.clock.now()
        found = [intent_row(one, now) for one in await orrery.approvals.proposals()]
        damaged = [unreadable(entry.key) for entry in await orrery.approvals.unreadable()]
        return sorted(found, key=lambda row: row["state"] != "waiting"), damaged

    found, damaged = with_services(config, read)
    rows = [row for row in found if every or row["state"] in _OPEN]
    columns = ("id", "state", "operation", "summary", "proposed_at", "proposed_by")
    show(rows, columns, as_json=as_json, empty="Nothing waits for your approval.", unreadable=damaged)


@group.command("show")
def show_intent(
    intent_id: Id,
    statement: Annotated[bool, typer.Option("--statement", help="Print only what is to be signed now.")] = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """Show everything about an intent, or exactly the bytes to be signed."""
    settings, _ = configured(config, quiet=True)
    found = with_services(config, lambda orrery: orrery.approvals.proposal(intent_id))
    if statement:
        sys.stdout.buffer.write(statement_of(settings, found.intent))
    else:
        print_intent(found, clock_of(settings).now())


@group.command()
def sign(
    intent_id: Id,
    key: Annotated[Path | None, typer.Option(help="Your key; default: signing_key in the settings.")] = None,
    statement: Annotated[Path | None, typer.Option(help="What was signed elsewhere.")] = None,
    signature: Annotated[Path | None, typer.Option(help="Its signature.")] = None,
    config: Config = None,
) -> None:
    """Approve an intent by your signature; it is then carried out at once."""
    if (statement is None) != (signature is None) or (key and signature):
        raise Invalid("Give --statement and --signature together, without --key; or none of them.")
    signed = (_read(statement), _read(signature)) if statement and signature else None
    sign_intent(config, intent_id, key=key, signed=signed)


@group.command()
def settle(intent_id: Id, config: Config = None) -> None:
    """Find out at the processor what became of an intent whose answer was lost; nothing is repeated."""
    print_outcome(with_services(config, lambda orrery: orrery.approvals.settle(intent_id)))


@group.command()
def close(intent_id: Id, reason: Reason, config: Config = None) -> None:
    """Close an intent whose outcome nobody can find out; nothing is read or carried out."""
    with_services(config, lambda orrery: orrery.approvals.close(intent_id, reason))
    note("It is closed; the log says that its outcome is not known.")


@group.command()
def withdraw(intent_id: Id, config: Config = None) -> None:
    """Take back an intent that was not signed, or end a standing approval."""
    with_services(config, lambda orrery: orrery.approvals.withdraw(intent_id))
    note("It is withdrawn.")


@group.command()
def log(
    limit: Limit = 50,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """Show the approval log, the newest entry first."""

    async def read(orrery: Orrery) -> list[Row]:
        known = {one.intent.id: one for one in await orrery.approvals.proposals()}
        entries = [entry async for entry in orrery.approvals.log.entries()]
        erased = erased_as_proposed([entry for entry in entries if entry])
        return [log_row(entry, known, erased) for entry in reversed(entries[-limit:])]

    columns = ("number", "at", "kind", "operation", "intent", "target", "reason", "note", "signer")
    show(with_services(config, read), columns, as_json=as_json, empty="The log is empty.")


@group.command()
def verify(
    head: Annotated[
        str | None, typer.Option(help="A head from an earlier push, such as 12:0123456789abcdef.")
    ] = None,
    old_key: Annotated[
        list[Path] | None, typer.Option(help="A public key of yours that is no longer in the settings.")
    ] = None,
    config: Config = None,
) -> None:
    """Check the whole log: whether an entry was altered, inserted or removed."""
    settings, _ = configured(config, quiet=True)
    remembered = None if head is None else read_head(head)
    signatures = SshKeygen([*settings.approvals.owner_keys, *map(_old_key, old_key or [])], NAMESPACE)

    async def run(orrery: Orrery) -> AuditResult:
        return await orrery.approvals.verify(remembered, signatures)

    verified = with_services(config, run)
    for sentence in verdict(verified, remembered):
        typer.echo(sentence)
    if not verified.holds:
        raise typer.Exit(1)


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as content:
            return content.read(LONGEST + 1)
    except OSError as error:
        raise Invalid(f"{file.name} cannot be read ({type(error).__name__}).") from None


def _old_key(file: Path) -> str:
    try:
        return public_key(_read(file).decode().strip())
    except (UnicodeDecodeError, Invalid) as error:
        why = str(error) if isinstance(error, Invalid) else "it is not text"
        raise Invalid(f"{file.name} is no public key: {why.removesuffix('.')}.") from None

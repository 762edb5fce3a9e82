"""`orrery access`: the access records for the owner, and the owner's changes."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from orrery.checkout.catalogue import product_of
from orrery.checkout.cli import checkout_of
from orrery.checkout.cli.moving_in import Retired, import_records, refuse_unknown
from orrery.checkout.records import AccessRecord, AccessState
from orrery.errors import Invalid, RecordUnreadable
from orrery.ports.clock import Clock
from orrery.runtime.console.options import AsJson, Newest, Reason
from orrery.runtime.console.runner import Handed, Runner, Services
from orrery.runtime.console.tables import Row, left_out, note, of_all, show, show_json
from orrery.runtime.references import References
from orrery.syntax.session_id import SESSION_ID

if TYPE_CHECKING:
    from orrery.checkout.access.desk import Desk
    from orrery.checkout.records import JournalEntry
    from orrery.runtime.collection import RecordPage

group = typer.Typer(no_args_is_help=True)

T = TypeVar("T")

Resend = Annotated[bool, typer.Option("--resend", help="Send the e-mail again, and drop the refused one.")]

NewLink = Annotated[
    bool,
    typer.Option("--new-link", help="End the former links, and close the access in all browsers."),
]

_NAMED = "A number, reference, session, charge, payment or e-mail address."

Session = Annotated[str, typer.Argument(help=_NAMED)]

_QUEUED = "The e-mail is queued; the running service delivers it."

_COLUMNS = ("number", "email", "title", "state", "expires", "paid")


@group.command("list")
def list_records(
    limit: Newest = 50,
    state: Annotated[AccessState | None, typer.Option(help="Only those in this state.")] = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List access records, the newest first."""

    async def read(services: Services) -> tuple[list[Row], list[RecordUnreadable], int]:
        desk, now, named = checkout_of(services).desk, services[Clock].now(), services[References]
        wanted: Callable[[AccessRecord], bool] | None = (lambda one: one.state_at(now) == state) if state else None
        found = await desk.newest(limit + 1, wanted)
        rows: list[Row] = [{**_names(one, named), **_row(one, now)} for one in found.values()]
        total = await desk.count(wanted) if len(rows) > limit else len(rows)
        return rows[:limit], [*found.unreadable], total

    rows, unreadable, total = runner.run(read)
    empty = f"No access record is {state}." if state else "No access record yet."
    more = of_all(len(rows), total)
    show(rows, _COLUMNS, as_json=as_json, empty=empty, unreadable=unreadable, more=more)


@group.command("show")
def show_record(
    who: Annotated[str, typer.Argument(help=_NAMED, metavar="SESSION|EMAIL")],
    *,
    runner: Handed,
) -> None:
    """Show everything about one session's or one buyer's access, as JSON."""

    async def read(services: Services) -> tuple[list[Row], list[RecordUnreadable]]:
        named = who if "@" in who else await checkout_of(services).lookup.named(who)
        found = await checkout_of(services).desk.find(named)
        named_by = services[References]
        records: list[Row] = [{**_names(one, named_by), **one.model_dump()} for one in found.values()]
        return records, [*found.unreadable]

    rows, unreadable = runner.run(read)
    show_json(rows)
    left_out(unreadable)


@group.command()
def resend(
    session: Session,
    reason: Reason,
    new_link: NewLink = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Send the buyer's e-mail once more."""
    _with_record(runner, session, lambda desk, named: desk.resend(named, reason, new_link=new_link))
    note(_QUEUED)


@group.command("change-email")
def change_email(
    session: Session,
    email: Annotated[str, typer.Argument(help="The new address.")],
    reason: Reason,
    resend: Resend = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Hand a record to another address of its buyer."""

    async def change(services: Services) -> None:
        checkout = checkout_of(services)
        named = await checkout.lookup.named(session)
        _ = await checkout.desk.change_email(named, email, reason)
        if resend:
            await checkout.desk.resend(named, reason)
            await checkout.in_need.drop(named)

    runner.run(change)
    note("The record has the new address.")
    if resend:
        note(_QUEUED)


@group.command()
def revoke(session: Session, reason: Reason, *, runner: Handed) -> None:
    """Take access back from now on."""
    shortened = _with_record(runner, session, lambda desk, named: desk.revoke(named, reason))
    note("The access is revoked.")
    for one in shortened:
        note(f"{one.session_id}, which it had lengthened, now ends on {one.expires_at:%d %B %Y}.")


@group.command()
def keep(session: Session, reason: Reason, *, runner: Handed) -> None:
    """Let access run on though its payment was refunded, or its dispute was lost."""
    _with_record(runner, session, lambda desk, named: desk.keep(named, reason))
    note("The access stays, and is no problem any more.")


@group.command()
def grant(
    email: Annotated[str, typer.Argument(help="The buyer's address.")],
    vendor: Annotated[str, typer.Option(help="The vendor slug.", show_default=False)],
    cert: Annotated[str, typer.Option(help="The certification code.", show_default=False)],
    reason: Reason,
    session: Annotated[str | None, typer.Option(help="A paid session that was refused, or its reference.")] = None,
    retired: Retired = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Open one year of access without a payment, and write to the buyer."""
    product = product_of(vendor, cert)

    async def write(services: Services) -> AccessRecord:
        named = await checkout_of(services).lookup.named(session) if session else None
        if named is not None and not SESSION_ID.fullmatch(named):
            raise Invalid("A session's id begins with cs_ and holds letters, digits and underscores.")
        refuse_unknown([product], services, retired=retired)
        return await checkout_of(services).desk.grant(email, product, reason, session_id=named)

    record = runner.run(write)
    note(f"Access until {record.expires_at:%d %B %Y}: {record.session_id}")


_ = group.command("import")(import_records)


@group.command()
def journal(
    limit: Newest = 50,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List what was changed by hand, and why."""

    async def read(services: Services) -> "tuple[RecordPage[JournalEntry], int]":
        desk = checkout_of(services).desk
        return await desk.journal(limit), await desk.journal_length()

    found, total = runner.run(read)
    rows: list[Row] = [entry.model_dump() | {"at": f"{entry.at:%Y-%m-%d %H:%M:%S}"} for entry in found.values()]
    columns = ("at", "action", "session_id", "reason")
    empty, more = "Nothing was changed by hand.", of_all(len(found.records) + len(found.unreadable), total)
    show(rows, columns, as_json=as_json, empty=empty, unreadable=found.unreadable, more=more)


def _with_record(runner: Runner, session: str, act: "Callable[[Desk, str], Awaitable[T]]") -> T:
    async def done(services: Services) -> T:
        return await act(checkout_of(services).desk, await checkout_of(services).lookup.named(session))

    return runner.run(done)


def _names(record: AccessRecord, references: References) -> Row:
    number = references.number_of(record.session_id, record.number)
    return {"reference": references.of(record.session_id), "number": number}


def _row(record: AccessRecord, now: datetime) -> Row:
    from orrery.checkout.access.notifications import amount  # noqa: PLC0415  it loads the outbox

    return record.model_dump() | {
        "product": record.product.name,
        "title": record.title or record.product.name,
        "state": record.state_at(now),
        "expires": f"{record.expires_at:%Y-%m-%d}",
        "paid": amount(record),
        "email": record.email or "erased",
    }

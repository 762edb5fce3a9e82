"""`orrery access`: the access records for the owner, and the owner's changes."""

import csv
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from orrery.checkout.catalogue import ProductKey, is_slug
from orrery.checkout.cli import checkout_of
from orrery.checkout.records import AccessRecord, AccessState
from orrery.errors import Invalid, RecordUnreadable, words_of
from orrery.ports.clock import Clock
from orrery.runtime.console.options import AsJson, Newest, Reason
from orrery.runtime.console.runner import Handed, Runner, Services
from orrery.runtime.console.tables import Row, left_out, note, show, show_json
from orrery.runtime.references import References
from orrery.syntax.session_id import SESSION_ID

if TYPE_CHECKING:
    from orrery.checkout.access.desk import AccessGrant, Desk

group = typer.Typer(no_args_is_help=True)

T = TypeVar("T")

Retired = Annotated[bool, typer.Option("--retired", help="Also for products that are not in the catalogue.")]

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

    async def read(services: Services) -> tuple[list[Row], list[RecordUnreadable]]:
        desk, now, named = checkout_of(services).desk, services[Clock].now(), services[References]
        found = await desk.newest(limit + 1, (lambda record: record.state_at(now) == state) if state else None)
        rows: list[Row] = [{**_names(one, named), **_row(one, now)} for one in found.values()]
        return rows, [*found.unreadable]

    rows, unreadable = runner.run(read)
    more = f"The newest {limit}: see more with --limit." if len(rows) > limit else ""
    empty = f"No access record is {state}." if state else "No access record yet."
    show(rows[:limit], _COLUMNS, as_json=as_json, empty=empty, unreadable=unreadable, more=more)


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
    product = _product(vendor, cert)

    async def write(services: Services) -> AccessRecord:
        from orrery.checkout.access.desk import AccessGrant  # noqa: PLC0415  it loads what reads the store

        named = await checkout_of(services).lookup.named(session) if session else None
        if named is not None and not SESSION_ID.fullmatch(named):
            raise Invalid("A session's id begins with cs_ and holds letters, digits and underscores.")
        grant = AccessGrant(email, product, "owner", session_id=named)
        _refuse_unknown([grant], services, retired=retired)
        return await checkout_of(services).desk.grant(grant, reason)

    record = runner.run(write)
    note(f"Access until {record.expires_at:%d %B %Y}: {record.session_id}")


@group.command("import")
def import_records(
    file: Annotated[
        Path, typer.Argument(help="A CSV file with the columns email, vendor_slug, cert_code, expires_at.")
    ],
    reason: Reason,
    retired: Retired = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Bring access along from elsewhere; a second import of the same lines changes nothing."""
    grants = list(_grants(file))

    async def write(services: Services) -> tuple[int, int]:
        _refuse_unknown(grants, services, retired=retired)
        desk, imported = checkout_of(services).desk, 0
        for grant in await _new(grants, services):
            # A line above may have been the same one in another spelling.
            if not await desk.was_imported(grant):
                _ = await desk.grant(grant, reason)
                imported += 1
        return imported, len(grants) - imported

    new, known = runner.run(write)
    note(f"{new} imported, {known} were there already.")


@group.command()
def journal(
    limit: Newest = 50,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List what was changed by hand, and why."""
    found = runner.run(lambda services: checkout_of(services).desk.journal(limit))
    rows: list[Row] = [entry.model_dump() | {"at": f"{entry.at:%Y-%m-%d %H:%M:%S}"} for entry in found.values()]
    columns = ("at", "action", "session_id", "reason")
    show(rows, columns, as_json=as_json, empty="Nothing was changed by hand.", unreadable=found.unreadable)


def _with_record(runner: Runner, session: str, act: "Callable[[Desk, str], Awaitable[T]]") -> T:
    async def done(services: Services) -> T:
        return await act(checkout_of(services).desk, await checkout_of(services).lookup.named(session))

    return runner.run(done)


async def _new(grants: "Sequence[AccessGrant]", services: Services) -> "list[AccessGrant]":
    """Return the lines that are not imported yet; raise `Invalid` for a wrong one before any line is written."""
    new: dict[AccessGrant, None] = {}
    for number, grant in enumerate(grants, 2):
        if grant in new or await checkout_of(services).desk.was_imported(grant):
            continue
        try:
            _ = checkout_of(services).desk.record_for(grant)
        except Invalid as error:
            raise Invalid(f"Line {number}: {error} Nothing was imported.") from None
        new[grant] = None
    return list(new)


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


def _product(vendor: str, cert: str) -> ProductKey:
    if not is_slug(vendor) or not is_slug(cert):
        raise Invalid("The vendor slug and the certification code are lower-case words joined by hyphens.")
    return ProductKey("cert", cert, vendor)


def _refuse_unknown(grants: "Sequence[AccessGrant]", services: Services, *, retired: bool) -> None:
    for grant in grants:
        if not retired and checkout_of(services).catalogue.find(grant.product) is None:
            raise Invalid(
                f"{grant.product.name} is not in the catalogue; add --retired to grant access to it anyway."
            )


def _grants(file: Path) -> "Iterator[AccessGrant]":
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            for number, line in enumerate(csv.DictReader(lines), 2):
                yield _grant(line, number)
    except csv.Error as error:
        raise Invalid(f"{file.name} is not the CSV that is needed: {error}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file.name} cannot be read: {words_of(error)}.") from None


def _grant(line: dict[str, str], number: int) -> "AccessGrant":
    from orrery.checkout.access.desk import AccessGrant, checked_email  # noqa: PLC0415  it loads what reads the store

    try:
        email, product = checked_email(line["email"]), _product(line["vendor_slug"], line["cert_code"])
        expires_at = datetime.fromisoformat(line["expires_at"])
    except (KeyError, TypeError, ValueError, AttributeError, Invalid):
        what = "email, vendor_slug, cert_code and expires_at (like 2027-03-31)"
        raise Invalid(f"Line {number} needs a usable {what}; nothing was imported.") from None
    if expires_at.tzinfo is None:
        expires_at = expires_at.replace(tzinfo=UTC)
    return AccessGrant(email, product, "import", expires_at)

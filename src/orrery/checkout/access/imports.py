"""Access that was sold elsewhere: each sale is imported once, however often and from whichever file."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from orrery.checkout.access.desk import Desk, checked_email, unguessable
from orrery.checkout.access.emails import Emails
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.collections import ACCESS_BY_TIME, CheckoutRecords, former_import_id
from orrery.checkout.records import AccessEnd, AccessRecord
from orrery.errors import Invalid
from orrery.ports.store import Conflict
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, Walk, commit, compare_and_set, indexed_id, sortable
from orrery.runtime.tasks import together
from orrery.syntax.email_address import without_case

BATCH = 1000
"""Lines of one commit. Their keys lie far apart, so small commits write the same parts of the store repeatedly."""

_BUSY = "The access of these buyers changes all the time; start the import again."


@dataclass(frozen=True, slots=True)
class ImportedAccess:
    """Access that was sold elsewhere: one line of an import.

    `sales` are its ids there, such as `stripe:pi_1`: a repeated import finds it by any of them. A line without one
    is the buyer's access to the product, whatever its end. `end_is_chosen`: the owner wrote the end, so that
    another one than before is a correction. `line` and `paid` are what its file has, for the owner to see.
    """

    email: str
    product: ProductKey
    expires_at: datetime
    sales: tuple[str, ...] = ()
    end_is_chosen: bool = False
    line: int = 0
    paid: str = ""


@dataclass(slots=True)
class ImportPlan:
    """What lines do, or would do. `new` and `corrected` are by session; all other lines were there already.

    `names` are the ids that were not stored, each with its session, and `sessions` those of all lines.
    """

    new: dict[str, ImportedAccess] = field(default_factory=dict[str, ImportedAccess])
    corrected: dict[str, ImportedAccess] = field(default_factory=dict[str, ImportedAccess])
    names: dict[str, str] = field(default_factory=dict[str, str])
    sessions: set[str] = field(default_factory=set[str])

    def add(self, other: "ImportPlan") -> None:
        """Add what further lines do."""
        self.new |= other.new
        self.corrected |= other.corrected
        self.names |= other.names
        self.sessions |= other.sessions


class Imports:
    """Imports lines in commits of `batch`, and finds what was imported."""

    def __init__(
        self, stored: CheckoutRecords, lookup: Lookup, desk: Desk, emails: Emails, batch: int = BATCH
    ) -> None:
        self._stored, self._lookup, self._desk, self._emails = stored, lookup, desk, emails
        self._batch = batch
        self.clock = stored.clock

    async def bring_in(
        self,
        lines: Sequence[ImportedAccess],
        reason: str,
        *,
        send: bool = False,
        dry_run: bool = False,
        seen: Callable[[], None],
    ) -> ImportPlan:
        """Import lines, or with `dry_run` find out what that would do.

        A repeat goes on where an interrupted import ended. `send`: the buyers of new lines are written to. Raises
        `Invalid` for access that would have ended already.
        """
        if ended := next((line for line in lines if line.expires_at <= self.clock.now()), None):
            raise Invalid(f"Line {ended.line}: The access would have ended already. Nothing was imported.")
        whole = ImportPlan()
        for start in range(0, len(lines), self._batch):
            batch = lines[start : start + self._batch]
            if dry_run:
                plan = await self._planned(batch, whole)
            else:
                plan = await compare_and_set(partial(self._written, batch, whole, reason, send=send), _BUSY)
            for session_id, line in () if dry_run else plan.corrected.items():
                await self._desk.change_end(session_id, line.expires_at, reason)
            whole.add(plan)
            for _ in batch:
                seen()
        return whole

    async def running(self, sales: Collection[str]) -> list[AccessRecord]:
        """Return the records of these imported sales that run."""
        found = await self._sessions_of([self._stored.line_id(one) for one in sales])
        records = (await self._records(found.values())).values()
        return [one for one in records if one.runs_at(self.clock.now())]

    async def sold_here(self, names: Collection[str], since: datetime) -> set[str]:
        """Return which of these sessions and payments have an access record of that day or later."""
        found, day = set[str](), f"{ACCESS_BY_TIME}{sortable(since)[:8]}"
        walk = Walk(ACCESS_BY_TIME, until=day, newest_first=True)
        async for entries in walk.over(self._stored.store, self.clock):
            records = await self._records(one for one in map(indexed_id, entries) if one.startswith("cs_"))
            found.update(records, (one.payment_intent for one in records.values() if one.payment_intent))
        return found.intersection(names)

    async def _planned(self, batch: Sequence[ImportedAccess], before: ImportPlan) -> ImportPlan:
        """Return what these lines do after those `before`."""
        ids_of = [[*map(self._stored.line_id, _names(line))] for line in batch]
        stored = await self._sessions_of([one for ids in ids_of for one in ids])
        known = [next((stored[one] for one in ids if one in stored), None) for ids in ids_of]
        own = [at for at, line in enumerate(batch) if not line.sales and known[at] is None]
        for at, found in zip(own, await together(*(self._of_own(batch[at]) for at in own)), strict=True):
            known[at] = found
        plan = ImportPlan(corrected=await self._corrected(zip(known, batch, strict=True), before.sessions))
        for line, ids, found in zip(batch, ids_of, known, strict=True):
            new = {one: before.names.get(one) or plan.names.get(one) for one in ids if one not in stored}
            session_id = next(filter(None, new.values()), None) or found
            if session_id is None:
                session_id = unguessable("imported")
                plan.new[session_id] = line
            plan.sessions.add(session_id)
            if line.sales or session_id in plan.new:
                plan.names |= {one: session_id for one, taken in new.items() if not taken}
        return plan

    async def _corrected(
        self, lines: Iterable[tuple[str | None, ImportedAccess]], done: Collection[str]
    ) -> dict[str, ImportedAccess]:
        """Return the lines for which the owner chose another end than the stored one: one for each session."""
        first = dict[str, ImportedAccess]()
        for session_id, line in lines:
            if session_id and line.end_is_chosen and session_id not in done:
                _ = first.setdefault(session_id, line)
        found = (await self._records(first)).values()
        open_ones = (
            one.session_id
            for one in found
            if one.email and one.revoked_at is None and one.expires_at != first[one.session_id].expires_at
        )
        return {one: first[one] for one in open_ones}

    async def _written(
        self, batch: Sequence[ImportedAccess], before: ImportPlan, reason: str, *, send: bool
    ) -> ImportPlan | Conflict:
        plan = await self._planned(batch, before)
        new = [
            self._desk.record(session_id, line.email, line.product, line.expires_at, "import")
            for session_id, line in plan.new.items()
        ]
        changes = [await self._later_ends(new), *(self._desk.added(one, "import", reason) for one in new)]
        changes += [self._stored.imported_lines.added(one, of.encode()) for one, of in plan.names.items()]
        if send:
            emails = [email for record in new for email in self._emails.first(record)]
            changes.append(Changes(outbox.enqueue(emails, self.clock.now())))
        if not plan.names:
            return plan
        # A sum would copy what was added up so far for each of a thousand lines.
        writes = [one for change in changes for one in change.writes]
        checks = [one for change in changes for one in change.checks]
        outcome = await commit(self._stored.store, Changes(writes, checks))
        return outcome if isinstance(outcome, Conflict) else plan

    async def _sessions_of(self, line_ids: Sequence[str]) -> dict[str, str]:
        """Return the session of each of these ids that is stored."""
        found = await together(*map(self._stored.imported_lines.get, line_ids))
        return {one: entry.value.decode() for one, entry in zip(line_ids, found, strict=True) if entry}

    async def _records(self, session_ids: Iterable[str]) -> dict[str, AccessRecord]:
        """Return those of these records that can be read."""
        found = await together(*map(self._stored.access.find, dict.fromkeys(session_ids)))
        return {one.id: one.record for one in found if one}

    async def _of_own(self, line: ImportedAccess) -> str | None:
        """Return the session of a line without a sale, as an earlier release stored it.

        Its record may be unreadable under its former id; or the line had another end, and was named by that.
        """
        for former in _names(line)[1:]:
            if await self._stored.access.entry(former):
                return former
        for one in (await self._lookup.found_of(line.email)).values():
            former = former_import_id(one.email, one.product, one.expires_at)
            if one.product == line.product and await self._sessions_of([self._stored.line_id(former)]):
                return one.session_id
        return None

    async def _later_ends(self, records: Collection[AccessRecord]) -> Changes:
        """Return the writes of the latest ends of access of these records' buyers, what ran before included."""
        ids = {one.session_id: self._stored.end_ids(one.email, one.product) for one in records}
        unique = [*dict.fromkeys(end_id for end_ids in ids.values() for end_id in end_ids)]
        found = dict(zip(unique, await together(*map(self._stored.ends.get, unique)), strict=True))
        ends = dict[str, datetime]()
        for record in records:
            before = [end.record.expires_at for one in ids[record.session_id] if (end := found[one])]
            end_id = ids[record.session_id][0]
            ends[end_id] = max(record.expires_at, ends.get(end_id, record.expires_at), *before)
        writes = [self._stored.ends.put(AccessEnd(expires_at=end), end_id) for end_id, end in ends.items()]
        return Changes(writes, [self._stored.ends.as_read(*one) for one in found.items()])


def _names(line: ImportedAccess) -> Sequence[str]:
    """Return what an import is found by: its sales, or else its buyer and product.

    Earlier releases named such a line by its end, too; their names are by today's spelling of its address, and by
    that of an earlier release.
    """
    if line.sales:
        return line.sales
    address, product = checked_email(line.email), line.product
    own = f"own {address}\n{product.vendor_slug}\n{product.cert_code}"
    spellings = dict.fromkeys((address, without_case(address)))
    return [own, *(former_import_id(one, product, line.expires_at) for one in spellings)]

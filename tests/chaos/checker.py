"""What became of every sale, by the sandbox's ledger and the tables of the store alone.

It uses nothing of the product: a decision that is wrong there must not be repeated here.
"""

import hashlib
import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from tests.support.sandbox import Sandbox
from tests.support.waiting import until

Document = dict[str, Any]

TOO_OLD, FRESH = 1800, 180
"""Seconds after which a live count is not shown any more, and after which it is called stale."""

READ_AGAIN, SLACK = 5, 1
"""Seconds after which a node shows what is in the store by then, or has noted that it could not read it; and what
may pass from the note to the next attempt."""

UNREAD = "live count not read"

ROUNDING = 3
"""Seconds: a composed answer is sent for one more, and times are whole ones."""

DUE = 2
"""Where the time is in the key of a message that waits."""

A_YEAR = {365, 366}
"""Its days."""

LINK = re.compile(r"\?link=(\w+)\.")
"""Where the reference of a sale is in the link of an e-mail."""

NAMED = {"productType": "product_type", "certCode": "cert_code", "vendorSlug": "vendor_slug"}
"""What names a product in a session, and in the record of an access."""

OF_A_SALE = ("Sold", "Granted")
"""How the title of a push about a sale begins."""


@dataclass(frozen=True)
class Ledgers:
    """What the sandbox keeps, in its folder, and what the store has, in its file or its database."""

    sandbox: Path
    store: Path | str

    def documents(self, kind: str) -> list[Document]:
        """Return what the sandbox keeps of one kind, the oldest first."""
        found: list[Document] = []
        for path in self.sandbox.glob("sandbox*.db"):  # live mode has one of its own
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
                bodies = file.execute("SELECT body FROM documents WHERE object = ? ORDER BY seq", (kind,))
                found += [json.loads(body) for (body,) in bodies]
        return found

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Ask the store."""
        if isinstance(self.store, Path):
            with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as file:
                return file.execute(query.replace("orrery_", "").replace("%s", "?"), values).fetchall()
        with psycopg.connect(self.store, autocommit=True) as connection:
            return connection.execute(query.encode(), values).fetchall()

    def entries(self, prefix: str) -> dict[str, bytes]:
        """Return what is under keys that begin so, in the order of the keys."""
        low = prefix.encode()
        query = "SELECT key, value FROM orrery_entries WHERE key >= %s AND key < %s ORDER BY key"
        return {bytes(key).decode(): bytes(value) for key, value in self.rows(query, low, low + b"\xff")}

    def records(self, prefix: str) -> dict[str, Document]:
        """Return the records under keys that begin so, in the order of their keys."""
        return {key: json.loads(value) for key, value in self.entries(prefix).items()}

    def due(self) -> list[float]:
        """Return when each webhook that was not taken is tried next, and each message, in Unix seconds."""
        webhooks = [one["next_at"] for one in self.documents("_delivery") if one["state"] == "pending"]
        keys = self.entries("outbox-next:")
        messages = [datetime.strptime(key.split(":")[DUE], "%Y%m%dT%H%M%S.%f%z").timestamp() for key in keys]
        return webhooks + messages

    def settle(self, sandbox: Sandbox) -> None:
        """Wait until each webhook is taken and each message delivered; the clock is moved to what is due later.

        It is moved while nothing is under way: a lease that runs out in the middle of a delivery repeats that.
        """
        while due := self.due():
            if (later := min(due) - sandbox.now()) > 0:
                sandbox.advance(later + 1)
            now = sandbox.now()
            until(lambda now=now: min(self.due(), default=now + 1) > now)

    def versions(self) -> dict[bytes, int]:
        """Return the version of each commit by its id."""
        return {bytes(one): version for one, version in self.rows("SELECT id, version FROM orrery_commits")}


@dataclass(frozen=True)
class ShownCount:
    """A live count that a node showed; `asked` and `generated_at` are Unix seconds of the shop's clock.

    `log` is the node's, and `during` the request's begin and end by the machine's clock, as in the log.
    """

    asked: float
    generated_at: float
    is_called_stale: bool
    log: Path
    during: tuple[float, float]

    def violations(self, told: "Told", unread: Mapping[Path, Sequence[float]]) -> Iterator[str]:
        """Yield what is not as the page of the live count promises; `unread` is when a node could not read it."""
        age = self.asked - self.generated_at
        if age > TOO_OLD or (age > FRESH + ROUNDING and not self.is_called_stale):
            yield f"a live count of {age:.0f} s ago was shown as {'stale' if self.is_called_stale else 'fresh'}"
        late, (begun, ended) = self.late(told), self.during
        if late > READ_AGAIN and not any(begun - READ_AGAIN - SLACK < at < ended for at in unread[self.log]):
            yield f"a live count was shown {late:.1f} s after a newer one was in the store: {self.log.stem}"

    def late(self, told: "Told") -> float:
        """Return for how many seconds a newer one was in the store."""
        newer = [at for made, at in told.counted.items() if made > self.generated_at]
        return self.asked - min(newer, default=self.asked)


@dataclass
class Told:
    """What those who made the load know."""

    granted: set[str] = field(default_factory=set[str])
    """The sessions whose buyers were told that their access is open."""

    versions: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """The commit that each version was seen at, before a fault took the server away."""

    faults: int | None = None
    """How many have struck, where that is counted: by each a message may be sent once more."""

    counts: list[ShownCount] = field(default_factory=list[ShownCount])
    """The live counts that were shown."""

    counted: dict[float, float] = field(default_factory=dict[float, float])
    """When the store was first seen to have the live count of a time, both by the shop's clock."""

    def see(self, ledgers: Ledgers) -> None:
        """Keep which versions were given out by now."""
        self.versions |= {version: one for one, version in ledgers.versions().items()}


def violations(ledgers: Ledgers, told: Told) -> Iterator[str]:
    """Yield each broken promise, with what it concerns."""
    yield from _sales(ledgers, told)
    yield from _messages(ledgers)
    yield from _repeats(ledgers, told)
    yield from _links(ledgers)
    yield from _versions(ledgers, told)
    yield from _approvals(ledgers)
    yield from _numbers(ledgers)
    yield from _counts(told)
    yield from _beside(ledgers)


def paid_sessions(ledgers: Ledgers) -> dict[str, str]:
    """Return the buyer's address of each session that was paid."""
    return {
        one["id"]: one["customer_details"]["email"].lower()
        for one in ledgers.documents("checkout.session")
        if one["payment_status"] == "paid"
    }


def _sales(ledgers: Ledgers, told: Told) -> Iterator[str]:
    paid = paid_sessions(ledgers)
    access = ledgers.records("access:")
    granted = {one["session_id"] for one in access.values()}
    yield from (f"paid and without access: {one}" for one in sorted(paid.keys() - granted))
    yield from (f"access without payment: {one}" for one in sorted(granted - paid.keys()))
    yield from (f"told to be open, and without access: {one}" for one in sorted(told.granted - granted))
    yield from (f"two accesses of one buyer: {one}" for one in _repeated(one["email"] for one in access.values()))
    sold = {one["id"]: one["metadata"] for one in ledgers.documents("checkout.session")}
    for key, one in access.items():
        session = key.partition(":")[2]
        granted, ends = (datetime.fromisoformat(one[name]) for name in ("granted_at", "expires_at"))
        if (days := (ends - granted).total_seconds() / 86_400) not in A_YEAR:
            yield f"access of {days:.1f} days: {key}"
        if one["email"] != paid.get(session, one["email"]):
            yield f"access of another buyer: {key}"
        product = {name: one[kept] for name, kept in NAMED.items()}
        if product != sold.get(session, product):
            yield f"access to another product: {key}"


def _messages(ledgers: Ledgers) -> Iterator[str]:
    paid = paid_sessions(ledgers)
    emails = Counter(to.lower() for one in ledgers.documents("_mail") for to in one["to"])
    outbox = ledgers.entries("outbox")
    coming = {value.decode() for key, value in outbox.items() if key.startswith("outbox-next:")}
    for one in (json.loads(value) for key, value in outbox.items() if key.startswith("outbox:")):
        # What has come since all were delivered is on its way.
        if one["state"] != "delivered" and (one["state"] != "waiting" or one["id"] not in coming):
            yield f"a message that is {one['state']}: {one['id']}, {one['last_error']}"
    yield from (f"no e-mail: {one}" for one in sorted(set(paid.values()) - emails.keys()))
    pushes = len(set(_pushes(ledgers, OF_A_SALE)))
    if pushes != len(paid):
        yield f"{pushes} sales were pushed, of {len(paid)}"


def _repeats(ledgers: Ledgers, told: Told) -> Iterator[str]:
    if told.faults is None:
        return
    emails = Counter(one["message_id"] for one in ledgers.documents("_mail"))
    for what, sent in (("an e-mail", emails), ("a push", Counter(_pushes(ledgers)))):
        most = 1 + told.faults
        yield from (f"{what} that was sent {count} times: {one}" for one, count in sent.items() if count > most)


def _links(ledgers: Ledgers) -> Iterator[str]:
    sales = ledgers.entries("access-by-reference:ref_")
    access = ledgers.records("access:")
    mails = [(one, LINK.findall(one["body"])) for one in ledgers.documents("_mail")]
    has_links = any(links for _, links in mails)  # without a site of its own a shop sends none
    for one, links in mails:
        for reference in links or [""] * has_links:
            sale = sales.get(f"access-by-reference:ref_{reference}", b"").decode()
            if [access.get(f"access:{sale}", {}).get("email")] != [to.lower() for to in one["to"]]:
                yield f"an e-mail without the link of its own sale: {one['message_id']}"


def _pushes(ledgers: Ledgers, titles: str | tuple[str, ...] = "") -> list[str]:
    pushes = (one["message"] for one in ledgers.documents("_push"))
    return [one["sequence_id"] for one in pushes if one.get("title", "").startswith(titles)]


def _versions(ledgers: Ledgers, told: Told) -> Iterator[str]:
    now = ledgers.versions()
    yield from (f"a version of two commits: {one}" for one in _repeated(now.values()))
    yield from (
        f"a version that was given out again: {version}"
        for one, version in now.items()
        if told.versions.get(version, one) != one
    )


def _approvals(ledgers: Ledgers) -> Iterator[str]:
    log = [*ledgers.records("approval-log:").values()]
    previous = "0" * 64
    for number, entry in enumerate(log, 1):
        if (entry["number"], entry["previous"], entry["hash"]) != (number, previous, _hash(entry)):
            yield f"the approval log does not hold at {number}"
        previous = entry["hash"]
    if log and ledgers.records("approval-log-head")["approval-log-head"] != log[-1]:
        yield "the approval log's head is not its last entry"
    kinds = defaultdict[str, list[str]](list)
    for entry in log:
        kinds[entry["intent_id"]].append(entry["kind"])
    listed = Counter(one["value"] for one in ledgers.documents("radar.value_list_item"))
    blocks = {key: one for key, one in ledgers.records("intent:").items() if "entries" in one["body"]}
    for key, intent in blocks.items():
        said = Counter(kinds[key.partition(":")[2]])
        begun, done = said["started"], said["done"] + said["happened"]
        made = {listed[one["value"]] for one in intent["body"]["entries"]}
        if begun > 1 or done > begun or not made <= ({1} if done else {0, 1} if begun else {0}):
            yield f"an approval that was carried out {made} times: {key}, {dict(said)}"


def _hash(entry: Document) -> str:
    content = {name: value for name, value in entry.items() if name != "hash"}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _numbers(ledgers: Ledgers) -> Iterator[str]:
    counted = {key.partition(":")[2]: one["last"] for key, one in ledgers.records("sale-number-last:").items()}
    sold = [one for one in ledgers.records("access:").values() if one["livemode"]]
    given = [one["sale_number"] for one in sold]
    wanted = sorted(f"{series}-{number:04d}" for series, last in counted.items() for number in range(1, last + 1))
    if sorted(map(str, given)) != wanted:
        yield f"numbers of receipts with a gap, or given twice: {given} of {wanted}"


def _counts(told: Told) -> Iterator[str]:
    unread = {log: _unread(log) for log in {shown.log for shown in told.counts}}
    for shown in told.counts:
        yield from shown.violations(told, unread)


def _unread(log: Path) -> Sequence[float]:
    """Return when a node has noted that the store did not let it read the live count."""
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if UNREAD in line]
    return [datetime.fromisoformat(json.loads(line)["timestamp"]).timestamp() for line in lines]


def _beside(ledgers: Ledgers) -> Iterator[str]:
    """Yield what the witness in the database has seen, where one was posted."""
    if not isinstance(ledgers.store, Path) and ledgers.rows("SELECT to_regclass('chaos_beside')") != [(None,)]:
        for what, node, holder in ledgers.rows("SELECT * FROM chaos_beside"):
            yield f"delivered by {node} while {holder or 'nobody'} had the lease: {what}"


def _repeated(values: Iterable[object]) -> Sequence[object]:
    return [value for value, count in Counter(values).items() if count > 1]


def counts(ledgers: Ledgers) -> dict[str, int]:
    """Return what is reported beside the violations."""
    emails = Counter(to for one in ledgers.documents("_mail") for to in one["to"])
    pushes = Counter(_pushes(ledgers, OF_A_SALE))
    attempts = [len(one["attempts"]) for one in ledgers.documents("_delivery")]
    return {
        "sales": len(paid_sessions(ledgers)),
        "webhooks": sum(attempts),
        "e-mails again": sum(emails.values()) - len(emails),
        "pushes again": sum(pushes.values()) - len(pushes),
        "approvals": sum(one["kind"] == "started" for one in ledgers.records("approval-log:").values()),
    }

"""Counts what became of every sale, from the sandbox's ledger and the store's file alone: `tally.py LEDGER STORE`.

It uses nothing of the product: both files are read with the standard library, as JSON. It prints one JSON object.
"""

import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def documents(ledger: Path, kind: str) -> Iterator[Document]:
    """Yield what the sandbox keeps of one kind."""
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as database:
        for (body,) in database.execute("SELECT body FROM documents WHERE object = ? ORDER BY seq", (kind,)):
            yield json.loads(body)


def records(store: Path, prefix: str) -> Iterator[Document]:
    """Yield the records under keys that begin so."""
    low = prefix.encode()
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        query = "SELECT value FROM entries WHERE key >= ? AND key < ?"
        for (value,) in database.execute(query, (low, low + b"\xff")):
            yield json.loads(value)


def next_tries(ledger: Path) -> list[float]:
    """Return when each webhook that was not taken yet is tried next, in Unix seconds."""
    query = (
        "SELECT json_extract(body, '$.next_at') FROM documents"
        " WHERE object = '_delivery' AND json_extract(body, '$.state') = 'pending'"
    )
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as database:
        return [moment for (moment,) in database.execute(query)]


def waiting(store: Path) -> int:
    """Return how many messages are to be delivered: as many as their index has, which is short."""
    low = b"outbox-next:"
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as database:
        query = "SELECT count(*) FROM entries WHERE key >= ? AND key < ?"
        return database.execute(query, (low, low + b"\xff")).fetchone()[0]


def tally(ledger: Path, store: Path) -> dict[str, int]:
    """Return the counts: a sale is a session that was paid, and each buyer has an address of their own."""
    paid = {
        one["id"]: one["customer_details"]["email"].lower()
        for one in documents(ledger, "checkout.session")
        if one["payment_status"] == "paid"
    }
    access = list(records(store, "access:"))
    granted = Counter(one["session_id"] for one in access)
    of_buyers = Counter(one["email"] for one in access)
    years = [int(one["expires_at"][:4]) - int(one["granted_at"][:4]) for one in access]
    emails = Counter(one["to"][0].lower() for one in documents(ledger, "_mail"))
    titles = [one["message"].get("title", "") for one in documents(ledger, "_push")]
    pushes = [title for title in titles if title.startswith(("Sold", "Granted"))]
    told = {one["id"] for one in records(store, "outbox:") if one["state"] == "delivered"}
    unpushed = sum(f"owner-{one}" not in told for one in paid)
    return {
        "sales": len(paid),
        "lost": len(paid.keys() - granted.keys()),
        "unpaid": len(granted.keys() - paid.keys()),
        "doubled": sum(count - 1 for count in of_buyers.values()) + sum(one != 1 for one in years),
        "without_email": len(set(paid.values()) - emails.keys()),
        "emails_again": sum(count - 1 for count in emails.values()),
        "without_push": unpushed,
        "pushes_again": len(pushes) - len(paid) + unpushed,
    }


if __name__ == "__main__":
    print(json.dumps(tally(Path(sys.argv[1]), Path(sys.argv[2]))))  # noqa: T201  a program's answer

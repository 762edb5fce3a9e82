"""A webhook as a site's owner would write it: the framework, the vendor's library, SQLite with full durability.

usage: python -m bench.handwritten PORT FILE      FILE is the database, as `prepare` makes it

It does what ours does for a paid session, in one transaction on the event loop: keeps the event, compares the
session with its offer, opens access and enqueues two notifications. In a thread a transaction takes longer.
"""

import json
import sqlite3
import sys
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import stripe
import uvicorn
from fastapi import FastAPI, HTTPException, Request

from bench.service import SECRET

_SCHEMA = """
PRAGMA journal_mode = wal;
CREATE TABLE offers (session TEXT PRIMARY KEY, cert TEXT NOT NULL, vendor TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE events (id TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE access (session TEXT PRIMARY KEY, email TEXT NOT NULL, cert TEXT NOT NULL, vendor TEXT NOT NULL,
  amount INTEGER NOT NULL, payment TEXT, granted_at TEXT NOT NULL, expires_at TEXT NOT NULL);
CREATE INDEX access_by_email ON access (email);
CREATE INDEX access_by_time ON access (granted_at);
CREATE TABLE outbox (id TEXT PRIMARY KEY, channel TEXT NOT NULL, recipient TEXT NOT NULL, title TEXT NOT NULL,
  body TEXT NOT NULL, due_at TEXT NOT NULL);
CREATE INDEX outbox_by_time ON outbox (channel, due_at);
"""


def connect(file: str) -> sqlite3.Connection:
    """Open the database with the durability of our store."""
    database = sqlite3.connect(file, isolation_level=None)
    database.execute("PRAGMA synchronous = full")
    return database


def prepare(file: str, sessions: Iterable[str]) -> None:
    """Make the database, with what was offered."""
    database = connect(file)
    database.executescript(_SCHEMA)
    database.execute("BEGIN")
    offers = ((session, "cloud-navigator", "northwind", 4900) for session in sessions)
    database.executemany("INSERT INTO offers VALUES (?, ?, ?, ?)", offers)
    database.execute("COMMIT")
    database.close()


def app(file: str) -> FastAPI:
    """Return the site."""
    site, database = FastAPI(), connect(file)

    @site.get("/healthz")
    async def healthz() -> dict[str, bool]:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        return {"alive": True}

    @site.post("/guided/api/webhook")
    async def receive(request: Request) -> dict[str, str]:  # pyright: ignore[reportUnusedFunction] the same
        body, signature = await request.body(), request.headers.get("stripe-signature", "")
        try:
            event = json.loads(body)
            stripe.WebhookSignature.verify_header(body.decode(), signature, SECRET, tolerance=300)  # pyright: ignore[reportUnknownMemberType]  the vendor's types
        except (ValueError, stripe.SignatureVerificationError):
            raise HTTPException(400) from None
        if event["type"] != "checkout.session.completed":
            return {"received": "ignored"}
        database.execute("BEGIN IMMEDIATE")
        try:
            result = _settle(database, event, body)
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")
        return {"received": result}

    return site


def _settle(database: sqlite3.Connection, event: dict[str, Any], body: bytes) -> str:
    session, add = event["data"]["object"], "INSERT INTO events VALUES (?, ?) ON CONFLICT DO NOTHING"
    if not database.execute(add, (event["id"], body)).rowcount:
        return "duplicate"
    find = "SELECT cert, vendor, amount FROM offers WHERE session = ?"
    known = database.execute(find, (session["id"],)).fetchone()
    bought = session["metadata"]["certCode"], session["metadata"]["vendorSlug"], session["amount_total"]
    if known != bought or session["payment_status"] != "paid":
        return "refused"
    now, email = datetime.now(UTC), session["customer_details"]["email"]  # noqa: TID251  it is not ours
    granted, until = now.isoformat(), (now + timedelta(days=365)).isoformat()
    access = session["id"], email, *known, session["payment_intent"], granted, until
    database.execute("INSERT INTO access VALUES (?, ?, ?, ?, ?, ?, ?, ?)", access)
    notifications = [
        (f"owner-{session['id']}", "push", "", "Sold", f"{known[0]}, until {until}.", granted),
        (f"buyer-{session['id']}", "email", email, "Your access", f"It runs until {until}.", granted),
    ]
    database.executemany("INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?)", notifications)
    return "granted"


if __name__ == "__main__":
    uvicorn.run(app(sys.argv[2]), port=int(sys.argv[1]), loop="uvloop", http="httptools", log_level="error")

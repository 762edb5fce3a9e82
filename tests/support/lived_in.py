"""Something of everything in the store of a running demo: what another release must be able to read.

It drives the shop, the sandbox and the owner's commands as people do, so that the records are those of the release
that runs, whatever they look like.
"""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.support.waiting import PATIENCE, eventually

CERT = ("--vendor", "northwind", "--cert", "cloud-navigator")
WHY = ("--reason", "To have one of each.")

Command = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


@dataclass(frozen=True)
class LivedIn:
    """One running demo: its shop, its sandbox, and how an owner's command is run."""

    shop: str
    sandbox: str
    run: Command

    def fill(self, folder: Path) -> None:
        """Leave sales, what went wrong with them, the owner's changes, approvals and an erasure."""
        with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
            self._sales(client)
            self._declines(client)
        self._preflight()
        self._access(folder)
        self._owner()

    def _sales(self, client: httpx2.Client) -> None:
        paid = self._start(client, "a click")
        self._pay(client, paid, "first@buyer.example")
        refunded = self._start(client)
        self._pay(client, refunded, "second@buyer.example")
        erased = self._start(client)
        self._pay(client, erased, "erased@buyer.example")
        self._pay(client, self._start(client), "later@buyer.example", "delayed")
        self._start(client)
        for session_id in (paid, refunded, erased):
            eventually(lambda session_id=session_id: self._expect_access(client, session_id))
        charges = client.get(f"{self.sandbox}/").text.split("/_charges/")
        newest = charges[-1].partition("/")[0]
        assert client.post(f"{self.sandbox}/_charges/{newest}/refund").is_success

    def _declines(self, client: httpx2.Client) -> None:
        session_id = self._start(client)
        for number in range(4):
            self._pay(client, session_id, f"tester{number}@buyer.example", "declined")

    def _preflight(self) -> None:
        self._do("checkout", "preflight", "--sign")
        self._do("checkout", "verify", "--sign")
        self._do("checkout", "reconcile")

    def _access(self, folder: Path) -> None:
        self._do("access", "grant", "given@buyer.example", *CERT, *WHY)
        rows = folder / "imported.csv"
        rows.write_text(
            "email,vendor_slug,cert_code,expires_at\n"
            "imported@buyer.example,northwind,cloud-navigator,2031-05-01\n"
            "moved@buyer.example,northwind,cloud-navigator,2032-05-01\n",
            encoding="utf-8",
        )
        self._do("access", "import", str(rows), *WHY)
        self._do("access", "change-email", self._session_of("moved@"), "new@buyer.example", *WHY)
        self._do("access", "resend", self._session_of("first@"), *WHY)
        self._do("access", "revoke", self._session_of("second@"), *WHY)

    def _owner(self) -> None:
        proposed = self._do("fraud", "block", "--email", "erased@buyer.example", *WHY)
        self._do("approvals", "withdraw", proposed.split()[-1])
        self._do("secrets", "announce", "push_token", *WHY)
        self._do("privacy", "erase", "erased@buyer.example", *WHY)

    def _start(self, client: httpx2.Client, click: str = "") -> str:
        body = {"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"}
        headers = {"Idempotency-Key": click.replace(" ", "-")} if click else {}
        answer = client.post(f"{self.shop}/guided/api/checkout", json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def _pay(self, client: httpx2.Client, session_id: str, email: str, verdict: str = "approved") -> None:
        form = {"email": email, "method": "card", "verdict": verdict}
        answer = client.post(f"{self.sandbox}/pay/{session_id}", data=form)
        assert answer.status_code in {303, 402}, answer.status_code

    def _expect_access(self, client: httpx2.Client, session_id: str) -> None:
        state: Any = client.get(f"{self.shop}/guided/api/access/{session_id}").json()
        assert state["state"] == "granted", state

    def _session_of(self, email: str) -> str:
        listed = self._do("access", "list", "--json")
        return next(one["session_id"] for one in json.loads(listed) if one["email"].startswith(email))

    def _do(self, *arguments: str) -> str:
        done = self.run(arguments)
        assert done.returncode in {0, 1}, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout

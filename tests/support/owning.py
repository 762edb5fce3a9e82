"""The owner of a deployment: a key of their own that signs, settings of live mode, the commands about selling."""

import asyncio
import json
import re
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from orrery.adapters.ssh_keygen import SshKeygen
from orrery.app.composition import opened
from orrery.app.settings.reader import load
from orrery.approvals.approvals import Approvals
from orrery.approvals.intents import NAMESPACE
from orrery.approvals.settings import ApprovalSettings
from orrery.runtime.readiness import PART
from tests.support.deployment import Deployment, Product, stop
from tests.support.marked import MARK, SECRETS
from tests.support.program import Program
from tests.support.sandbox import SESSIONS
from tests.support.ssh_keys import make_key, public_half
from tests.support.waiting import eventually

LIVE_KEY = f"rk_live_{MARK}_key"
"""A live key, which the sandbox accepts when it is told to."""

_TO_SIGN = re.compile(r"orrery approvals sign (in-[0-9a-f]{12})")


def owned_shop(folder: Path, *products: Product, mode: str = "live") -> Deployment:
    """Return a deployment whose owner has a key; nothing runs yet."""
    key = make_key(folder / "owner")
    public, private = json.dumps(public_half(key)), json.dumps(str(key))
    approvals = f"[approvals]\nowner_keys = [{public}]\nsigning_key = {private}"
    secrets = dict(SECRETS) | ({"processor_api_key": LIVE_KEY} if mode == "live" else {})
    return Deployment(folder, list(products), more=approvals, mode=mode, plain=0, secrets=secrets)


@dataclass
class Owner:
    """Types the commands of one deployment."""

    shop: Deployment
    service: Program

    def preflight(self, name: str, *more: str) -> CompletedProcess[str]:
        """Try one product."""
        return self.shop.orrery("checkout", "preflight", "--product", f"northwind/{name}", *more)

    def approve(self, name: str) -> None:
        """Try one product, and sign what that asks for."""
        asked = self.preflight(name)
        assert asked.returncode == 1, asked.stdout + asked.stderr
        assert "only when it may be expired" in asked.stderr
        assert self.sign(to_sign(asked.stderr)) == "approved"

    def approve_all(self) -> None:
        """Try every product, and sign what that asks for."""
        assert self.sign(to_sign(self.shop.orrery("checkout", "preflight").stderr)) == "approved"

    def log_holds(self) -> bool:
        """Look through the approval log."""
        return asyncio.run(_log_holds(self.shop))

    def accepted(self, name: str) -> CompletedProcess[str]:
        """Try one product as far as it goes."""
        self.approve(name)
        return self.preflight(name)

    def sign(self, intent_id: str) -> str:
        """Sign an intent; return how far it has come."""
        return asyncio.run(_sign(self.shop, intent_id))

    def restart(self) -> None:
        """Stop the service, and start it with the settings of now."""
        stop(self.service)
        self.shop.configure()
        self.service = self.shop.start_service()

    def parts(self) -> dict[str, dict[str, Any]]:
        """Return what the service found at its start, by parts of readyz: a clock in live mode is not moved."""

        def found() -> dict[str, dict[str, Any]]:
            answer = self.shop.client.get(f"{self.shop.private}/readyz").json()
            parts = {one["part"]: one for one in answer["parts"]}
            assert PART not in parts
            return parts

        return eventually(found)

    def session(self, session_id: str) -> dict[str, Any]:
        """Return a session as the processor has it."""
        found: dict[str, Any] = self.shop.sandbox.ask("GET", f"{SESSIONS}/{session_id}")
        return found

    def open_sessions(self, name: str) -> list[str]:
        """Return the sessions of a product that can be paid."""
        return [one["id"] for one in self.shop.sandbox.sessions(name) if one["status"] == "open"]


def to_sign(text: str) -> str:
    """Return the intent that a command names to be signed."""
    found = _TO_SIGN.search(text)
    assert found, text
    return found[1]


async def _sign(shop: Deployment, intent_id: str) -> str:
    settings, secrets = load(shop.config)
    key = settings[ApprovalSettings].signing_key
    assert key is not None
    async with opened(settings, secrets) as orrery:
        intent = (await orrery[Approvals].proposal(intent_id)).intent
        statement = orrery[Approvals].statement(intent).to_bytes()
        signature = SshKeygen([], NAMESPACE).sign(statement, key)
        return (await orrery[Approvals].sign(intent_id, statement, signature)).state


async def _log_holds(shop: Deployment) -> bool:
    async with opened(*load(shop.config)) as orrery:
        return (await orrery[Approvals].verify()).holds

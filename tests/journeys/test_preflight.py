"""In live mode, through real processes: nothing is sold that the processor has not accepted (change rule 1)."""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from orrery.adapters.ssh_keygen import SshKeygen
from orrery.app.composition import opened
from orrery.app.settings.reader import load
from orrery.approvals.approvals import Approvals
from orrery.approvals.intents import NAMESPACE
from orrery.approvals.settings import ApprovalSettings
from orrery.runtime.readiness import PART
from tests.support.deployment import Deployment, Product, beside_a_sandbox, stop
from tests.support.marked import MARK, SECRETS
from tests.support.program import Program, run_orrery
from tests.support.sandbox import SESSIONS
from tests.support.ssh_keys import make_key, public_half
from tests.support.visiting import Visitor
from tests.support.waiting import eventually

LIVE_KEY = f"rk_live_{MARK}_key"
"""A live key, which the sandbox accepts when it is told to."""

_TO_SIGN = re.compile(r"orrery approvals sign (in-[0-9a-f]{12})")


def owned_shop(folder: Path, *products: Product) -> Deployment:
    """Return a deployment whose owner has a key; nothing runs yet."""
    key = make_key(folder / "owner")
    public, private = json.dumps(public_half(key)), json.dumps(str(key))
    approvals = f"[approvals]\nowner_keys = [{public}]\nsigning_key = {private}"
    secrets = SECRETS | {"processor_api_key": LIVE_KEY}
    return Deployment(folder, list(products), more=approvals, mode="live", plain=0, secrets=secrets)


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


NEWER = "Newer words: one year of practice questions for {CERT}, no subscription."


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    """Run one deployment in live mode, whose products no processor has accepted yet."""
    names = ("selling", "announced", "verified", "slipping")
    products = [*(Product(name) for name in names), Product("withdrawn", price_id="price_withdrawn")]
    with beside_a_sandbox(owned_shop(tmp_path_factory.mktemp("live"), *products)) as shop:
        shop.sandbox.price("price_withdrawn", unit_amount=4900, active=False)
        service = shop.start_service()
        shop.await_reconciled()
        yield Owner(shop, service)


def test_first_sale_and_first_change(owner: Owner) -> None:
    """503 before the first preflight, then sold; a changed text waits, and is sold when it was accepted."""
    visitor = Visitor(owner.shop, "selling")
    refused = visitor.check_out()
    assert (refused.status_code, refused.json()["error"]) == (503, "not-preflighted")
    assert owner.parts()["checkout receipts"]["essential"]
    done = owner.accepted("selling")
    assert (done.returncode, "accepted" in done.stdout) == (0, True), done.stderr
    old = shown(owner, visitor.start())
    owner.shop.products[0].trust_copy = NEWER
    owner.restart()
    assert shown(owner, visitor.start()) == old
    waiting = owner.parts()["checkout parameters"]
    assert (waiting["state"], waiting["essential"]) == ("broken", False)
    newer = NEWER.replace("{CERT}", "selling exam")
    pending = owner.preflight("selling", "--pending")
    assert (pending.returncode, f"+ {newer}" in pending.stdout, f"- {old}" in pending.stdout) == (1, True, True)
    assert owner.accepted("selling").returncode == 0
    assert shown(owner, visitor.start()) == newer
    assert owner.preflight("selling", "--pending").returncode == 0
    assert len(owner.open_sessions("selling")) == 3, "those of the visitor"
    newest = owner.shop.sandbox.sessions("selling")[0]
    assert (newest["livemode"], newest["id"].startswith("cs_live_")) == (
        True,
        True,
    )  # as beside a live key of the vendor


def test_a_slip_in_the_text(owner: Owner) -> None:
    """It is said before the restart, told at the start, and no visitor sees it; the accepted text goes on."""
    visitor = Visitor(owner.shop, "slipping")
    assert owner.accepted("slipping").returncode == 0
    old = shown(owner, visitor.start())
    product = next(one for one in owner.shop.products if one.cert_code == "slipping")
    product.trust_copy = "One year of questions.No subscription."
    owner.shop.configure()
    sentence = "The settings cannot be used, and what was accepted last is sold: trust_copy holds"
    before = owner.shop.orrery("config", "check", "--json")
    assert before.returncode == 1, before.stderr
    (row,) = [one for one in json.loads(before.stdout) if one["part"] == "product northwind/slipping"]
    assert row["why"].startswith(sentence)
    pending = owner.preflight("slipping", "--pending")
    assert (pending.returncode, "what was accepted last is sold" in pending.stdout) == (1, True)
    tried = owner.preflight("slipping")
    assert (tried.returncode, "mistake" in tried.stdout) == (1, True)
    owner.restart()
    assert shown(owner, visitor.start()) == old
    found = owner.parts()["product northwind/slipping"]
    assert (found["essential"], found["why"].startswith(sentence)) == (False, True)
    (push,) = eventually(lambda: one_push(owner, "northwind/slipping"))
    assert sentence in push["message"]
    product.trust_copy = None
    owner.restart()
    assert owner.preflight("slipping", "--pending").returncode == 0


def one_push(owner: Owner, about: str) -> list[dict[str, Any]]:
    """Return the one push about something."""
    found = owner.shop.sandbox.pushes_about(f"{about}: The settings cannot be used")
    found = found or owner.shop.sandbox.pushes_about(f"Broken: product {about}")
    assert len(found) == 1
    return found


def shown(owner: Owner, session_id: str) -> str:
    """Return what a session shows above the Pay button."""
    return str(owner.session(session_id)["custom_text"]["submit"]["message"])


def test_rejected_by_the_processor(owner: Owner) -> None:
    """The processor's sentence and the parameter are printed, exit 1, and the product stays unsold."""
    done = owner.accepted("withdrawn")
    assert done.returncode == 1
    assert "The price specified is inactive" in done.stdout
    assert "line_items[0][price]" in done.stdout
    assert Visitor(owner.shop, "withdrawn").check_out().status_code == 503


def test_what_follows_a_signature_is_said_before_it_and_done_after_it(owner: Owner) -> None:
    """Whether the command goes on by itself, or another has to be typed, is told before the yes and after it."""
    once_more = "type the command again"
    at_once = owner.preflight("announced", "--sign")
    assert at_once.stderr.index("With your yes, one test session") < at_once.stderr.index("Type yes")
    assert ("accepted" in at_once.stdout, once_more in at_once.stdout) == (True, False)
    for_later = owner.shop.orrery("approvals", "sign", to_sign(owner.preflight("announced").stderr))
    assert for_later.stderr.index("With your yes, nothing is done at once") < for_later.stderr.index("Type yes")
    assert once_more in for_later.stdout
    verified = owner.shop.orrery("checkout", "verify", "--product", "northwind/announced", "--sign")
    assert verified.stderr.index("With your yes, this is done at once") < verified.stderr.index("Type yes")
    assert "Done. The session is expired." in verified.stdout


def test_verified(owner: Owner) -> None:
    """The public operation is asked, each condition is printed, and the session is expired by the owner's word."""
    done = owner.preflight("verified", "--sign")
    assert done.returncode == 0, done.stdout + done.stderr
    words = ("checkout", "verify", "--product", "northwind/verified")
    done = owner.shop.orrery(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok   payment_method_types = card, link" in done.stdout
    assert "ok   payment_method_options.card.request_three_d_secure = automatic" in done.stdout
    assert "ok   price = price_cloud_navigator" in done.stdout
    (session,) = owner.open_sessions("verified")
    assert session in done.stdout
    assert owner.sign(to_sign(done.stderr)) == "done"
    assert owner.shop.orrery(*words, "--sign").returncode == 0
    assert owner.open_sessions("verified") == []
    nobody = owner.shop.orrery(*words, "--base-url", "http://127.0.0.1:9", "--json")
    assert (nobody.returncode, json.loads(nobody.stdout)["session_id"]) == (1, None)


@pytest.mark.parametrize(
    "words",
    [
        ("preflight", "--product", "northwind/unknown"),
        ("preflight", "--product", "selling", "--pending"),
        ("verify", "--base-url", "http://shop.example"),
        ("verify", "--base-url", ""),
        ("verify", "--product", ""),
    ],
)
def test_bad_input(owner: Owner, words: tuple[str, ...]) -> None:
    """One sentence, exit 2, and nothing is written."""
    before = owner.shop.records.keys("intent:")
    done = owner.shop.orrery("checkout", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert owner.shop.records.keys("intent:") == before


def test_nothing_to_try(tmp_path: Path) -> None:
    """Without a product, what waits is told in a sentence, and not by silence."""
    assert run_orrery("init", str(tmp_path)).returncode == 0
    said = run_orrery("checkout", "preflight", "--pending", "--config", str(tmp_path / "orrery.toml"))
    assert (said.returncode, said.stderr) == (0, "No product is configured: nothing is sold.\n")

"""In live mode, through real processes: nothing is sold that the processor has not accepted (change rule 1)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.deployment import Product, beside_a_sandbox
from tests.support.owning import Owner, owned_shop, to_sign
from tests.support.program import run_orrery
from tests.support.visiting import Visitor
from tests.support.waiting import eventually

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

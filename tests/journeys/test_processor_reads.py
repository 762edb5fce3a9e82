"""The owner at the terminal, looking at the processor and changing what buyers see of the account."""

import json
import shutil
from collections.abc import Iterator
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.marked import MARK, SECRETS
from tests.support.ssh_keys import make_key, public_half
from tests.support.visiting import Visitor

ACCOUNT = "/v1/account"
COLOUR = "settings.branding.primary_color"
PRICE_IN_YEN = "price_in_yen"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a sandbox beside the settings of an owner with a key; the service itself is not needed."""
    folder = tmp_path_factory.mktemp("desk")
    lines = f'[approvals]\nsigning_key = "{folder / "key"}"\nowner_keys = []'
    if shutil.which("ssh-keygen"):
        lines = lines.replace("[]", f'["{public_half(make_key(folder))}"]')
    with beside_a_sandbox(Deployment(folder, more=lines)) as deployment:
        yield deployment


def processor(desk: Deployment, *words: str) -> CompletedProcess[str]:
    """Run one of the commands about the processor."""
    return desk.orrery("processor", *words)


def rows(desk: Deployment, *words: str) -> list[dict[str, Any]]:
    """Return what a command prints for machines."""
    done = processor(desk, *words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def new_session(desk: Deployment, price: str) -> str:
    """Create a session at the processor, as the service does."""
    form = {"mode": "payment", "line_items[0][price]": price, "line_items[0][quantity]": "1"}
    key = {"Authorization": f"Bearer {desk.sandbox.api_key}"}
    url = f"{desk.sandbox.base_url}/v1/checkout/sessions"
    return desk.client.post(url, data={**form, "success_url": "http://127.0.0.1:1/"}, headers=key).json()["id"]


def test_a_declined_payment_in_the_table(desk: Deployment) -> None:
    """The owner sees why, how far it went and whose it was; the yen has no cents; no error is printed."""
    desk.sandbox.price(PRICE_IN_YEN, unit_amount=4900, currency="jpy", product="Yen", active=True)
    session = new_session(desk, PRICE_IN_YEN)
    buyer = Visitor(desk)
    assert not desk.sandbox.try_to_pay(session, buyer.email, "declined")
    table = processor(desk, "charges", "--since", "1h")
    assert (table.returncode, table.stderr) == (0, "")
    (line,) = [one for one in table.stdout.splitlines() if buyer.email in one]
    for seen in ("failed", "4900 JPY", "generic_decline", "declined_by_network", "normal", "card"):
        assert seen in line
    (found,) = rows(desk, "sessions", "--limit", "1")
    assert (found["id"], found["status"], found["price"]) == (session, "open", "4900 JPY")
    assert found["created"].endswith("Z")


def test_configurations_that_cannot_be_told_apart(desk: Deployment) -> None:
    """Under the table the owner reads which share a name, which claim to be the default, and why it matters."""
    done = processor(desk, "payment-method-configurations")
    assert done.returncode == 0
    assert "2 configurations are named 'Orrery Sandbox': pmc_sandbox_platform, pmc_sandbox_default." in done.stderr
    assert "2 configurations say that they are the default" in done.stderr
    assert "names the payment methods of each session" in done.stderr
    assert len(done.stdout.splitlines()) >= 5


def test_what_cannot_be_read(desk: Deployment) -> None:
    """One sentence each, without the key, and the exit code: a permission that lacks, no such session, no key."""
    desk.sandbox.fault("no_permission", path="/v1/balance")
    said = [processor(desk, "balance"), processor(desk, "session", "cs_test_of_nobody")]
    key = desk.secrets.pop("processor_api_key")
    desk.configure()
    said.append(processor(desk, "prices"))
    desk.secrets["processor_api_key"] = key
    desk.configure()
    assert [one.returncode for one in said] == [1, 2, 2]
    sentences = [one.stderr.strip() for one in said]
    assert "it needs rak_balance_read" in sentences[0]
    assert sentences[1:] == ["The processor knows no such session.", "The processor has no API key."]
    assert all(len(sentence.splitlines()) == 1 and MARK not in sentence for sentence in sentences)


def proposed(desk: Deployment, colour: str) -> str:
    """Propose a new colour; return the intent's id."""
    done = processor(desk, "set-branding", "--primary-color", colour, "--reason", "a new look", "--json")
    assert done.returncode == 0, done.stderr
    assert "Nothing is changed yet" in done.stderr
    return json.loads(done.stdout)["intent"]


def colour(desk: Deployment) -> str:
    """Return the colour at the processor."""
    return desk.sandbox.ask("GET", ACCOUNT)["settings"]["branding"]["primary_color"]


def test_branding_changes_by_the_owners_signature(desk: Deployment) -> None:
    """A proposal changes nothing, its signature does; when the account has other values by then, it is refused."""
    make_key(desk.folder / "other")  # skips where there is no tool
    first = proposed(desk, "#123456")
    assert colour(desk) == "#1d4ed8"
    signed = desk.orrery("approvals", "sign", first)
    assert (signed.returncode, colour(desk)) == (0, "#123456")
    assert f"{COLOUR} #1d4ed8 -> #123456" in signed.stdout
    second = proposed(desk, "#654321")
    headers = {"Authorization": f"Bearer {SECRETS['processor_api_key']}"}
    by_hand = {"settings[branding][primary_color]": "#999999"}
    assert desk.client.patch(desk.sandbox.base_url + ACCOUNT, data=by_hand, headers=headers).is_success
    refused = desk.orrery("approvals", "sign", second)
    assert (refused.returncode, colour(desk)) == (1, "#999999")
    assert "the account has other values than when this was proposed" in refused.stdout + refused.stderr

"""A key with exactly the rights that the how-to asks for, as `orrery secrets check` finds it."""

import json
import re
import socket
from pathlib import Path

import pytest

from orrery.adapters.movable_clock import MovableClock
from orrery.sandbox.app import SandboxConfig, create_app
from tests.support.deployment import Deployment
from tests.support.marked import SECRETS
from tests.support.program import run_orrery
from tests.support.serving import serving

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/set-up-stripe.md"
_ROW = re.compile(r"^\| ([^|]+?) \| (read|write)\b[^|]*\|", re.MULTILINE)
_WORDS = {
    "Checkout Sessions": "checkout_session",
    "Charges": "charge",
    "Events": "event",
    "Prices": "price",
    "Webhook Endpoints": "webhook",
    "Account": "account",
    "Reviews": "review",
    "Radar lists (value lists and their items)": "value_list",
    "Customers": "customer",
    "Balance": "balance",
    "Payment Method Configurations": "payment_method_configuration",
}
"""The dashboard's words for each right, and the sandbox's."""


def documented() -> tuple[frozenset[str], frozenset[str]]:
    """Return the rights that are needed, and those for some commands only, in the sandbox's words."""
    step = PAGE.read_text(encoding="utf-8").partition("## 3. ")[2].partition("\n## ")[0]
    needed, _, wanted = step.partition("Only if you want")
    rights = [frozenset(f"{_WORDS[name]}_{how}" for name, how in _ROW.findall(part)) for part in (needed, wanted)]
    assert len(rights[0] | rights[1]) == len(_WORDS)
    return rights[0], rights[1]


NEEDED, WANTED = documented()


@pytest.mark.parametrize("mode", ["test", "live"])
@pytest.mark.parametrize("rights", [NEEDED, NEEDED | WANTED], ids=["needed", "all"])
def test_the_documented_rights_are_enough(tmp_path: Path, mode: str, rights: frozenset[str]) -> None:
    """The check passes, in either mode, with the rights of the first table and with those of both."""
    key = f"rk_{mode}_sandbox"
    shop = Deployment(tmp_path, mode=mode, secrets=SECRETS | {"processor_api_key": key})
    clock = MovableClock(tmp_path / "clock")
    app = create_app(SandboxConfig(shop.sandbox.base_url, {key: rights}, ()), clock, clock.advance)
    with serving(app, socket.create_server(("127.0.0.1", shop.ports[2]))):
        came = run_orrery("secrets", "check", "--json", "--config", str(shop.config))
    shop.clear_away()
    found = {one["secret"]: one for one in json.loads(came.stdout)}["processor_api_key"]
    assert (came.returncode, found["state"], found["what_to_do"]) == (0, "ok", "")
    assert "may read Account, Checkout Sessions, Charges, Events, Prices, Webhook Endpoints" in found["found"]
    assert ("may not read" in found["found"]) == (not rights > NEEDED)

"""Events that did not come through, and the owner's page (issue 4, items 8 and 9), in real processes."""

import json
from typing import Any

import httpx2

from tests.support.deployment import Deployment
from tests.support.marked import ADMIN_PASSWORD
from tests.support.visiting import Visitor
from tests.support.waiting import until
from tests.support.webhooks import send, signed

OWNER = httpx2.BasicAuth("owner", ADMIN_PASSWORD)


def events(shop: Deployment, *words: str) -> Any:  # noqa: ANN401  any JSON
    """Return what the command prints for machines; it exits 1 when it was asked for failures and lists any."""
    came = shop.orrery("checkout", "events", "--json", *words)
    found = json.loads(came.stdout)
    assert came.returncode == int("--failed" in words and bool(found)), came.stderr
    return found


def doctor(shop: Deployment, part: str) -> dict[str, str]:
    """Return what the doctor says of one part."""
    found = json.loads(shop.orrery("doctor", "--json").stdout)
    return next(one for one in found if one["part"] == part)


def test_an_event_that_did_not_come_is_taken_in(shop: Deployment, visitor: Visitor) -> None:
    """A lost event is listed, taken in once by its id, and tells each side once, whatever comes afterwards."""
    shop.sandbox.fault("webhook_down", count=None)
    session = visitor.buy()
    (lost,) = [one for one in events(shop, "--failed") if one["session_id"] == session]
    assert (lost["type"], lost["pending"], lost["stored"]) == ("checkout.session.completed", 1, False)
    first = events(shop, "--replay", lost["id"])["result"]
    assert first in {"granted", "already"}, "only a reconciliation in this very moment may have been faster"
    came = shop.orrery("checkout", "events", "--replay", lost["id"])
    assert "nothing changed" in came.stderr
    shop.sandbox.clear_faults()
    shop.sandbox.advance(3600)
    visitor.await_told(session)
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)
    assert [one for one in events(shop, "--failed") if one["id"] == lost["id"]] == []
    (known,) = [one for one in events(shop) if one["id"] == lost["id"]]
    assert (known["became"], known["stored"]) == ("granted", True)


def test_webhooks_that_are_refused(shop: Deployment) -> None:
    """Wrong signatures are refused as long as they come, and the owner reads of it."""
    body, signature = signed(shop, {"id": "evt_wrong"})
    wrong = f"{signature.partition(',')[0]},v1={'0' * 64}"
    assert [send(shop, body, wrong).status_code for _ in range(6)] == [400] * 6
    until(lambda: doctor(shop, "webhooks")["state"] == "broken")


def test_the_owners_page(shop: Deployment, visitor: Visitor) -> None:
    """The private listener shows the page to the owner, with the sale of just now; the public one has none."""
    visitor.await_access(visitor.buy())
    found = shop.client.get(f"{shop.private}/owner", auth=OWNER)
    assert found.status_code == 200
    assert "sold today" in found.text
    assert visitor.email not in found.text
    assert shop.client.get(f"{shop.private}/owner").status_code == 401
    assert shop.client.get(f"{shop.public}/owner", auth=OWNER).status_code == 404
    elsewhere = shop.client.get(f"{shop.private}/owner", auth=OWNER, headers={"Host": "owner.example.test"})
    assert elsewhere.status_code == 400

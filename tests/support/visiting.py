"""What visitors do, and what can be seen of their purchases from all sides."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2

from tests.support.deployment import Deployment
from tests.support.marked import MARK
from tests.support.waiting import eventually

CHECKOUT = "/guided/api/checkout"


@dataclass
class Visitor:
    """Somebody with a client address and an e-mail address of their own, who wants one product."""

    shop: Deployment
    product: str = ""
    address: str = ""
    email: str = field(default_factory=lambda: f"{MARK}.{uuid4().hex[:12]}@buyer.example.test")

    def __post_init__(self) -> None:
        self.product = self.product or self.shop.fresh_product()
        self.address = self.address or self.shop.fresh_address()

    def wanted(self) -> dict[str, str]:
        """Return the body of a request for the product."""
        return {"productType": "cert", "certCode": self.product, "vendorSlug": "northwind"}

    def check_out(self, idempotency_key: str | None = None) -> httpx2.Response:
        """Press the shop's button."""
        headers = {"X-Forwarded-For": self.address}
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        return self.shop.client.post(self.shop.public + CHECKOUT, json=self.wanted(), headers=headers)

    def start(self) -> str:
        """Go to the payment page; return the session's id."""
        answer = self.check_out()
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def pay(self, session_id: str, verdict: str = "approved") -> None:
        """Pay there."""
        self.shop.sandbox.pay(session_id, self.email, verdict)

    def buy(self) -> str:
        """Start and pay; return the session's id."""
        session_id = self.start()
        self.pay(session_id)
        return session_id

    def state(self, session_id: str) -> str:
        """Return what the success page is told."""
        address = f"{self.shop.public}/guided/api/access/{session_id}"
        answer = self.shop.client.get(address, headers={"X-Forwarded-For": self.address})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["state"])

    def emails(self) -> list[dict[str, Any]]:
        """Return the e-mails that this buyer got."""
        return self.shop.sandbox.mail_to(self.email)

    def await_access(self, session_id: str) -> None:
        """Wait until the success page says that access is open."""
        eventually(lambda: expect_equal(self.state(session_id), "granted"))

    def await_told(self, session_id: str) -> None:
        """Wait until the e-mail and the push of this sale are marked as delivered."""
        await_delivered(self.shop, session_id)

    def pushes(self) -> list[dict[str, Any]]:
        """Return the owner's messages about sales of this product."""
        return self.shop.sandbox.pushes_about(f"{self.product} exam")


def await_delivered(shop: Deployment, session_id: str) -> None:
    """Wait until both notifications of a sale are marked as delivered."""
    wanted = {f"owner-{session_id}", f"buyer-{session_id}"}
    eventually(lambda: expect_within(wanted, shop.records.notifications("delivered")))


def expect_equal(seen: object, wanted: object) -> None:
    """Fail, for now, unless both are equal."""
    assert seen == wanted


def expect_within(wanted: set[str], seen: list[str]) -> None:
    """Fail, for now, unless everything wanted is seen."""
    assert wanted <= set(seen)

"""A catalogue in which two vendors have the same certification code (decision 47)."""

from pathlib import Path

from tests.support.deployment import Deployment, Product, running
from tests.support.visiting import Visitor


def test_a_shared_code_is_said_at_the_start_and_needs_its_vendor(tmp_path: Path) -> None:
    """The log and `doctor` say it; a purchase opens its own vendor's product, and a check without one is a 422."""
    with running(Deployment(tmp_path, [Product("cert-1", vendor_slug="contoso")])) as shop:
        visitor = Visitor(shop, "cert-1")
        visitor.await_access(visitor.buy())
        answers = [check(visitor, vendor) for vendor in ("northwind", "contoso", None)]
        assert [status for status, _ in answers] == [200, 200, 422]
        assert [body.get("granted") for _, body in answers] == [True, False, None]
        assert "vendorSlug" in str(answers[2][1]["message"])
        assert "cert-1 is sold by northwind and contoso." in shop.orrery("doctor", "--json").stdout
        assert "Every access check of it must carry vendorSlug" in shop.printed()


def check(visitor: Visitor, vendor: str | None) -> tuple[int, dict[str, object]]:
    """Ask as the practice site does; return status and body."""
    shop = visitor.shop
    answer = shop.client.post(
        f"{shop.public}/guided/api/access/check",
        json={"email": visitor.email, "certCode": visitor.product} | ({"vendorSlug": vendor} if vendor else {}),
        headers={"Authorization": f"Bearer {shop.secrets['access_service_token']}"},
    )
    return answer.status_code, answer.json()

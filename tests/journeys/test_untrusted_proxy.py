"""A proxy that is not trusted: all buyers share one limit, and the owner hears of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.waiting import eventually

PART = "client addresses"
TRUSTED = "ORRERY_SERVER__TRUSTED_PROXIES"
BUYERS = [
    *(f"203.0.113.{number}:512{number}" for number in range(1, 8)),
    *(f"[2001:db8:0:{number}::1]:443" for number in range(1, 8)),
]
"""More than one limit lets through within a minute; their proxy adds each one's port."""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox beside a deployment whose service the test starts."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def answers(shop: Deployment, *headers: dict[str, str]) -> list[int]:
    """Return what buyers are answered whom a proxy on this machine announces by these headers."""
    body = {"productType": "cert", "vendorSlug": "northwind", "certCode": "cert-1"}
    to = f"{shop.public}/guided/api/checkout"
    return [shop.client.post(to, json=body, headers=one).status_code for one in headers]


def each(header: str, form: str = "{}") -> list[dict[str, str]]:
    """Return a header for every buyer."""
    return [{header: form.format(one)} for one in BUYERS]


def told(shop: Deployment, title: str) -> dict[str, Any]:
    """Return the one push of that title, letting the time pass in which it comes."""

    def look() -> dict[str, Any]:
        shop.sandbox.advance(61)
        found = [one for one in shop.sandbox.ask("GET", "/push") if one.get("title") == title]
        assert len(found) == 1
        return found[0]

    return eventually(look)


def part(shop: Deployment) -> dict[str, Any]:
    """Return how the private listener finds the client addresses."""
    shop.readiness()
    ready = shop.client.get(f"{shop.private}/readyz")
    assert ready.status_code == 200
    return next(one for one in ready.json()["parts"] if one["part"] == PART)


def test_a_proxy_that_is_not_trusted(shop: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its buyers share one limit, which is told once and named; trusted, it tells them apart."""
    monkeypatch.setenv(TRUSTED, "[]")
    service = shop.start_service()
    assert 429 in answers(shop, *each("X-Forwarded-For"))
    push = told(shop, f"Broken: {PART}")
    assert "The proxy 127.0.0.1 is not trusted: all buyers behind it share one rate limit." in push["message"]
    assert "Add 127.0.0.1 to [server] trusted_proxies" in push["message"]
    assert part(shop)["state"] == "broken"
    assert "The proxy 127.0.0.1 is not trusted" in shop.orrery("doctor", "--json").stdout
    stop(service)
    monkeypatch.setenv(TRUSTED, '["127.0.0.1"]')
    shop.start_service()
    assert set(answers(shop, *each("X-Forwarded-For"))) == {200}
    told(shop, f"Works again: {PART}")
    assert part(shop)["state"] == "ok"

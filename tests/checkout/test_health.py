"""What `doctor` asks about the processor's webhook endpoints (issue 4, item 8; decision 1)."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pydantic import ValidationError

from orrery.adapters.memory import MemoryStore
from orrery.app.settings.variables import secret_names
from orrery.checkout.catalogue import Product
from orrery.checkout.health import RETIRING
from orrery.checkout.secrets import SERVICE_TOKEN
from orrery.checkout.settings import CheckoutSettings, SitesSettings
from orrery.live.budget import StoredBudget
from orrery.live.health import LiveHealth
from orrery.live.quota import TokenLimits
from orrery.ports.health import Finding
from orrery.ports.processor import WebhookEndpoint
from orrery.ports.processor.errors import ItemUnreadable
from tests.support.analytics import MemoryAnalytics
from tests.support.checkout import PRODUCT, Shop
from tests.support.clock import ManualClock
from tests.support.tables import each_case

VERSION = "2026-08-26.dahlia"
ADDRESS = "https://shop.example/guided/api/webhook"


def endpoint(
    name: str, url: str = ADDRESS, version: str | None = VERSION, event: str = "*", *, enabled: bool = True
) -> WebhookEndpoint:
    """Return an endpoint of the account."""
    return WebhookEndpoint(name, url, version, enabled, (event,))


async def webhook(*endpoints: WebhookEndpoint | ItemUnreadable) -> Finding:
    """Return what is found about these endpoints."""
    shop = Shop()
    shop.processor.endpoints = [*endpoints]
    checks = dict(shop.health.remote())
    assert [*checks] == ["processor account", "processor webhook", "webhook deliveries"]
    return await checks["processor webhook"]()


@pytest.mark.parametrize("shared", [False, True])
async def test_a_shared_code_is_told(shared: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A certification code of two vendors is named, with the field that checks need; it breaks nothing."""
    other = Product("northwind", "cissp" if shared else "ccsp", "Another", "price_other")
    told = [one for one in await Shop(products=(PRODUCT, other)).health.local() if one.part == "catalogue"]
    if shared:
        assert [(one.state, one.why) for one in told] == [("ok", "cissp is sold by isc2 and northwind.")]
        assert "vendorSlug" in told[0].todo
    else:
        assert told == []


NAMED = {"seller": "Northwind GmbH", "number_series": "NW"}


@each_case(
    ("checkout", "site", "livemode", "why"),
    [
        ({}, {}, True, "Receipts name no seller"),
        ({}, {}, False, ""),
        (NAMED, {}, True, ""),
        ({}, NAMED, True, "Receipts name no seller"),
        (NAMED, NAMED, True, ""),
        (NAMED, NAMED | {"seller": "Contoso AG"}, True, "NW numbers the sales of two sellers."),
        (NAMED, {"seller": "Contoso AG"}, True, ""),
    ],
)
async def test_who_sells(checkout: dict[str, str], site: dict[str, str], livemode: bool, why: str) -> None:  # noqa: FBT001  a column of the table
    """In live mode each product has a named seller, and each seller a separate series."""
    sites = SitesSettings.model_validate([{"origin": "https://south.example", "name": "South", **site}]).sites()
    products = [
        {"vendor_slug": "acme", "cert_code": code, "title": "T", "site": at}
        for code, at in (("a", ""), ("b", "South"))
    ]
    addresses = {
        "success_url": "https://own.example/s?id={CHECKOUT_SESSION_ID}",
        "cancel_url": "https://own.example/c",
    }
    settings = CheckoutSettings.model_validate({"products": products, **addresses, **checkout})
    health = Shop().health
    plan = replace(health.plan, settings=settings, sites=sites, livemode=livemode)
    found = await replace(health, plan=plan, catalogue=settings.catalogue(sites)).local()
    assert [one.why.partition(",")[0] for one in found if one.part == "seller"] == ([why] if why else [])


HOSTED = {"success_url": "https://own.example/guided/success?id={CHECKOUT_SESSION_ID}"}
ELSEWHERE = {"success_url": "https://own.example/s?id={CHECKOUT_SESSION_ID}"}


@each_case(
    "addresses, site, state",
    [(ELSEWHERE, "", "broken"), (ELSEWHERE, "South", "off"), (HOSTED, "", "off"), ({}, "", "off")],
)
async def test_who_needs_the_token_of_the_access_check(addresses: dict[str, str], site: str, state: str) -> None:
    """Only a site without hosted pages asks by itself; the access gate of all others needs no token."""
    sites = SitesSettings.model_validate([{"origin": "https://south.example", "name": "South"}])
    product = {"vendor_slug": "acme", "cert_code": "a", "title": "T", "site": site}
    settings = CheckoutSettings.model_validate(
        {"products": [product], "cancel_url": "https://own.example/c"} | addresses
    )
    health = Shop().health
    plan = replace(health.plan, settings=settings, sites=sites.sites(), service_tokens=())
    found = await replace(health, plan=plan, catalogue=settings.catalogue(sites.sites())).local()
    assert [one.state for one in found if one.part == "access check"] == [state]
    use = SERVICE_TOKEN.use({CheckoutSettings: settings, SitesSettings: sites})  # pyright: ignore[reportArgumentType] by class
    assert use.needed == (state == "broken")


@each_case(
    "wrong",
    [
        {"tax_number": "DE1"},
        {"seller": "A", "reply_to": "not an address"},
        {"seller": "A", "number_series": "nw"},
        {"seller": "A", "number_series": "NORTH"},
        {"seller": "A", "time_zone": "Mars/Olympus"},
    ],
)
def test_what_no_seller_may_be(wrong: dict[str, str]) -> None:
    """Details have a name beside them; an address is one, a series is short, and a zone is known."""
    with pytest.raises(ValidationError):
        _ = CheckoutSettings.model_validate(wrong)


async def test_what_follows_from_a_missing_secret() -> None:
    """A part that lacks a secret names it as its cause, so that the guard's push and this are one fault."""
    health = Shop().health
    lacking = replace(health, plan=replace(health.plan, has_api_key=False, signing_secrets=(), service_tokens=()))
    store, clock, analytics = MemoryStore(ManualClock()), ManualClock(), MemoryAnalytics()
    budget = StoredBudget(store, clock, analytics, TokenLimits(), timedelta(minutes=1), source="x")
    counter = LiveHealth(store, clock, analytics, budget, has_property=True, has_key=False, can_admit=False)
    lacked = [one for one in [*await lacking.local(), *await counter.local()] if one.state == "broken"]
    assert [one.cause for one in lacked if one.part == "live counter"] == ["analytics key"]
    lacked = [one for one in lacked if one.part != "live counter"]
    assert len(lacked) == 5
    for finding in lacked:
        name = finding.cause.removeprefix("secret ")
        assert f"into the secret file {name}, and restart" in finding.todo
        assert name in secret_names()


async def test_one_endpoint_that_is_as_it_should_be() -> None:
    """An enabled endpoint of the configured version is well, for all events or for the one."""
    for event in ("*", "checkout.session.completed"):
        found = await webhook(endpoint("we_1", event=event))
        assert (found.state, found.why) == ("ok", f"version {VERSION}")


async def test_no_endpoint() -> None:
    """Without an endpoint that sends the one event nothing would ever come."""
    for endpoints in ([], [endpoint("we_1", event="charge.succeeded")]):
        assert (await webhook(*endpoints)).state == "broken"


async def test_an_endpoint_that_the_processor_has_disabled() -> None:
    """The only endpoint disabled is named, with why that happens and where to look afterwards."""
    found = await webhook(endpoint("we_1", enabled=False))
    assert found.state == "broken"
    assert found.why.startswith("Disabled: we_1.")
    assert "orrery checkout events --failed" in found.todo


async def test_a_disabled_endpoint_beside_another() -> None:
    """A disabled endpoint beside one that works is pointed out, whatever its version."""
    old = endpoint("we_2", "https://old.example/", "2025-01-01.acacia", enabled=False)
    found = await webhook(endpoint("we_1"), old)
    assert found.state == "ok"
    assert "disabled: we_2" in found.why


@pytest.mark.parametrize("version", ["2025-01-01.acacia", None, RETIRING])
async def test_another_version(version: str | None) -> None:
    """An endpoint of another version is broken; one from which sessions lose their methods is told as that."""
    found = await webhook(endpoint("we_1"), endpoint("we_2", "https://other.example/", version))
    assert found.state == "broken"
    assert (version or "the account's default") in found.why
    assert ("lose payment_method_types" in found.why) == (version == RETIRING)


async def test_an_endpoint_that_cannot_be_read() -> None:
    """An endpoint that is not as documented is named, and the check does not fail for it."""
    found = await webhook(ItemUnreadable("webhook_endpoint", "we_odd", ("url",)), endpoint("we_1"))
    assert found.state == "broken"
    assert "we_odd" in found.why


@pytest.mark.parametrize("other", [ADDRESS, f"{ADDRESS}/", ADDRESS.replace("shop", "SHOP")])
async def test_two_endpoints_of_one_address(other: str) -> None:
    """Two enabled endpoints of one address are pointed out: every event comes twice."""
    found = await webhook(endpoint("we_2", other), endpoint("we_1"))
    assert found.state == "ok"
    assert found.why.startswith("we_1, we_2 have the same address")
    assert "Remove" in found.todo
    assert "same address" not in (await webhook(endpoint("we_1"), endpoint("we_2", other, enabled=False))).why

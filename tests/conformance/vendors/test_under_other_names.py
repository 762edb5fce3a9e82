"""The sandbox in the vendors' places: under their names, with their addresses, and with endpoints over https."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
import stripe

from orrery.adapters.ga4 import GoogleAnalytics
from orrery.adapters.heartbeat import HttpHeartbeat
from orrery.adapters.ntfy import NtfyNotifier
from orrery.ports.notifier import OutgoingMessage
from orrery.sandbox.analytics.access import VENDORS_TOKEN_PATH, config_of, service_account_key
from orrery.sandbox.app import SandboxConfig
from tests.rehearsal.vendors import NAMES, PROPERTY
from tests.support.certificates import make_certificate
from tests.support.running_sandbox import KEY, PUSH_TOKEN, VERSION, Receiver, Running, receiving, running
from tests.support.waiting import PATIENCE, until

COMPLETED = "checkout.session.completed"
JSON = {"Accept": "application/json"}


def in_their_places(config: SandboxConfig) -> SandboxConfig:
    """Serve under the vendors' names; the push server's is one of this machine's own, by which it is reached."""
    key = service_account_key(f"{config.base_url}{VENDORS_TOKEN_PATH}")
    return replace(
        config,
        hosts=NAMES,
        pages_url="https://checkout.stripe.com/c",
        push_host="localhost",
        analytics=config_of(key, PROPERTY),
    )


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a sandbox in the vendors' places, without webhook endpoints."""
    with running(tmp_path_factory.mktemp("there"), Receiver(), change=in_their_places) as one:
        yield one


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_vendor(there: Running, name: str) -> None:
    """The sandbox answers under the names that it was given, and to no other."""
    assert there.web.get("/ping", headers={"Host": name}).status_code == 200
    assert there.web.get("/ping", headers={"Host": f"{name}:8443"}).status_code == 200
    assert there.web.get("/ping", headers={"Host": f"{name}.evil.example"}).status_code == 403


def test_its_own_page_over_https(there: Running) -> None:
    """A page that came over https may press its buttons; the same name over http is another site."""

    async def pressed(origin: str) -> int:
        transport = httpx2.ASGITransport(there.app)
        async with httpx2.AsyncClient(transport=transport, base_url="https://checkout.stripe.com") as client:
            return (await client.post("/_clock", json={"advance": 1}, headers={"Origin": origin})).status_code

    assert asyncio.run(pressed("https://checkout.stripe.com")) == 200
    assert asyncio.run(pressed("http://checkout.stripe.com")) == 403


def test_pages_under_another_name(there: Running) -> None:
    """A session leads to the page under the name of the pages, where the buyer pays."""
    session = there.session()
    assert session["url"] == f"https://checkout.stripe.com/c/pay/{session['id']}"
    parts = urlsplit(str(session["url"]))
    page = there.web.get(parts.path, headers={"Host": parts.netloc})
    assert page.status_code == 200
    assert f'action="/pay/{session["id"]}"' in page.text
    assert there.pay(session).status_code == 303


def test_push_at_the_root(there: Running) -> None:
    """Under its own name the push server is where ntfy has it; its page is where it was."""
    push = NtfyNotifier(there.url.replace("127.0.0.1", "localhost"), "sales", PUSH_TOKEN)
    asyncio.run(push.check())
    asyncio.run(push.send(OutgoingMessage("x", "Sold", "One year.")))
    assert there.web.get("/push", headers=JSON).json()[0]["title"] == "Sold"


def test_the_vendors_token_endpoint(tmp_path: Path) -> None:
    """Where the vendor's own keys ask for a token, one is minted."""
    keys: list[str] = []

    def kept(config: SandboxConfig) -> SandboxConfig:
        keys.append(service_account_key(f"{config.base_url}{VENDORS_TOKEN_PATH}"))
        return replace(config, analytics=config_of(keys[0], PROPERTY))

    with running(tmp_path, Receiver(), change=kept) as box:
        provider = GoogleAnalytics(
            keys[0],
            PROPERTY,
            base_url=box.url,
            planet_dimension="streamName",
            window_minutes=30,
            clock=box.clock,
        )
        assert asyncio.run(provider.active_users(deadline=PATIENCE)).rows


def test_the_watcher(there: Running) -> None:
    """Each sign of life is counted under its name, with the time of the last."""
    beat = HttpHeartbeat(f"{there.url}/ping/made-up").send
    asyncio.run(beat())
    asyncio.run(HttpHeartbeat(f"{there.url}/ping/another").send())
    asyncio.run(beat())
    pings = {one["name"]: one for one in there.web.get("/ping").json()}
    assert {name: one["count"] for name, one in pings.items()} == {"made-up": 2, "another": 1}
    assert pings["another"]["at"] <= pings["made-up"]["at"] <= there.now()


def test_an_endpoint_over_https(tmp_path: Path) -> None:
    """An endpoint made by the how-to is delivered to over https, signed with the secret of the one answer."""
    certificate = make_certificate(tmp_path)

    def alone(config: SandboxConfig) -> SandboxConfig:
        return replace(config, webhook_endpoints=(), ca_file=certificate)

    with receiving(certificate) as receiver, running(tmp_path, Receiver(), change=alone) as box:
        form = f"url={receiver.url}&enabled_events[]={COMPLETED}&api_version={VERSION}"
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        made = box.web.post(
            "/v1/webhook_endpoints",
            content=form,
            headers=headers | {"Authorization": f"Bearer {KEY}"},
        ).json()
        box.pay(box.session())
        until(lambda: box.deliveries("delivered"))
        [(body, signature)] = receiver.arrived
        event = stripe.Webhook.construct_event(body, signature, made["secret"])  # pyright: ignore[reportUnknownMemberType]  the vendor's
        assert (event.type, event.api_version) == (COMPLETED, VERSION)

"""The fault switches: when each kind strikes, which requests, and how often."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any

import aiosmtplib
import httpx2

from orrery.adapters.movable_clock import MovableClock
from orrery.sandbox.analytics.access import GRANT, TOKEN_PATH, config_of, service_account_key
from orrery.sandbox.app import CloudConfig, IdentityConfig, Sandbox, SandboxConfig, create_app
from orrery.sandbox.cloud.resources import IDENTITY_HEADER
from orrery.sandbox.cloud.resources import TOKEN_PATH as CLOUD_TOKEN
from orrery.sandbox.faults import KINDS, UNTIL_OFF
from orrery.sandbox.identity.directory import CLIENT_A, TENANT_A
from orrery.sandbox.tracker import REPOSITORY
from tests.support.analytics_provider import PROPERTY, REPORTS, TOTAL, signed_assertion
from tests.support.running_sandbox import EVERYTHING_PERMITTED, KEY, PRICES, PUSH_TOKEN, SESSION, Running
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

STRIPE, PUSH = ({"Authorization": f"Bearer {one}"} for one in (KEY, PUSH_TOKEN))
ISSUES = f"/tracker/repos/{REPOSITORY}/issues"
ANN = "ann@corp.example"
MACHINE = "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/gateway-sandbox/providers"


@each_case(
    "wrong",
    [
        {"kind": "moon"},
        {},
        {"kind": "cut", "count": -1},
        {"kind": "cut", "count": "x"},
        {"kind": "cut", "value": -1},
        {"kind": "cut", "times": 0},
    ],
)
def test_wrong_switches(box: Running, wrong: dict[str, object]) -> None:
    """A switch that does not exist, or a figure out of range, is refused with a sentence."""
    answer = box.web.post("/_faults", json=wrong)
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert box.web.get("/_faults").json()["active"] == []


def test_how_often_and_where(box: Running) -> None:
    """A fault strikes as often as asked, with a count of null until it is switched off, and where its path is."""
    box.fault("rate_limit", count=2, path="/v1/charges", skip=1)
    assert [box.get(path).status_code for path in ("/v1/balance", *["/v1/charges"] * 4)] == [
        200,
        200,
        429,
        429,
        200,
    ]
    box.fault("rate_limit", count=None)
    assert [box.get("/v1/balance").status_code for _ in range(3)] == [429, 429, 429]


Ask = Callable[[], Awaitable[object]]


_TURNS = 200
"""Turns of the loop after which a request that a fault has struck makes no way any more."""


class EveryVendor:
    """A client of all stand-ins in this process, with the right to everything."""

    def __init__(self, web: httpx2.AsyncClient, sandbox: Sandbox, assertion: str) -> None:
        self._web, self._sandbox = web, sandbox
        self._grant = {"grant_type": GRANT, "assertion": assertion}
        self.faults = sandbox.faults

    async def ask(self, method: str, path: str, **more: Any) -> httpx2.Response:  # noqa: ANN401  as httpx2 takes it
        return await self._web.request(method, path, **more)

    async def requests(self) -> dict[str, tuple[Ask, Ask | None]]:
        """Return a request of each group that is carried out, and one that the vendor refuses, if there is one."""
        analytics, cloud, graph = await self._analytics(), await self._cloud(), await self._graph()
        issue, machine = {"json": {"title": "t"}}, f"{MACHINE}/Microsoft.Compute/virtualMachines/gateway"
        ask = partial(partial, self.ask)
        return {
            "processor": (
                ask("PATCH", "/v1/account", headers=STRIPE, data={"metadata[a]": "b"}),
                ask("PATCH", "/v1/account", headers=STRIPE, data={"moon": "b"}),
            ),
            "payment": (self._paid, partial(self._paid, "declined")),
            "mail": (self._mailed, None),
            "push": (
                ask("POST", "/push", headers=PUSH, json={"topic": "a"}),
                ask("POST", "/push", json={"topic": "a"}),
            ),
            "push reads": (ask("GET", "/push/a/json", headers=PUSH), None),
            "tracker": (ask("GET", ISSUES), None),
            "tracker writes": (ask("POST", ISSUES, headers=PUSH, **issue), ask("POST", ISSUES, **issue)),
            "analytics": (ask("POST", REPORTS, headers=analytics, json=TOTAL), ask("POST", REPORTS, json=TOTAL)),
            "analytics token": (ask("POST", TOKEN_PATH, data=self._grant), None),
            "cloud": (
                ask("GET", machine, headers=cloud, params={"api-version": "2024-07-01"}),
                ask("GET", machine, headers=cloud),
            ),
            "cloud call": (await self._webhook(), ask("POST", "/webhooks?token=of-none")),
            "graph": (ask("GET", "/v1.0/me", headers=graph), ask("GET", "/v1.0/me/messages/x", headers=graph)),
        }

    async def strike(self, ask: Ask) -> None:
        """Make a request, to its end or until a fault keeps it back for good."""
        before, asked = len(self.faults.as_json()), asyncio.ensure_future(ask())
        turns = _TURNS
        async with asyncio.timeout(PATIENCE):
            while turns and not asked.done():
                await asyncio.sleep(0)
                turns -= len(self.faults.as_json()) < before
        _ = asked.cancel()
        _ = await asyncio.gather(asked, return_exceptions=True)

    async def _paid(self, verdict: str = "approved") -> None:
        made = await self.ask("POST", "/v1/checkout/sessions", headers=STRIPE, data=SESSION)
        form = {"email": "ada@example.org", "verdict": verdict}
        _ = await self.ask("POST", f"/pay/{made.json()['id']}", data=form)

    async def _mailed(self) -> None:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "shop@orrery.test", "ada@example.org", "Hello"
        assert self._sandbox.mail is not None
        port = self._sandbox.mail.port
        _ = await aiosmtplib.send(message, hostname="127.0.0.1", port=port, timeout=PATIENCE, start_tls=False)

    async def _analytics(self) -> dict[str, str]:
        return _bearer(await self.ask("POST", TOKEN_PATH, data=self._grant))

    async def _cloud(self) -> dict[str, str]:
        header, asked = {"X-IDENTITY-HEADER": IDENTITY_HEADER}, {"resource": "https://management.azure.com"}
        return _bearer(await self.ask("GET", CLOUD_TOKEN, headers=header, params=asked))

    async def _graph(self) -> dict[str, str]:
        path, client = f"/{TENANT_A}/oauth2/v2.0", {"client_id": CLIENT_A}
        code = (
            await self.ask("POST", f"{path}/devicecode", data=client | {"scope": "User.Read Mail.Read"})
        ).json()
        _ = await self.ask("POST", "/_identity/approve", json={"user_code": code["user_code"], "account": ANN})
        grant = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code["device_code"]}
        return _bearer(await self.ask("POST", f"{path}/token", data=client | grant))

    async def _webhook(self) -> Ask:
        """Return a call of the webhook that the action group has."""
        group = self._sandbox.state.get(
            "_cloud_resource", f"{MACHINE}/Microsoft.Insights/actionGroups/gateway-alerts".lower()
        )
        assert group is not None
        return partial(self.ask, "POST", group["body"]["properties"]["webhookReceivers"][0]["serviceUri"])


def _bearer(answer: httpx2.Response) -> dict[str, str]:
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


@asynccontextmanager
async def every_vendor(folder: Path) -> AsyncGenerator[EveryVendor]:
    """Run a sandbox of all vendors in this process."""
    clock, key = MovableClock(folder / "clock"), service_account_key("http://127.0.0.1/analytics/token")
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    config = SandboxConfig(
        "http://127.0.0.1",
        {KEY: EVERYTHING_PERMITTED},
        PRICES,
        push_token=PUSH_TOKEN,
        analytics=config_of(key, PROPERTY),
        cloud=CloudConfig(sockets[0], folder, owner="owner@northwind.example"),
        identity=IdentityConfig(sockets[1], folder),
    )
    app = create_app(config, clock, clock.advance)
    sandbox: Sandbox = app.state.sandbox
    assert sandbox.mail is not None
    await sandbox.mail.start()
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=PATIENCE) as web:
        yield EveryVendor(web, sandbox, signed_assertion(key, clock.now().timestamp()))
    await sandbox.mail.stop()
    for one in sockets:
        one.close()


ELSEWHERE = {"webhook", "cloud job"}
"""Groups of requests that the vendor makes by itself: webhooks (test_processor.py), and those of jobs."""


async def test_each_request_is_struck_by_one_fault(tmp_path: Path) -> None:
    """With all kinds of its group on, it uses up one; one that is refused uses none that strikes afterwards."""
    async with every_vendor(tmp_path) as vendors:
        requests, faults = await vendors.requests(), vendors.faults
        assert {of for kind in KINDS.values() for of in kind.of} == requests.keys() | ELSEWHERE
        for of, (good, refused) in requests.items():
            kinds = {name: kind.after for name, kind in KINDS.items() if of in kind.of and name not in UNTIL_OFF}
            for after in (True, False):
                for name in (name for name, is_after in kinds.items() if is_after is after):
                    faults.add(name, value=0.0)
                if after and refused is not None:
                    before = faults.as_json()
                    await vendors.strike(refused)
                    assert (of, faults.as_json()) == (of, before)
            for left in reversed(range(len(kinds))):
                await vendors.strike(good)
                assert (of, len(faults.as_json())) == (of, left), faults.as_json()
            faults.remove()
        faults.add("cloud_403")
        await vendors.strike(requests["cloud call"][0])
        assert [one["kind"] for one in faults.as_json()] == ["cloud_403"]  # of the management API alone

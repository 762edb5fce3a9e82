"""The cloud's page: an outage by its buttons, and the guest on the machine (docs/reference/sandbox.md)."""

import re
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orrery.gateway.routes import CloudBody, ReportBody
from orrery.sandbox.app import Service
from orrery.sandbox.gateway import EVERY
from orrery.sandbox.ground import PING_TOKEN
from tests.support.cloud import CloudBox, running_cloud
from tests.support.provisioning import runbook
from tests.support.serving import bound, serving
from tests.support.waiting import until

FACTOR = 30.0
HTML = {"Accept": "text/html"}


class Pinged:
    """A service that counts the pings, and keeps the reports that the site's route would take."""

    def __init__(self) -> None:
        self.pings = 0
        self.reports: list[ReportBody] = []

    async def take(self, request: Request) -> Response:
        """Take one ping or report, with another good status than that of today's service."""
        body = await request.body()
        if b'"report"' in body:
            self.reports.append(CloudBody.model_validate_json(body).report)
        else:
            self.pings += 1
        return Response(status_code=200)


@pytest.fixture(scope="module")
def pinged() -> Pinged:
    """Return the service that is pinged."""
    return Pinged()


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory, pinged: Pinged) -> Iterator[CloudBox]:
    """Run a cloud as the demo has it: provisioned, fast, beside a service."""
    listener, url = bound()
    service = Service(url, {PING_TOKEN: "token-of-the-tests"})
    app = Starlette(routes=[Route("/ping", pinged.take, methods=["POST"])])
    folder = tmp_path_factory.mktemp("cloud")
    with (
        serving(app, listener),
        running_cloud(folder, runbook, service, factor=FACTOR, owner="owner@northwind.example") as box,
    ):
        until(lambda: pinged.pings)
        yield box


@pytest.fixture
def box(module_box: CloudBox) -> CloudBox:
    """The module's cloud with its machine running, a good webhook, and nothing due."""
    module_box.pull("known")
    module_box.pull("renew")
    module_box.advance(3600)
    if module_box.known()["machine"]["power"] != "running":
        module_box.pull("start")
        module_box.advance(3600)
    return module_box


def press(box: CloudBox, button: str) -> int:
    """Press a button as a browser does, and return the status."""
    return box.web.post("/_cloud", data={"do": button}, headers=HTML).status_code


def page(box: CloudBox) -> str:
    """Return the page's text without tags."""
    found = box.web.get("/cloud", headers=HTML).text
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found))


def test_the_guest_is_as_silent_as_its_machine(box: CloudBox, pinged: Pinged) -> None:
    """No ping while it is down, one at once when it runs again, which is in the outage as the service's answer."""
    box.pull("shutdown", start=3600)
    box.advance(600 / FACTOR)
    before = pinged.pings
    for _ in range(5):
        box.advance(EVERY)
    assert box.web.get("/gateway", headers={"Accept": "application/json"}).json()["silent"]
    assert pinged.pings == before
    box.advance(3600)
    until(lambda: pinged.pings > before)
    until(lambda: box.events()[-1]["kind"] == "service")
    assert "The service answers" in page(box)


def test_an_expired_webhook_is_renewed(box: CloudBox) -> None:
    """The chain ends at the webhook, the page names the next step, and a renewed one works again."""
    press(box, "expire")
    press(box, "shutdown")
    box.advance(600 / FACTOR)
    shown = page(box)
    assert all(one in shown for one in ("expired", "The webhook answers 400", "start the machine")), shown
    for button in ("renew", "start"):
        assert press(box, button) == 303
    box.advance(600 / FACTOR)
    press(box, "shutdown")
    box.advance(600 / FACTOR)
    assert "The webhook answers 202" in page(box)


def test_the_site_is_sent_which_layer_ended_the_outage(box: CloudBox, pinged: Pinged) -> None:
    """A report follows each change, as the real one's timer would send it, without the cloud's libraries."""
    press(box, "shutdown")
    box.advance(600)

    def ended_by_the_runbook() -> bool:
        box.advance(10)
        outage = pinged.reports[-1].last_outage
        return outage is not None and outage.ended_by == "layer 1"

    until(ended_by_the_runbook)
    assert pinged.reports[-1].alerts.health == "on"

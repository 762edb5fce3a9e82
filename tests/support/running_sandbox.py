"""A running sandbox of the processor, mail, push, tracker and the gateway, with the receiver of its webhooks."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
import stripe
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from stripe._v1_services import V1Services

from orrery.sandbox.app import EVERYTHING, PriceSeed, SandboxConfig
from orrery.sandbox.ground import Document
from tests.support.sandbox_box import SandboxBox, running_box
from tests.support.serving import serving
from tests.support.waiting import PATIENCE, until

KEY = "sk_test_orrery_sandbox"
READER_KEY = "rk_test_orrery_reader"
SECRET = "whsec_orrery_sandbox"  # noqa: S105  a fixture's secret, named so
PUSH_TOKEN = "push-token-of-the-sandbox"  # noqa: S105  the same
VERSION = "2026-08-26.dahlia"
DOCUMENTS = "/_tests/documents"
PRICE = "price_sandbox_cissp"
EUR_PRICE = "price_sandbox_eur"
OLD_PRICE = "price_sandbox_retired"


class Receiver:
    """A tiny webhook endpoint: keeps what arrives and answers with the statuses it was given, then 200."""

    def __init__(self) -> None:
        self.arrived: list[tuple[bytes, str]] = []
        self.agents: list[str] = []
        self.statuses: list[int] = []
        self.url = ""
        self.hold = threading.Event()
        self.hold.set()

    async def take(self, request: Request) -> Response:
        """Keep one delivery; answer once nothing holds."""
        self.arrived.append((await request.body(), request.headers["stripe-signature"]))
        self.agents.append(request.headers["user-agent"])
        await asyncio.to_thread(self.hold.wait, PATIENCE)
        return Response(status_code=self.statuses.pop(0) if self.statuses else 200)

    def app(self) -> Starlette:
        """Return the endpoint as an app."""
        return Starlette(routes=[Route("/hook", self.take, methods=["POST"])])

    def events(self) -> list[Document]:
        """Return the events that arrived."""
        return [json.loads(body) for body, _ in self.arrived]

    def types(self) -> list[str]:
        """Return the types of the events that arrived."""
        return [event["type"] for event in self.events()]


@dataclass(frozen=True)
class Running(SandboxBox):
    """A running sandbox, seen from outside, with the parts that a test steers."""

    receiver: Receiver
    transport: stripe.RequestsClient

    def client(self, key: str = KEY) -> V1Services:
        """Return the vendor's own client for this sandbox."""
        return stripe.StripeClient(
            key,
            base_addresses={"api": self.url},
            stripe_version=VERSION,
            max_network_retries=0,
            http_client=self.transport,
        ).v1

    def post(self, path: str, data: dict[str, str], **headers: str) -> httpx2.Response:
        """Post a form to the API."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.web.post(path, data=data, headers={"Authorization": f"Bearer {KEY}"} | named)

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Get from the API."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.web.get(path, headers={"Authorization": f"Bearer {KEY}"} | named)

    def deliveries(self, state: str) -> list[Document]:
        """Return the sandbox's own notes on deliveries in that state."""
        return [one for one in self.sandbox.state.newest_first("_delivery") if one["state"] == state]

    @contextmanager
    def damaged(self, *documents: Document) -> Generator[None]:
        """Store these in the place of the documents with their ids, until the end.

        Nothing may be on its way meanwhile: it would be written over them.
        """
        until(lambda: not self.deliveries("pending"))
        whole = [self.sandbox.state.get(one["object"], one["id"]) for one in documents]
        self._save(*documents)
        try:
            yield
        finally:
            self._save(*(one for one in whole if one is not None))

    def copied(self, count: int, *documents: Document, names: tuple[str, ...]) -> list[list[Document]]:
        """Store so many copies of documents that belong together: in each, these names end in another number."""
        copies: list[list[Document]] = []
        for number in range(count):
            text = json.dumps(documents)
            for name in names:
                text = text.replace(name, f"{name}{number}")
            copies.append(json.loads(text))
        self._save(*(one for copy in copies for one in copy))
        return copies

    def _save(self, *documents: Document) -> None:
        """Let the server write: its store is for one thread at a time."""
        self.asked("POST", DOCUMENTS, documents)

    def session(self, **more: str) -> Document:
        """Create a session as the service does, with more parameters or other ones."""
        answer = self.post("/v1/checkout/sessions", SESSION | more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def pay(self, session: Document, **fields: str) -> httpx2.Response:
        """Submit the payment page of a session."""
        return self.web.post(f"/pay/{session['id']}", data={"email": "Buyer@example.org"} | fields)

    def advance(self, seconds: float) -> None:
        """Move the sandbox's clock forward."""
        self.asked("POST", "/_clock", {"advance": seconds})


SESSION = {
    "mode": "payment",
    "line_items[0][price]": PRICE,
    "line_items[0][quantity]": "1",
    "payment_method_types[0]": "card",
    "payment_method_types[1]": "link",
    "payment_method_options[card][request_three_d_secure]": "automatic",
    "custom_text[submit][message]": "Instant access to one year of practice questions.",
    "success_url": "http://127.0.0.1:1/thanks?session={CHECKOUT_SESSION_ID}",
    "cancel_url": "http://127.0.0.1:1/",
    "custom_fields[0][key]": "marketing_consent",
    "custom_fields[0][label][type]": "custom",
    "custom_fields[0][label][custom]": "May we write to you about new questions?",
    "custom_fields[0][type]": "dropdown",
    "custom_fields[0][optional]": "true",
    "custom_fields[0][dropdown][options][0][label]": "Yes",
    "custom_fields[0][dropdown][options][0][value]": "yes",
    "custom_fields[0][dropdown][options][1][label]": "No",
    "custom_fields[0][dropdown][options][1][value]": "no",
    "metadata[productType]": "cert",
    "metadata[certCode]": "cissp",
    "metadata[vendorSlug]": "isc2",
}
"""The parameters that the service sends (spec 1, Session parameters sent to the processor)."""

EVERYTHING_PERMITTED = frozenset({EVERYTHING})
PRICES = (
    PriceSeed(PRICE, "CISSP practice questions", 4900),
    PriceSeed(EUR_PRICE, "CISSP practice questions in Europe", 4500, "eur"),
    PriceSeed(OLD_PRICE, "CISSP practice, old tier", 2900, active=False),
)


async def save_documents(request: Request) -> Response:
    """Write documents as they are, in the server's thread."""
    request.app.state.sandbox.state.save(*await request.json())
    return Response(status_code=204)


@contextmanager
def running(
    folder: Path,
    receiver: Receiver,
    secrets: tuple[str, ...] = (SECRET,),
    change: Callable[[SandboxConfig], SandboxConfig] = lambda config: config,
) -> Generator[Running]:
    """Run a sandbox whose state and clock live in `folder`, with its settings as `change` leaves them."""

    def settings(url: str) -> SandboxConfig:
        return change(
            SandboxConfig(
                base_url=url,
                api_keys={
                    KEY: EVERYTHING_PERMITTED,
                    READER_KEY: frozenset({"charge_read", "checkout_session_read"}),
                },
                prices=PRICES,
                state_path=folder / "sandbox.sqlite3",
                webhook_endpoints=((receiver.url, secrets),),
                push_token=PUSH_TOKEN,
                extra_routes=(Route(DOCUMENTS, save_documents, methods=["POST"]),),
            )
        )

    with running_box(folder, settings) as box, closing(stripe.RequestsClient(timeout=PATIENCE)) as transport:
        yield Running(box.web, box.app, box.clock, receiver, transport)


@contextmanager
def receiving(certificate: Path | None = None) -> Generator[Receiver]:
    """Run a webhook endpoint; over https with a certificate of this machine's name."""
    receiver = Receiver()
    listener = socket.create_server(("127.0.0.1", 0))
    address = "http://127.0.0.1" if certificate is None else "https://localhost"
    receiver.url = f"{address}:{listener.getsockname()[1]}/hook"
    with serving(receiver.app(), listener, certificate):
        yield receiver


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One sandbox and its webhook endpoint for a module's tests: starting one takes half a second."""
    with receiving() as receiver, running(tmp_path_factory.mktemp("sandbox"), receiver) as one:
        yield one


@pytest.fixture
def box(module_box: Running) -> Running:
    """The module's sandbox with every fault off and nothing on its way: what tests left in it stays."""
    module_box.clear_faults()
    module_box.receiver.statuses.clear()
    until(lambda: not module_box.deliveries("pending"))
    module_box.receiver.arrived.clear()
    return module_box

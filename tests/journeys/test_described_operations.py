"""The running service against its own OpenAPI document, by Schemathesis: nothing undocumented, no 5xx but 503."""

# Schemathesis leaves its type parameters open, and so they are unknown here:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeArgument=false

from collections import Counter
from collections.abc import Iterator

import httpx2
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation, BaseSchema
from schemathesis.specs.openapi import checks

from tests.journeys.live_counter import BEARER, COSMOS, GUIDED, INTEL, REFRESH, SITE, LiveCounter
from tests.support.deployment import CounterSettings, Deployment, running
from tests.support.marked import SECRETS
from tests.support.soak import rounds
from tests.support.visiting import CHECKOUT, Visitor
from tests.support.webhooks import WEBHOOK, send, signed

PRACTICE_SITE = {"Authorization": f"Bearer {SECRETS['access_service_token']}"}
GUEST = {"Authorization": f"Bearer {SECRETS['gateway_ping_token']}"}

LIMITS = ("sessions_per_minute", "sessions_per_hour", "access_reads_per_minute")

EXAMPLES = rounds(6)
"""Requests to each operation in each mode."""

CONFORMANCE = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
MODES = {"as described": GenerationMode.POSITIVE, "other than described": GenerationMode.NEGATIVE}

TAKE_SOMETHING = [
    "POST /guided/api/checkout",
    "POST /guided/api/webhook",
    "POST /guided/api/access/check",
    "GET /guided/api/access/{session_id}",
    "POST /ping",
]
TAKE_A_CHOICE = ["GET /api/stats", "POST /api/stats"]
"""Their few right requests are soon through."""

GATE = "GET /guided/api/gate/{vendor_slug}/{cert_code}"
TAKE_NOTHING = ["GET /healthz", "GET /readyz", f"GET {GUIDED}", "GET /guided/api/products", GATE]
FOR_THE_OWNER = [*TAKE_A_CHOICE, f"GET {GUIDED}"]
CASES = [
    *((name, mode) for name in TAKE_SOMETHING + TAKE_A_CHOICE for mode in MODES),
    *((name, "as described") for name in TAKE_NOTHING),
]

explored = settings(
    max_examples=EXAMPLES,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a deployment whose rate limits are out of the way."""
    limits = "\n".join(f"{name} = 1000000" for name in LIMITS)
    folder = tmp_path_factory.mktemp("described")
    more = "[gateway]\npings = true"
    with running(Deployment(folder, more_checkout=limits, counter=CounterSettings(), more=more)) as deployment:
        yield deployment


@pytest.fixture(scope="module")
def document(shop: Deployment) -> BaseSchema:
    """Load the document from the private listener."""
    return schemathesis.openapi.from_url(f"{shop.private}/openapi.json")


@pytest.fixture
def session() -> Iterator[requests.Session]:
    """Return a session with the practice site's token, and no proxy of this machine in between."""
    with requests.Session() as session:
        session.trust_env = False
        session.headers.update(PRACTICE_SITE)
        yield session


def operations(document: BaseSchema) -> dict[str, APIOperation]:
    """Return every operation of the document by its name."""
    found = [each.ok() for each in document.get_all_operations() if isinstance(each, Ok)]
    return {operation.label: operation for operation in found}


def test_every_operation_is_described(document: BaseSchema) -> None:
    """The document describes the public operations, all of them and no others."""
    assert set(operations(document)) == {*TAKE_SOMETHING, *TAKE_A_CHOICE, *TAKE_NOTHING}


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_any_request(
    shop: Deployment, document: BaseSchema, session: requests.Session, name: str, mode: str
) -> None:
    """Whatever is sent, the answer is one that the document describes."""
    if name in FOR_THE_OWNER:
        session.headers.update(BEARER)
    if name == "POST /ping":
        session.headers.update(GUEST)
    statuses = explore(shop.public, operations(document)[name], mode, session)
    is_free = name in TAKE_SOMETHING or (name in TAKE_A_CHOICE and mode != "as described")
    assert sum(statuses.values()) >= (EXAMPLES // 2 if is_free else 1)
    assert all(status < 500 or status == 503 for status in statuses)


def explore(base_url: str, operation: APIOperation, mode: str, session: requests.Session) -> Counter[int]:
    """Send requests to one operation, hold the answers to its description, and count their statuses."""
    statuses = Counter[int]()

    @explored
    @given(case=operation.as_strategy(generation_mode=MODES[mode]))
    def try_one(case: Case) -> None:
        answer = case.call(base_url=base_url, session=session)
        statuses[answer.status_code] += 1
        case.validate_response(answer, checks=CONFORMANCE)

    try_one()
    return statuses


def test_real_answers(shop: Deployment, document: BaseSchema) -> None:
    """The answers of a real sale are as described, too."""
    described = operations(document)
    visitor = Visitor(shop)
    created = visitor.check_out()
    assert created.status_code == 200
    described[f"POST {CHECKOUT}"].validate_response(created)
    access = f"{shop.public}/guided/api/access/{created.json()['id']}"
    described["GET /guided/api/access/{session_id}"].validate_response(shop.client.get(access))
    visitor.pay(created.json()["id"])
    visitor.await_access(created.json()["id"])
    described["GET /guided/api/access/{session_id}"].validate_response(shop.client.get(access))
    described["POST /guided/api/access/check"].validate_response(check(visitor))
    described[f"POST {WEBHOOK}"].validate_response(repeated_webhook(visitor, created.json()["id"]))


SIX_MINUTES = 360
"""Seconds after which nobody answers from what was asked before."""

COUNTED = [("GET", SITE), ("GET", COSMOS), ("POST", REFRESH), ("GET", INTEL), ("GET", GUIDED)]


@pytest.mark.parametrize(("method", "path"), COUNTED)
def test_real_counts(shop: Deployment, document: BaseSchema, method: str, path: str) -> None:
    """The counter's answers are as described while it counts, to strangers, and while the provider is away."""
    described, counter = operations(document)[f"{method} {path.partition('?')[0]}"], LiveCounter(shop)
    counter.next_morning()
    answers = [shop.client.request(method, shop.public + path)]
    for there in (False, True, False):
        shop.sandbox.run_analytics(running=there)
        answers.append(counter.ask(method, path))
        shop.sandbox.advance(SIX_MINUTES)
    shop.sandbox.run_analytics(running=True)
    for answer in answers:
        described.validate_response(answer)
    assert {answer.status_code for answer in answers} <= {200, 401}


def check(visitor: Visitor) -> httpx2.Response:
    """Ask as a practice site does."""
    asked = {"email": visitor.email, "certCode": visitor.product}
    address = f"{visitor.shop.public}/guided/api/access/check"
    return visitor.shop.client.post(address, json=asked, headers=PRACTICE_SITE)


def repeated_webhook(visitor: Visitor, session: str) -> httpx2.Response:
    """Send the event of the sale once more."""
    shop = visitor.shop
    return send(shop, *signed(shop, shop.sandbox.completed(session)))

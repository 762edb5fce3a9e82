"""The processor port over the vendor's library, against the sandbox: answers, errors, deadlines."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.checkout.catalogue import Product, SessionTerms, session_parameters
from orrery.errors import NotConfigured, OrreryError
from orrery.ports.processor import CheckoutSession, Parameters
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from tests.conformance.vendors.held import expect_met
from tests.support.hasty_loop import run_ahead
from tests.support.items import gathered
from tests.support.ports import nobody_listening
from tests.support.running_sandbox import KEY, OLD_PRICE, PRICE, Running
from tests.support.serving import served
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE, eventually

SESSIONS = "/v1/checkout/sessions"
TERMS = SessionTerms("http://127.0.0.1:1/done?s={CHECKOUT_SESSION_ID}", "http://127.0.0.1:1/")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
Result = TypeVar("Result")


def parameters(price: str = PRICE) -> Parameters:
    """Return the parameters of a session."""
    return session_parameters(Product("isc2", "cissp", "CISSP", price), TERMS)


def processor(box: Running, key: str | None = KEY) -> StripeProcessor:
    """Return the port over the sandbox."""
    return StripeProcessor(StripeConnection(key, base_url=box.url))


def create(
    of: StripeProcessor, key: str, body: Parameters | None = None, deadline: float = PATIENCE
) -> CheckoutSession:
    """Create a session."""
    return asyncio.run(of.create_session(body or parameters(), idempotency_key=key, deadline=deadline))


def unreachable(of: StripeProcessor, key: str, deadline: float = PATIENCE) -> tuple[bool, int | None]:
    """Return `same_key` and status of the failure that must come."""
    with pytest.raises(ProcessorUnreachable) as failed:
        create(of, key, deadline=deadline)
    assert_tells_nothing(failed.value)
    return failed.value.same_key, failed.value.status


def assert_tells_nothing(error: OrreryError) -> None:
    """An error's sentence is short, one line, and holds neither key nor the other side's page."""
    text = f"{error} {error!r}"
    assert KEY not in text
    assert "<" not in str(error)
    assert "\n" not in str(error)
    assert len(str(error)) < 300


def test_a_session(box: Running) -> None:
    """A created session is returned in our words, with all that was asked for."""
    made = create(processor(box), "stripe-session")
    assert (made.status, made.payment_status, made.livemode) == ("open", "unpaid", False)
    assert (made.amount_total, made.currency) == (4900, "usd")
    assert made.metadata == {"productType": "cert", "certCode": "cissp", "vendorSlug": "isc2"}
    assert (made.payment_method_types, made.three_d_secure) == (("card", "link"), "automatic")
    assert made.submit_message == parameters()["custom_text"]["submit"]["message"]  # pyright: ignore[reportArgumentType, reportCallIssue, reportIndexIssue] a nested table
    assert made.url is not None
    assert made.url.startswith(box.url)


def test_the_same_key(box: Running) -> None:
    """The same key leads to the same session, and another to another."""
    of = processor(box)
    first = create(of, "stripe-key-1")
    assert create(of, "stripe-key-1").id == first.id
    assert create(of, "stripe-key-2").id != first.id


def test_the_same_key_with_other_parameters(box: Running) -> None:
    """A key that comes back with other parameters is refused by the processor."""
    of = processor(box)
    create(of, "stripe-key-3")
    other: Parameters = {**parameters(), "cancel_url": "http://127.0.0.1:1/other"}
    with pytest.raises(ProcessorRefused) as refused:
        create(of, "stripe-key-3", other)
    assert refused.value.kind == "idempotency_error"


def test_a_refused_parameter(box: Running) -> None:
    """A refusal has the processor's words, with its kind, parameter and status."""
    body: Parameters = {**parameters(), "payment_method_types": ["card", "cashapp"]}
    with pytest.raises(ProcessorRefused) as refused:
        create(processor(box), "stripe-refused", body)
    assert (refused.value.status, refused.value.kind) == (400, "invalid_request_error")
    assert refused.value.param == "payment_method_types"
    assert "cashapp" in str(refused.value)
    assert_tells_nothing(refused.value)


@pytest.mark.parametrize("price", [OLD_PRICE, "price_nowhere"])
def test_a_price_that_is_not_for_sale(box: Running, price: str) -> None:
    """An inactive or unknown price is refused, naming the parameter."""
    with pytest.raises(ProcessorRefused) as refused:
        create(processor(box), f"stripe-{price}", parameters(price))
    assert "price" in (refused.value.param or "")


def test_a_wrong_key(box: Running) -> None:
    """A key that is not accepted is reported without any part of it."""
    with pytest.raises(ProcessorRefused) as refused:
        create(processor(box, "sk_test_orrery_wrong"), "stripe-wrong")
    assert refused.value.status == 401
    assert str(refused.value) == "The processor does not accept the API key."


@pytest.mark.parametrize("key", [None, ""])
def test_no_key(box: Running, key: str | None) -> None:
    """Without a key every call fails with that reason, and asks nothing."""
    of = processor(box, key)
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: of.create_session(parameters(), idempotency_key="k", deadline=1),
        lambda: of.get_session("cs_1"),
        of.get_account,
        lambda: gathered(of.list_webhook_endpoints()),
        lambda: gathered(of.list_completed_sessions(LONG_AGO)),
        lambda: gathered(of.list_expired_sessions(LONG_AGO)),
        lambda: gathered(of.list_charges_of("pi_1")),
    ]
    for call in calls:
        with pytest.raises(NotConfigured):
            asyncio.run(awaited(call()))


async def awaited(work: Awaitable[Result]) -> Result:
    """Return what the work returns."""
    return await work


@pytest.mark.parametrize(
    ("fault", "same_key", "status"),
    [
        ("rate_limit", True, 429),
        ("server_error", False, 500),
        ("html_502", False, 502),
        ("html_200", True, 200),
        ("cut", True, None),
        ("cut_after", True, None),
    ],
)
def test_trouble(box: Running, fault: str, same_key: bool, status: int | None) -> None:  # noqa: FBT001  pytest passes parameters by position
    """Each kind of trouble has whether the repeat must carry the same key; the repeat works."""
    of, key = processor(box), f"stripe-{fault}"
    box.fault(fault, path=SESSIONS)
    assert unreachable(of, key) == (same_key, status)
    assert create(of, key if same_key else f"{key}-new").status == "open"


def test_a_server_error_is_replayed_under_its_key(box: Running) -> None:
    """After a 500 the same key gets the 500 again: that is why the repeat needs a new one."""
    of = processor(box)
    box.fault("server_error", path=SESSIONS)
    assert unreachable(of, "stripe-replay") == (False, 500)
    assert unreachable(of, "stripe-replay") == (False, 500)


def test_a_request_under_way(box: Running) -> None:
    """A key whose first request is still under way is answered 409: the repeat carries the same key."""

    async def both() -> object:
        of = processor(box)
        first = asyncio.create_task(
            of.create_session(parameters(), idempotency_key="stripe-409", deadline=PATIENCE)
        )
        await asyncio.to_thread(eventually, lambda: expect_met(box.web))
        try:
            return await of.create_session(parameters(), idempotency_key="stripe-409", deadline=PATIENCE)
        finally:
            box.clock.advance(60)
            await first

    box.fault("latency", path=SESSIONS, value=60)
    with pytest.raises(ProcessorUnreachable) as failed:
        asyncio.run(both())
    assert (failed.value.status, failed.value.same_key) == (409, True)


def test_the_deadline(box: Running) -> None:
    """A call ends at its deadline, and the session that was made meanwhile comes under the same key."""
    of = processor(box)
    box.fault("lost_answer", path=SESSIONS)
    call = of.create_session(parameters(), idempotency_key="stripe-deadline", deadline=PATIENCE)
    with pytest.raises(ProcessorUnreachable) as failed:
        run_ahead(call, PATIENCE, lambda: expect_met(box.web))
    assert (failed.value.status, failed.value.same_key) == (None, True)
    before = len(box.get(SESSIONS + "?limit=100").json()["data"])
    create(of, "stripe-deadline")
    assert len(box.get(SESSIONS + "?limit=100").json()["data"]) == before


def test_hanging_calls_do_not_stop_others(box: Running) -> None:
    """While one call hangs another is answered."""

    async def both() -> CheckoutSession:
        of = processor(box)
        hanging = asyncio.create_task(of.create_session(parameters(), idempotency_key="hang-1", deadline=PATIENCE))
        await asyncio.to_thread(eventually, lambda: expect_met(box.web))
        session = await of.create_session(parameters(), idempotency_key="hang-2", deadline=PATIENCE)
        assert not hanging.done()
        box.clock.advance(60)
        await hanging
        return session

    box.fault("lost_answer", path=SESSIONS, value=60)
    assert asyncio.run(both()).status == "open"


def test_nobody_is_there() -> None:
    """An address without a listener is unreachable, and the repeat carries the same key."""
    with nobody_listening() as port:
        of = StripeProcessor(StripeConnection(KEY, base_url=f"http://127.0.0.1:{port}"))
        assert unreachable(of, "stripe-unreachable") == (True, None)


@contextmanager
def answering(answer: Response) -> Generator[StripeProcessor]:
    """Return a processor that answers everything so."""
    with served(answer) as url:
        yield StripeProcessor(StripeConnection(KEY, base_url=url))


PAGE = f"<!doctype html><h1>Blocked</h1>{KEY}"
ODD: list[Response] = [
    PlainTextResponse("{}", 200),
    PlainTextResponse("[]", 200),
    PlainTextResponse('{"id": 7}', 200),
    PlainTextResponse('{"id": "cs_1", "object": "checkout.session"}', 200),
    HTMLResponse(PAGE, 400),
    HTMLResponse(PAGE, 403),
    HTMLResponse(PAGE, 404),
    HTMLResponse(PAGE, 503),
    PlainTextResponse("", 404),
    PlainTextResponse('{"error": "no table"}', 400),
    PlainTextResponse('{"message": "a gateway"}', 404),
    HTMLResponse(PAGE, 301, {"Location": "http://127.0.0.1:1/"}),
]


@each_case("answer", ODD)
def test_an_answer_that_is_not_the_contracts(answer: Response) -> None:
    """What breaks the processor's contract cannot be used, whatever its status, and nothing of it is shown."""
    with answering(answer) as of:
        same_key, _ = unreachable(of, "stripe-odd")
        assert same_key is (answer.status_code < 500)


def test_one_session_with_its_prices(box: Running) -> None:
    """A session that is looked up comes with its prices."""
    of = processor(box)
    made = create(of, "stripe-get")
    found = asyncio.run(of.get_session(made.id))
    assert (found.id, found.price_ids, found.quantities) == (made.id, (PRICE,), (1,))


@pytest.mark.parametrize("session_id", ["cs_nowhere", "../charges", "cs_1/expire", "ü", " "])
def test_a_session_that_is_not_there(box: Running, session_id: str) -> None:
    """An unknown or senseless id is refused with 404, and leads nowhere else."""
    with pytest.raises(ProcessorRefused) as refused:
        asyncio.run(processor(box).get_session(session_id))
    assert refused.value.status == 404


def test_completed_sessions_over_pages(box: Running) -> None:
    """Every completed session since a moment is yielded, newest first, with prices, beyond a page of 100."""
    of = processor(box)
    box.pay(box.session())
    box.advance(2)
    since = box.clock.now() - timedelta(seconds=1)
    first = box.session()["id"]
    box.pay({"id": first})
    kept = [box.sandbox.state.get(kind, first) for kind in ("checkout.session", "_line_items")]
    charge = next(box.sandbox.state.newest_first("charge"))
    documents = [charge, *(one for one in kept if one)]
    copies = box.copied(102, *documents, names=(first, charge["id"], charge["payment_intent"]))
    sold = [first, *(session["id"] for _, session, _ in copies)]
    box.session()
    found = asyncio.run(gathered(of.list_completed_sessions(since)))
    assert sorted(session.id for session in found) == sorted(sold)
    assert [session.created for session in found] == sorted([session.created for session in found], reverse=True)
    assert {session.price_ids for session in found} == {(PRICE,)}
    assert {(session.status, session.payment_status) for session in found} == {("complete", "paid")}
    assert {session.email for session in found} == {"Buyer@example.org"}
    charges = asyncio.run(gathered(StripeReads(StripeConnection(KEY, base_url=box.url)).list_charges(since)))
    assert len(charges) == 103
    assert {charge.payment_intent for charge in charges} == {session.payment_intent for session in found}


def test_expired_sessions(box: Running) -> None:
    """Every expired session since a moment is yielded, and none that is open or completed."""
    of, began = processor(box), box.clock.now()
    box.advance(1)
    expired, completed = box.session(), box.session()
    box.pay(completed)
    box.advance(25 * 3600)
    box.session()
    found = asyncio.run(gathered(of.list_expired_sessions(began + timedelta(seconds=1))))
    assert [(one.id, one.status) for one in found] == [(expired["id"], "expired")]


def test_the_charges_of_a_payment(box: Running) -> None:
    """Each attempt to pay is a charge of the payment, the newest first; a delayed one pends until it fails."""
    of, session = processor(box), box.session()
    box.pay(session, verdict="declined")
    box.pay(session, verdict="delayed")
    payment = asyncio.run(of.get_session(session["id"])).payment_intent
    assert payment
    assert [one.status for one in asyncio.run(gathered(of.list_charges_of(payment)))] == ["pending", "failed"]
    box.web.post(f"/_settle/{session['id']}", json={"paid": False})
    assert [one.status for one in asyncio.run(gathered(of.list_charges_of(payment)))] == ["failed", "failed"]
    assert asyncio.run(gathered(of.list_charges_of("pi_unknown"))) == []


def test_the_webhook_endpoints(box: Running) -> None:
    """The account's endpoints have their addresses and events."""
    (endpoint,) = asyncio.run(gathered(processor(box).list_webhook_endpoints()))
    assert (endpoint.url, endpoint.enabled) == (box.receiver.url, True)
    assert endpoint.events

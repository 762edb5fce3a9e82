"""What only an approval may do, over the vendor's library, against the sandbox."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import pytest
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.writes import StripeWrites
from orrery.errors import NotConfigured
from orrery.ports.processor import BRANDING
from orrery.ports.processor.errors import ProcessorError, ProcessorRefused, ProcessorUnreachable
from tests.support.items import gathered
from tests.support.ports import nobody_listening
from tests.support.running_sandbox import KEY, READER_KEY, Running
from tests.support.serving import served
from tests.support.tables import each_case

NAME = "business_profile.name"
ACCOUNT = "/v1/account"


def writes(box: Running, key: str | None = KEY) -> StripeWrites:
    """Return the port over the sandbox."""
    return StripeWrites(StripeConnection(key, base_url=box.url))


async def _listed(box: Running, list_id: str) -> list[str]:
    reads = StripeReads(StripeConnection(KEY, base_url=box.url))
    return [one.value for one in await gathered(reads.list_entries(list_id))]


def list_id(box: Running, alias: str) -> str:
    """Return the id of a list."""
    return box.get(f"/v1/radar/value_lists?alias={alias}").json()["data"][0]["id"]


def test_a_session_is_expired(box: Running) -> None:
    """An open session is expired; another try under another key is refused."""
    session = box.session()["id"]
    expired = asyncio.run(writes(box).expire_session(session, idempotency_key="w-expire-1"))
    assert (expired.id, expired.status) == (session, "expired")
    again = asyncio.run(writes(box).expire_session(session, idempotency_key="w-expire-1"))
    assert again.status == "expired"
    with pytest.raises(ProcessorRefused, match="status of open"):
        asyncio.run(writes(box).expire_session(session, idempotency_key="w-expire-2"))


def test_an_entry_comes_and_goes(box: Running) -> None:
    """An entry is added once under its key, and removed."""
    of, cards = writes(box), list_id(box, "card_fingerprint_blocklist")
    entry = asyncio.run(of.add_entry(cards, "Ab3dEf7hIj1kLm5n", idempotency_key="w-entry-1"))
    assert asyncio.run(of.add_entry(cards, "Ab3dEf7hIj1kLm5n", idempotency_key="w-entry-1")).id == entry.id
    assert asyncio.run(_listed(box, cards)) == ["Ab3dEf7hIj1kLm5n"]
    asyncio.run(of.remove_entry(entry.id))
    assert asyncio.run(_listed(box, cards)) == []
    with pytest.raises(ProcessorRefused):
        asyncio.run(of.remove_entry(entry.id))


def test_a_configuration_is_made_and_changed(box: Running) -> None:
    """A configuration is created with its switches; what a change does not name stays."""
    of = writes(box)
    made = asyncio.run(
        of.create_configuration(
            "Autumn", {"link": False, "ideal": True}, parent="pmc_sandbox_parent", idempotency_key="w-pmc-1"
        )
    )
    assert (made.name, made.parent, made.is_default) == ("Autumn", "pmc_sandbox_parent", False)
    assert made.enabled == ("card", "ideal")
    changed = asyncio.run(
        of.update_configuration(made.id, {"ideal": False}, name=None, active=False, idempotency_key="w-pmc-2")
    )
    assert (changed.id, changed.name, changed.active, changed.enabled) == (made.id, "Autumn", False, ("card",))
    renamed = asyncio.run(
        of.update_configuration(made.id, {}, name="Winter", active=None, idempotency_key="w-pmc-3")
    )
    assert (renamed.name, renamed.active, renamed.enabled) == ("Winter", False, ("card",))


def test_the_branding_is_changed(box: Running) -> None:
    """Each field of the branding arrives where it belongs."""
    values = {
        "business_profile.name": "Nørthwind & Søns",
        "business_profile.support_email": "help@northwind.example",
        "business_profile.support_url": "https://northwind.example/help?a=1&b=2",
        "business_profile.url": "https://northwind.example",
        "settings.branding.icon": "file_1Icon",
        "settings.branding.logo": "file_1Logo",
        "settings.branding.primary_color": "#123456",
        "settings.branding.secondary_color": "#654321",
        "settings.payments.statement_descriptor": "NORTHWIND",
    }
    assert set(values) == set(BRANDING)
    before = box.get(ACCOUNT).json()
    assert asyncio.run(writes(box).update_account(values)).branding == values
    after = box.get(ACCOUNT).json()
    assert after["business_profile"]["mcc"] == before["business_profile"]["mcc"]
    assert after["settings"]["branding"]["logo"] == "file_1Logo"


def test_the_verb_that_the_vendor_has_not(box: Running) -> None:
    """Where the processor does not know PATCH, the owner reads that the dashboard is the place (decision 17)."""
    box.fault("patch_404")
    with pytest.raises(ProcessorRefused, match=r"\(404\): set it in the dashboard") as refused:
        asyncio.run(writes(box).update_account({NAME: "Other"}))
    assert refused.value.status == 404


def test_branding_that_is_refused(box: Running) -> None:
    """A refusal of the branding names its parameter."""
    with pytest.raises(ProcessorRefused) as refused:
        asyncio.run(writes(box).update_account({"settings.payments.statement_descriptor": "x" * 23}))
    assert (refused.value.status, refused.value.param) == (400, "settings[payments][statement_descriptor]")


def test_keys_for_the_branding(box: Running) -> None:
    """No key, a wrong key and a key without the permission are reported without any part of the key."""
    with pytest.raises(NotConfigured):
        asyncio.run(writes(box, None).update_account({NAME: "Other"}))
    with pytest.raises(ProcessorRefused, match=r"^The processor does not accept the API key\.$"):
        asyncio.run(writes(box, "sk_test_orrery_wrong").update_account({NAME: "Other"}))
    with pytest.raises(ProcessorRefused, match="needs rak_account_write") as refused:
        asyncio.run(writes(box, READER_KEY).update_account({NAME: "Other"}))
    assert READER_KEY[-4:] not in str(refused.value)


@pytest.mark.parametrize(
    ("fault", "status"),
    [("rate_limit", 429), ("server_error", 500), ("html_502", 502), ("html_200", 200), ("cut", None)],
)
def test_trouble_with_the_branding(box: Running, fault: str, status: int | None) -> None:
    """Trouble on the way is trouble, whatever it looks like: what became of the change is not known."""
    box.fault(fault, path=ACCOUNT)
    with pytest.raises(ProcessorUnreachable) as failed:
        asyncio.run(writes(box).update_account({NAME: "Other"}))
    assert failed.value.status == status


@contextmanager
def answering(answer: Response) -> Generator[StripeWrites]:
    """Return a processor that answers everything so."""
    with served(answer) as url:
        yield StripeWrites(StripeConnection(KEY, base_url=url))


PAGE = f"<!doctype html><h1>Blocked</h1>{KEY}"
ODD: list[tuple[Response, type[ProcessorError]]] = [
    (
        JSONResponse({"error": {"message": "No such method", "type": "invalid_request_error"}}, 405),
        ProcessorRefused,
    ),
    (HTMLResponse(PAGE, 405), ProcessorRefused),
    (HTMLResponse(PAGE, 404), ProcessorUnreachable),
    (HTMLResponse(PAGE, 403), ProcessorUnreachable),
    (PlainTextResponse('{"error": "no table"}', 400), ProcessorUnreachable),
    (PlainTextResponse("[]", 200), ProcessorUnreachable),
    (HTMLResponse(PAGE, 301, {"Location": "http://127.0.0.1:1/"}), ProcessorUnreachable),
    (
        JSONResponse({"error": {"message": "Moved"}}, 307, {"Location": "http://127.0.0.1:1/"}),
        ProcessorUnreachable,
    ),
]


@each_case(("answer", "expected"), ODD)
def test_answers_that_are_not_the_contracts(answer: Response, expected: type[ProcessorError]) -> None:
    """A 405 means the dashboard; what is not the processor's is no answer; no redirect is followed."""
    with answering(answer) as of, pytest.raises(expected) as failed:
        asyncio.run(of.update_account({NAME: "Other"}))
    assert "<" not in str(failed.value)
    assert KEY not in f"{failed.value!r}"


def test_nobody_is_there() -> None:
    """An address without a listener is unreachable."""
    with nobody_listening() as port, pytest.raises(ProcessorUnreachable):
        asyncio.run(
            StripeWrites(StripeConnection(KEY, base_url=f"http://127.0.0.1:{port}")).update_account({NAME: "X"})
        )


@pytest.mark.parametrize("nothing", ["", " "])
def test_an_id_that_names_nothing(box: Running, nothing: str) -> None:
    """Without an id a change would go to the whole collection: it is refused, and nothing is sent."""
    of, before = writes(box), len(box.get("/v1/payment_method_configurations?limit=100").json()["data"])
    calls: list[Callable[[], Awaitable[object]]] = [
        lambda: of.update_configuration(nothing, {"card": True}, name="X", active=None, idempotency_key="w-none"),
        lambda: of.expire_session(nothing, idempotency_key="w-none"),
        lambda: of.remove_entry(nothing),
    ]
    for call in calls:
        with pytest.raises(ProcessorRefused, match="names nothing"):
            asyncio.run(_awaited(call()))
    assert len(box.get("/v1/payment_method_configurations?limit=100").json()["data"]) == before


async def _awaited(work: Awaitable[object]) -> object:
    return await work

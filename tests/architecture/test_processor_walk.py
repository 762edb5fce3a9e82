"""What of the processor the source can reach, and from where: no charge, no refund, no change without a word."""

from pathlib import Path, PurePosixPath

from tests.architecture.processor_walk import (
    PORT,
    Module,
    module,
    modules,
    other_doors,
    port_methods,
    reached,
    stray_writes,
)
from tests.support.tables import each_case

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "orrery"
ALLOWED = {
    "GET /v1/account",
    "GET /v1/balance",
    "GET /v1/charges",
    "GET /v1/checkout/sessions",
    "GET /v1/checkout/sessions/{id}",
    "GET /v1/customers",
    "GET /v1/events",
    "GET /v1/events/{id}",
    "GET /v1/invoices",
    "GET /v1/payment_method_configurations",
    "GET /v1/payouts",
    "GET /v1/prices",
    "GET /v1/radar/value_list_items",
    "GET /v1/radar/value_lists",
    "GET /v1/reviews",
    "GET /v1/subscriptions",
    "GET /v1/webhook_endpoints",
    "POST /v1/checkout/sessions",
    "POST /v1/checkout/sessions/{id}/expire",
    "POST /v1/payment_method_configurations",
    "POST /v1/payment_method_configurations/{id}",
    "POST /v1/radar/value_list_items",
    "DELETE /v1/radar/value_list_items/{id}",
    "PATCH /v1/account",
}
"""Every operation that there is for us (decision 16). A charge, a refund or a payment is none of them, and becomes
none. Invoices, payouts and subscriptions are asked for only to see that a restricted key is refused."""

WRITES = {
    "expire_session",
    "add_entry",
    "remove_entry",
    "create_configuration",
    "update_configuration",
    "update_account",
}
"""What an approval may do (change rule 4)."""

PLANTED = {
    "adapters/stripe/writes.py": [
        "def f(client): return client.v1.refunds.create({})",
        "def f(client): return client.v1.charges.create({})",
        "def f(client): return client.v1.charges.capture('ch_1')",
        "def f(client): return client.v1.payment_intents.create({})",
        "def f(client): return client.v1.payment_intents.list({})",
        "def f(client): return client.raw_request('post', 'refunds')",
        "def f(client): return client.v2.core.events.list()",
        "def f(client):\n    one = client.v1\n    return one.refunds.create({})",
        "def f(client): return getattr(client, 'v1').refunds.create({})",
        "def f(client): return client._requestor.request('post', 'refunds')",
        "import stripe\nstripe.Refund.create()",
        "from stripe import Refund",
        "import httpx2\nhttpx2.post('refunds')",
        "def f(connection): return connection.patch('/v1/refunds', {}, object)",
    ],
    "checkout/selling/service.py": [
        "async def f(writes): await writes.expire_session('cs_1', idempotency_key='k')",
        "async def f(writes): await writes.update_account({})",
        "def f(operation, intent): return operation.perform(intent, '')",
        "PATH = '/v1/refunds'",
    ],
    "account/account.py": [
        "async def f(writes): await writes.update_account({})",
        "async def g(desk): await desk._update_branding(None, '')",
    ],
    "approvals/approvals.py": ["def f(operation, intent): return operation.perform(intent, '')"],
}
PLANTS = [(path, lines) for path, plants in PLANTED.items() for lines in plants]


def faults(found: list[Module]) -> list[str]:
    """Return everything that the walk finds wrong."""
    return [
        *(f"reaches {one}" for one in sorted(reached(found) - ALLOWED)),
        *other_doors(found),
        *stray_writes(found),
    ]


def test_the_source_reaches_what_is_allowed_and_nothing_else() -> None:
    """The vendor's operations that are used are exactly those on the list."""
    assert reached(modules(PACKAGE)) == ALLOWED


def test_nothing_creates_or_refunds_a_charge() -> None:
    """No way to a charge, a refund or a payment is on the list, but for reading charges."""
    ways = {one for one in ALLOWED if any(word in one for word in ("charges", "refunds", "payment_intents"))}
    assert ways == {"GET /v1/charges"}


def test_there_is_no_other_door() -> None:
    """Nothing reaches the processor past the library's named operations, and no change past an approval."""
    assert faults(modules(PACKAGE)) == []


def test_what_an_approval_may_do() -> None:
    """The port for changes has these operations; the ones for selling and reading change nothing else."""
    found = modules(PACKAGE)
    assert port_methods(found, "ProcessorWrites") == WRITES
    others = port_methods(found, "Processor") | port_methods(found, "ProcessorReads")
    assert {one for one in others if not one.startswith(("get_", "list_", "first_", "page_of_"))} == {
        "create_session"
    }


@each_case(("path", "lines"), PLANTS)
def test_a_planted_way_is_found(path: str, lines: str) -> None:
    """A way that is written into the source turns the walk red."""
    port = module(PACKAGE, PORT)
    assert faults([port, module(PACKAGE, PurePosixPath(path))]) == []
    assert faults([port, module(PACKAGE, PurePosixPath(path), lines)])

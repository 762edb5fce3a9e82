"""What a restricted key may do is found by reading: what lacks, and what should not be there."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from orrery.account.key_probe import Rights, try_rights
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.sandbox.app import SandboxConfig, create_app
from tests.conformance.vendors.test_processor_calls import Recorder
from tests.support.ports import nobody_listening
from tests.support.running_sandbox import PRICES
from tests.support.serving import bound, serving

KEY = "rk_test_orrery_restricted"
PERMISSIONS = {
    "account_read": "Account",
    "checkout_session_write": "Checkout Sessions",
    "charge_read": "Charges",
    "event_read": "Events",
    "price_read": "Prices",
    "webhook_read": "Webhook Endpoints",
    "review_read": "Reviews",
    "value_list_read": "Radar lists",
    "customer_read": "Customers",
    "balance_read": "Balance",
    "payment_method_configuration_read": "Payment Method Configurations",
}
"""The sandbox's words for each right, and the dashboard's."""

UNNEEDED = {"invoice_read": "Invoices", "payout_read": "Payouts", "subscription_read": "Subscriptions"}


def found(folder: Path, permissions: Iterable[str]) -> Rights:
    """Return what is found out about a key with these permissions; see that nothing was written for it."""
    clock = MovableClock(folder / "clock")
    listener, url = bound()
    config = SandboxConfig(base_url=url, api_keys={KEY: frozenset(permissions)}, prices=PRICES)
    recorder = Recorder(create_app(config, clock, clock.advance))
    with serving(recorder, listener):
        rights = of(url, clock)
    assert {one.split()[0] for one in recorder.arrived} == {"GET"}
    return rights


def of(url: str, clock: MovableClock) -> Rights:
    """Return what is found out at this address."""
    connection = StripeConnection(KEY, base_url=url)
    return asyncio.run(try_rights(StripeReads(connection), StripeProcessor(connection), clock.now()))


def test_a_key_with_what_is_used_and_no_more(tmp_path: Path) -> None:
    """Nothing lacks, nothing is too much."""
    rights = found(tmp_path, PERMISSIONS)
    assert set(rights.may) == set(PERMISSIONS.values())
    assert (rights.missing, rights.too_many, rights.unclear) == ([], [], [])


@pytest.mark.parametrize("permission", PERMISSIONS)
def test_a_right_that_lacks(tmp_path: Path, permission: str) -> None:
    """Each right that is missing is named, and no other."""
    rights = found(tmp_path, set(PERMISSIONS) - {permission})
    assert [one.name for one in rights.missing] == [PERMISSIONS[permission]]


@pytest.mark.parametrize("permission", UNNEEDED)
def test_a_right_too_many(tmp_path: Path, permission: str) -> None:
    """A key that may read what nothing here needs is found out."""
    rights = found(tmp_path, {*PERMISSIONS, permission})
    assert rights.too_many == [UNNEEDED[permission]]


def test_no_answer_is_no_verdict(tmp_path: Path) -> None:
    """While the processor cannot be reached, no right counts as there or as missing."""
    with nobody_listening() as port:
        rights = of(f"http://127.0.0.1:{port}", MovableClock(tmp_path / "clock"))
    assert set(rights.unclear) == {*PERMISSIONS.values(), *UNNEEDED.values()}
    assert (rights.may, rights.missing, rights.too_many) == ([], [], [])

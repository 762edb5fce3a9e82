"""Test and live mode beside each other: two worlds of one account, between which the key chooses."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import stripe

from orrery.sandbox.app import PriceSeed, SandboxConfig
from orrery.sandbox.processor.world import Mode
from tests.sandbox.conftest import EVERYTHING_PERMITTED, Receiver, Running, running

COMPLETED = "checkout.session.completed"
KEYS: dict[Mode, str] = {"test": "sk_test_sandbox", "live": "sk_live_sandbox"}
READERS: dict[Mode, str] = {"test": "rk_test_sandbox", "live": "rk_live_sandbox"}
PRICES: dict[Mode, str] = {"test": "price_of_test", "live": "price_of_live"}
BOTH: tuple[Mode, Mode] = ("test", "live")
OTHER: dict[Mode, Mode] = {"test": "live", "live": "test"}
HTML = {"Accept": "text/html"}


def with_both(config: SandboxConfig) -> SandboxConfig:
    """Let the sandbox play both modes, each with one price."""
    return replace(
        config,
        api_keys=dict.fromkeys(KEYS.values(), EVERYTHING_PERMITTED)
        | dict.fromkeys(READERS.values(), frozenset({"price_read"})),
        prices=tuple(PriceSeed(PRICES[mode], f"Practice in {mode} mode", 4900, mode=mode) for mode in BOTH),
        webhook_endpoints=(),
    )


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a sandbox in both modes, without webhook endpoints."""
    with running(tmp_path_factory.mktemp("both"), Receiver(), change=with_both) as one:
        yield one


def begin(box: Running, mode: Mode, price: str | None = None) -> stripe.checkout.Session:
    """Create a session with the key of a mode."""
    return box.client(KEYS[mode]).checkout.sessions.create(
        {
            "mode": "payment",
            "line_items": [{"price": price or PRICES[mode], "quantity": 1}],
            "success_url": "https://shop.example/thanks",
        }
    )


def sell(box: Running, mode: Mode) -> stripe.checkout.Session:
    """Create a session and pay it on its page."""
    session = begin(box, mode)
    assert box.web.post(f"/pay/{session.id}", data={"email": f"{mode}@example.org"}).status_code == 303
    return box.client(KEYS[mode]).checkout.sessions.retrieve(session.id)


@pytest.mark.parametrize("mode", BOTH)
def test_both_modes_sell(both: Running, mode: Mode) -> None:
    """Each mode has its own sessions, with their pages, and the objects of a sale have the mode."""
    begun = begin(both, mode)
    assert begun.id.startswith(f"cs_{mode}_")
    assert both.web.get(f"/pay/{begun.id}").status_code == 200
    sold = sell(both, mode)
    assert (sold.payment_status, sold.livemode) == ("paid", mode == "live")
    here = both.client(KEYS[mode])
    lists = (here.checkout.sessions.list(), here.charges.list(), here.events.list(), here.prices.list())
    for found in (*lists, here.payment_method_configurations.list()):
        assert {one.livemode for one in found.data} == {mode == "live"}
    assert sold.id in {one.id for one in here.checkout.sessions.list().data}
    assert sold.id not in {one.id for one in both.client(KEYS[OTHER[mode]]).checkout.sessions.list().data}
    assert here.balance.retrieve().livemode is (mode == "live")


@pytest.mark.parametrize("mode", BOTH)
def test_what_is_of_the_other_mode(both: Running, mode: Mode) -> None:
    """A key sees nothing of the other mode, and is answered that it is there; what is nowhere is just missing."""
    other = OTHER[mode]
    hint = f"; a similar object exists in {other} mode, but a {mode} mode key was used to make this request."
    with pytest.raises(stripe.InvalidRequestError) as unsold:
        begin(both, mode, PRICES[other])
    assert (unsold.value.http_status, unsold.value.code) == (400, "resource_missing")
    assert unsold.value.param == "line_items[0][price]"  # pyright: ignore[reportUnknownMemberType]  the vendor's
    assert unsold.value.user_message == f"No such price: '{PRICES[other]}'{hint}"
    session = begin(both, other)
    with pytest.raises(stripe.InvalidRequestError) as unseen:
        both.client(KEYS[mode]).checkout.sessions.retrieve(session.id)
    assert (unseen.value.http_status, unseen.value.code) == (404, "resource_missing")
    assert str(unseen.value.user_message).endswith(hint)
    with pytest.raises(stripe.InvalidRequestError) as nowhere:
        begin(both, mode, "price_of_none")
    assert nowhere.value.user_message == "No such price: 'price_of_none'"

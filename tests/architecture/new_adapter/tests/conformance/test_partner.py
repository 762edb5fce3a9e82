"""What every adapter of the partner's port does."""

from collections.abc import Generator

import pytest

from orrery.adapters.partner import HttpPartner
from orrery.ports.partner import Partner, PartnerFailed
from tests.support.running_sandbox import Running, receiving, running


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Generator[Running]:
    """One sandbox for all tests."""
    with receiving() as receiver, running(tmp_path_factory.mktemp("sandbox"), receiver) as one:
        yield one


@pytest.fixture
def partner(box: Running) -> Partner:
    """Return the adapter, which asks the stand-in."""
    return HttpPartner(f"{box.url}/partner")


async def test_a_notice_is_taken(box: Running, partner: Partner) -> None:
    """The partner has the notice under the id that the port returned."""
    taken = await partner.notify("New questions.")
    assert {"id": taken, "text": "New questions."} in box.web.get("/partner/notices").json()


async def test_a_refusal_is_the_ports_error(box: Running) -> None:
    """What the partner refuses, and an answer of anybody else, raise the port's error."""
    for address, text in ((f"{box.url}/partner", ""), (f"{box.url}/nowhere", "x"), ("http://[::1", "x")):
        with pytest.raises(PartnerFailed):
            _ = await HttpPartner(address).notify(text)

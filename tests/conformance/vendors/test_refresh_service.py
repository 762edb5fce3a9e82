"""The refresh operation of a running service over HTTP: what is sent, and what comes where no answer does."""

import asyncio
import socket

import pytest

from orrery.adapters.refresh import HttpRefreshService
from orrery.ports.refresh import DEADLINE, RefreshReply
from orrery.trust import WELL_KNOWN
from tests.support.hasty_loop import run_ahead
from tests.support.refresh_endpoint import PASSWORD, RefreshEndpoint, answer
from tests.support.serving import served

PATH = "/api/stats?refresh=realtime"


def posted(url: str) -> RefreshReply:
    """Return what comes of one refresh at an address."""
    return asyncio.run(HttpRefreshService(url, WELL_KNOWN).post(PATH, PASSWORD))


def test_it_posts_with_the_password() -> None:
    """One POST goes to the refresh operation, with the password as its bearer."""
    endpoint = RefreshEndpoint()
    with served(endpoint) as url:
        assert posted(url).status == 200
    ((method, address, headers),) = endpoint.asked
    assert (method, address) == ("POST", PATH)
    assert headers["authorization"] == f"Bearer {PASSWORD}"


def test_a_redirect_is_not_followed() -> None:
    """The bearer would travel to wherever it points."""
    endpoint = RefreshEndpoint([answer(b"", 308, location="/elsewhere")])
    with served(endpoint) as url:
        assert posted(url).status == 308
    assert len(endpoint.asked) == 1


def test_a_long_answer_is_none() -> None:
    """What goes on beyond any answer of ours is not read: its status is what there is."""
    with served(RefreshEndpoint([answer(b" " * 1_000_000 + b"{}")])) as url:
        assert posted(url) == RefreshReply(200)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1", "nonsense"])
def test_nobody_is_there(url: str) -> None:
    """An address that does not answer, or is none, is told in one sentence without the password."""
    reply = posted(url)
    assert reply.why.startswith("The service")
    assert PASSWORD not in reply.why
    assert not reply.late


def test_a_service_that_never_answers() -> None:
    """A refresh ends at its deadline, whatever the service does."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        service = HttpRefreshService(f"http://127.0.0.1:{silent.getsockname()[1]}", WELL_KNOWN)
        assert run_ahead(service.post(PATH, PASSWORD), DEADLINE).late

"""No answer sends anybody to a host that the request named."""

import pytest
from fastapi import APIRouter

from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from tests.support.clock import ManualClock
from tests.support.panels import owner_page
from tests.support.requests import client_of
from tests.support.rounds import found


async def undelivered() -> dict[str, int]:
    """Return no figures."""
    return {}


@pytest.mark.parametrize("listener", ["public", "private"])
async def test_no_redirect_to_the_named_host(listener: str) -> None:
    """An address with a slash too many is not found; it is not sent on to the host that the request names."""
    public = public_app([APIRouter()], [], found(), Metrics())
    private = private_app(public, found(), Metrics(), undelivered, [owner_page(ManualClock()).router()])
    app, host = (public, "elsewhere.example") if listener == "public" else (private, "localhost")
    async with client_of(app, host=host) as client:
        answer = await client.get("/healthz/")
    assert (answer.status_code, answer.headers.get("location")) == (404, None)

"""The HTTP operations of the waitlist: parse, one call, shape the answer."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from orrery.edge.body import json_body, read_model
from orrery.edge.client_address import ClientAddresses, rate_scopes
from orrery.edge.problems import problems
from orrery.edge.rate_limit import RateLimit, too_many
from orrery.edge.routes import Routes
from orrery.waitlist.service import Waitlist

LARGEST_BODY = 1000
"""Bytes."""


class WaitlistWish(BaseModel):
    """The body of a request for an entry."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    email: str


class WaitlistAdded(BaseModel):
    """The answer to a new entry."""

    added: bool = True


class WaitlistCount(BaseModel):
    """How many entries there are."""

    entries: int


def waitlist_routes(waitlist: Waitlist, addresses: ClientAddresses, limit: RateLimit) -> Routes:
    """Return the routes of both listeners."""
    return Routes(public=[_public(waitlist, addresses, limit)], private=[_private(waitlist)])


def _public(waitlist: Waitlist, addresses: ClientAddresses, limit: RateLimit) -> APIRouter:
    """Return what visitors ask."""
    router = APIRouter()

    @router.post(
        "/guided/api/waitlist",
        openapi_extra=json_body(WaitlistWish),
        responses=problems(400, 408, 409, 413, 415, 422, 429, 503),
    )
    async def add(request: Request) -> WaitlistAdded:  # pyright: ignore[reportUnusedFunction]  it is registered
        """Add an entry."""
        if wait := limit.wait(*rate_scopes(addresses.of(request))):
            raise too_many(wait)
        wish = await read_model(request, WaitlistWish, LARGEST_BODY)
        await waitlist.add(wish.email)
        return WaitlistAdded()

    return router


def _private(waitlist: Waitlist) -> APIRouter:
    """Return what this machine asks."""
    router = APIRouter()

    @router.get("/waitlist")
    async def count() -> WaitlistCount:  # pyright: ignore[reportUnusedFunction]  it is registered
        """Count the entries."""
        return WaitlistCount(entries=await waitlist.count())

    return router

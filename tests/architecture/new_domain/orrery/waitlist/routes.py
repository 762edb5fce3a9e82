"""The HTTP operations of the waiting list: parse, one call, shape the answer."""

from fastapi import APIRouter, Request
from pydantic import BaseModel

from orrery.edge.body import read_object
from orrery.waitlist.service import Waitlist

LARGEST_BODY = 1000
"""Bytes."""


class Joined(BaseModel):
    """The answer to a person who waits now."""

    waits: bool = True


class Count(BaseModel):
    """How many wait."""

    waiting: int


def public_router(waitlist: Waitlist) -> APIRouter:
    """Return what visitors ask."""
    router = APIRouter()

    @router.post("/guided/api/waitlist")
    async def join(request: Request) -> Joined:  # pyright: ignore[reportUnusedFunction]  the decorator registers it
        """Wait for what is not sold yet."""
        found = await read_object(request, LARGEST_BODY)
        await waitlist.join(str(found.get("email", "")))
        return Joined()

    return router


def private_router(waitlist: Waitlist) -> APIRouter:
    """Return what this machine asks."""
    router = APIRouter()

    @router.get("/waitlist")
    async def count() -> Count:  # pyright: ignore[reportUnusedFunction]  the decorator registers it
        """Count who waits."""
        return Count(waiting=await waitlist.count())

    return router

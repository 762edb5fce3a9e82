"""The private listener's page about secrets."""

from collections.abc import Callable, Mapping

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response


def secrets_router(held: Callable[[], Mapping[str, object]]) -> APIRouter:
    """Return the route that shows keyed fingerprints of the secrets in memory, and no value."""
    router = APIRouter()

    @router.get("/secrets")
    async def fingerprints() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Show keyed fingerprints of the secrets in memory, and no value."""
        return JSONResponse(held())

    return router

"""The private listener's page about secrets."""

from collections.abc import Callable, Mapping

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from orrery.edge.routes import Routes


def secrets_routes(held: Callable[[], Mapping[str, object]]) -> Routes:
    """Return the route that shows keyed fingerprints of the secrets in memory, and no value."""
    router = APIRouter()

    @router.get("/secrets")
    async def fingerprints() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Show keyed fingerprints of the secrets in memory, and no value."""
        return JSONResponse(held())

    return Routes(private=[router])

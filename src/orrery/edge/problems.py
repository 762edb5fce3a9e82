"""The one place where errors become responses (decision 3)."""

from collections.abc import Mapping
from typing import Any

import structlog
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from orrery import errors

log = structlog.get_logger()

_INTERNAL = 500
_SAYS = {
    _INTERNAL: "Something went wrong on our side.",
    502: "The payment service refused the request; nothing was charged.",
    503: "This part is not available at the moment; please try again in a minute.",
}


# The docstring is part of the operations' reference: it cites no source.
class ProblemBody(BaseModel):
    """Every error: a kebab-case tag and one sentence."""

    error: str
    message: str


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of an operation's refusals, by their statuses."""
    return {status: {"model": ProblemBody} for status in sorted(statuses)}


class Problem(Exception):
    """A refusal at the edge: status, kebab-case tag and one sentence."""

    def __init__(self, status: int, tag: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.tag = tag
        self.message = message
        self.headers = headers

    def response(self) -> JSONResponse:
        """Return `{"error": tag, "message": sentence}`."""
        body = {"error": self.tag, "message": self.message}
        # The answers to a bug and to headers that are too large do not pass the middleware that says no-store.
        return JSONResponse(body, self.status, headers=dict(self.headers or {}) | {"Cache-Control": "no-store"})


def problem_of(error: errors.OrreryError) -> Problem:
    """Return the problem for `error`, by its class; a fault that is not the caller's is shown without details."""
    status = error.http_status
    return Problem(status, error.tag, str(error) if status < _INTERNAL else _SAYS.get(status, _SAYS[_INTERNAL]))


async def show_bug(_request: Request, _error: Exception) -> JSONResponse:
    """Answer an unexpected error; the framework raises it again, and the server logs it."""
    return problem_of(errors.OrreryError()).response()


async def show_problem(_request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, Problem):
        raise error
    return error.response()


async def show_error(request: Request, error: Exception) -> JSONResponse:
    """Answer one of our own errors, and log it when it is not the caller's."""
    if not isinstance(error, errors.OrreryError):
        raise error
    if not isinstance(error, errors.Invalid):
        # The route, not the path: an address holds a session's id.
        route = getattr(request.scope.get("route"), "path", "other")
        log.warning("request failed", route=route, kind=type(error).__name__, why=str(error))
    return problem_of(error).response()


async def show_own_error(request: Request, error: Exception) -> JSONResponse:
    """Answer one of our own errors to the owner, who is shown its sentence whatever its status."""
    answer = await show_error(request, error)
    if not isinstance(error, errors.OrreryError):
        raise error
    return Problem(answer.status_code, error.tag, str(error)).response()


async def show_http_exception(_request: Request, error: Exception) -> JSONResponse:
    """Answer the framework's own refusals: unknown paths and methods."""
    if not isinstance(error, HTTPException):
        raise error
    tags = {404: "not-found", 405: "method-not-allowed"}
    says = {404: "There is nothing here.", 405: "This method is not allowed here."}
    tag = tags.get(error.status_code, "refused")
    message = says.get(error.status_code, "The request was refused.")
    return Problem(error.status_code, tag, message, error.headers).response()

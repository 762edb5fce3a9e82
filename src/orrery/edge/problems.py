"""The one place where errors become responses (decision 3)."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from orrery import errors
from orrery.edge.problem import Problem, ProblemBody
from orrery.logs import log

_INTERNAL = 500
_IN_PUBLIC = {
    _INTERNAL: "Something went wrong on our side.",
    502: "The payment service refused the request; nothing was charged.",
    503: "This part is not available at the moment; please try again in a minute.",
}
_OF_FRAMEWORK = {
    404: ("not-found", "There is nothing here."),
    405: ("method-not-allowed", "This method is not allowed here."),
}
"""The framework's own refusals, of unknown paths and methods."""

_SHOW = "orrery.show"


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the description of an operation's refusals, by their statuses."""
    return {status: {"model": ProblemBody} for status in sorted(statuses)}


def show_errors(request: Request, show: Callable[[Problem], Response]) -> None:
    """Let `show` make the response of whatever error ends this request: a page, where people read it."""
    request.scope[_SHOW] = show


def response_of(problem: Problem) -> JSONResponse:
    """Return `{"error": tag, "message": sentence}`."""
    body = {"error": problem.tag, "message": problem.message}
    # The answers to a bug and to headers that are too large do not pass the middleware that sets no-store.
    return JSONResponse(body, problem.status, headers=dict(problem.headers or {}) | {"Cache-Control": "no-store"})


def problem_of(error: Exception, *, in_full: bool = False) -> Problem:
    """Return the problem for an error by its class; `in_full` shows the owner a sentence whatever its status."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, errors.OrreryError):
        status = error.http_status
        shown = in_full or status < _INTERNAL
        return Problem(status, error.tag, str(error) if shown else _IN_PUBLIC.get(status, _IN_PUBLIC[_INTERNAL]))
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        return Problem(422, "invalid-field", f"{'.'.join(map(str, first['loc']))}: {first['msg']}.")
    if isinstance(error, HTTPException):
        tag, message = _OF_FRAMEWORK.get(error.status_code, ("refused", "The request was refused."))
        return Problem(error.status_code, tag, message, error.headers)
    return problem_of(errors.OrreryError())


def handle_errors(app: FastAPI, *, in_full: bool = False) -> None:
    """Answer every error in the shape of decision 3; the server logs an unexpected one."""

    async def show(request: Request, error: Exception) -> Response:
        if isinstance(error, errors.OrreryError) and not isinstance(error, errors.Invalid):
            # The route, not the path: an address holds a session's id.
            route = getattr(request.scope.get("route"), "path", "other")
            log.warning("request failed", route=route, kind=type(error).__name__, why=str(error))
        return request.scope.get(_SHOW, response_of)(problem_of(error, in_full=in_full))

    for kind in (Problem, errors.OrreryError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, show)

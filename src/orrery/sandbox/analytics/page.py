"""The provider's page for people, and the levers under it: visitors, quotas, stopping and starting."""

import json
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from orrery.sandbox.analytics.api import AnalyticsApi
from orrery.sandbox.analytics.errors import Refused
from orrery.sandbox.analytics.population import MOST
from orrery.sandbox.faults import Faults
from orrery.sandbox.pages import render
from orrery.sandbox.state import Document

ADDRESS = "/analytics"
DOWN = "analytics_down"
"""The fault by which the provider is stopped."""

_LABELS = {
    "tokensPerDay": ("Tokens a day", "at midnight in Los Angeles"),
    "tokensPerHour": ("Tokens an hour", "at the full hour"),
    "tokensPerProjectPerHour": ("Tokens an hour for this project", "at the full hour"),
    "concurrentRequests": ("Requests at once", "with each answer"),
    "serverErrorsPerProjectPerHour": ("Server errors an hour", "at the full hour"),
    "potentiallyThresholdedRequestsPerHour": ("Thresholded requests an hour", "at the full hour"),
}
_SCRIPTS = "; script-src 'self'; connect-src 'self'; form-action 'self'"


class AnalyticsPage:
    """The page and levers of one provider."""

    def __init__(self, api: AnalyticsApi, faults: Faults) -> None:
        self._api = api
        self._faults = faults

    def routes(self) -> list[Route]:
        return [
            Route(ADDRESS, self.show, methods=["GET"]),
            Route("/_analytics", self.state, methods=["GET", "POST"]),
            Route("/_visitors", self.visitors, methods=["POST"]),
            Route("/_quota", self.quota, methods=["POST"]),
        ]

    async def show(self, _: Request) -> Response:
        """Show visitors, quotas and the latest requests."""
        known = self._known()
        gauges = [
            {"name": name, "label": label, "refill": refill, **known["quota"]["buckets"][name]}
            for name, (label, refill) in _LABELS.items()
        ]
        page = render("analytics.html", most=MOST, gauges=gauges, **known)
        page.headers["Content-Security-Policy"] += _SCRIPTS
        return page

    async def state(self, request: Request) -> Response:
        """GET returns the whole state; POST with `running` stops or starts the provider."""
        if request.method == "POST":
            given = await _fields(request)
            self._faults.remove(DOWN)
            if str(given.get("running", True)).lower() != "true":
                _ = self._faults.add(DOWN, count=None)
        return _answer(request, self._known())

    async def visitors(self, request: Request) -> Response:
        """Let there be `count` visitors."""
        given = await _fields(request)
        try:
            self._api.people.become(given.get("count"))
        except Refused as refused:
            return _refusal(refused)
        return _answer(request, {"count": self._api.people.count})

    async def quota(self, request: Request) -> Response:
        """Set the `cost` of a report, or `size` and `left` of one `bucket`."""
        given = await _fields(request)
        try:
            self._api.quota.change(given)
        except Refused as refused:
            return _refusal(refused)
        return _answer(request, self._api.quota.as_json())

    def _known(self) -> Document:
        is_down = any(fault["kind"] == DOWN for fault in self._faults.as_json())
        return {"running": not is_down, **self._api.as_json()}


async def switched_off(_: Request) -> Response:
    """Say on the page that there is no such provider here."""
    return render("analytics_off.html", 404)


async def _fields(request: Request) -> Document:
    if "json" not in request.headers.get("content-type", ""):
        return {name: str(value) for name, value in (await request.form()).items()}
    try:
        given: object = json.loads(await request.body() or b"{}")
    except ValueError:
        return {}
    return cast("Document", given) if isinstance(given, dict) else {}


def _answer(request: Request, body: Document) -> Response:
    """Redirect a browser's form back to the page, and answer other callers with JSON."""
    if request.method == "POST" and "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(ADDRESS, 303)
    return JSONResponse(body)


def _refusal(refused: Refused) -> Response:
    return JSONResponse({"error": refused.message}, 400)

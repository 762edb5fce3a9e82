"""The provider over HTTP: the token endpoint, the realtime report, and a page with levers."""

from collections import Counter, deque

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.analytics.access import (
    TOKEN_PATH,
    VENDORS_TOKEN_PATH,
    AnalyticsConfig,
    AnalyticsTokens,
    refusal,
)
from orrery.sandbox.analytics.report import Quota, exhausted, read_query, report, subject
from orrery.sandbox.board import Act, Board, form_of
from orrery.sandbox.faults import Fault, Refusal, Refusals
from orrery.sandbox.ground import Document, SandboxGround

MOST_SHOWN = 25
"""How many requests are remembered to be shown."""

_HTML = "<!doctype html><html lang=en><title>Error {0}</title><p><b>{0}.</b> <ins>That is an error.</ins></html>"
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]

_REFUSALS: Refusals = {
    "analytics_401": lambda _: refusal("wrong_token"),
    "analytics_403": lambda _: refusal("forbidden"),
    "analytics_429_concurrent": lambda _: exhausted("concurrentRequests"),
    "analytics_429_hour": lambda _: exhausted("tokensPerProjectPerHour"),
    "analytics_429_day": lambda _: exhausted("tokensPerDay"),
    "analytics_429_thresholded": lambda _: exhausted("potentiallyThresholdedRequestsPerHour"),
}


class AnalyticsApi:
    """Answers token requests and report requests."""

    def __init__(self, config: AnalyticsConfig, ground: SandboxGround) -> None:
        self._config = config
        self._ground = ground
        self._tokens = AnalyticsTokens(config, ground.clock)
        self._calls: Counter[str] = Counter()
        self._recent: deque[Document] = deque(maxlen=MOST_SHOWN)
        self.quota = Quota(config, ground.clock)
        self.visitors = config.visitors

    def routes(self) -> list[Route]:
        """Return the vendor's routes; whatever else is under its version is a 404 in HTML."""
        report_path = "/v1beta/properties/{property}:runRealtimeReport"
        return [
            Route(TOKEN_PATH, self.token, methods=["POST"]),
            Route(VENDORS_TOKEN_PATH, self.token, methods=["POST"]),
            Route(report_path, self.report, methods=["POST"]),
            Route("/v1beta/{rest:path}", _not_found, methods=_METHODS),
        ]

    async def token(self, request: Request) -> Response:
        """Mint a token for a signed assertion."""

        async def minted() -> Response:
            return JSONResponse(self._tokens.mint(await form_of(request)))

        return self._logged(
            "token", await self._ground.faults.request("analytics token", "token").answer({}, minted)
        )

    async def report(self, request: Request) -> Response:
        body = await request.body()
        what = subject(body)
        self._calls[what] += 1

        async def carried_out() -> Response:
            return JSONResponse(self._reported(request, body))

        refusals: Refusals = {**_REFUSALS, "analytics_500": self._failed}
        return self._logged(
            what, await self._ground.faults.request("analytics", what).answer(refusals, carried_out)
        )

    def _reported(self, request: Request, body: bytes) -> Document:
        self._tokens.check(request.headers.get("authorization", ""))
        if request.path_params["property"] != self._config.property_id:
            raise refusal("forbidden")
        query = read_query(body)
        figures = self.quota.charge()
        return report(query, self.visitors) | ({"propertyQuota": figures} if query.quota else {})

    def _failed(self, _: Fault) -> Refusal:
        self.quota.fail()
        return refusal("internal")

    def _logged(self, what: str, answer: Response) -> Response:
        at, status = self._ground.clock.now().timestamp(), answer.status_code
        self._recent.appendleft({"at": at, "what": what, "status": status})
        return answer

    def as_json(self) -> Document:
        """Return everything that can be known of it."""
        return {
            "property_id": self._config.property_id,
            "visitors": self.visitors,
            "report_calls": self._calls.total(),
            "calls": dict(self._calls),
            "minted_tokens": len(self._tokens.issued),
            "quota": self.quota.as_json(),
            "requests": list(self._recent),
        }


async def _not_found(_: Request) -> Response:
    return HTMLResponse(_HTML.format(404), 404)


ADDRESS = "/analytics"
MOST = 500
"""As many visitors as the slider has room for."""

DOWN = "analytics_down"
"""The fault by which the provider is stopped."""


def analytics_routes(config: AnalyticsConfig, ground: SandboxGround) -> list[Route]:
    """Return the routes of one provider, with its page and levers."""
    api, faults = AnalyticsApi(config, ground), ground.faults

    def known() -> Document:
        is_down = any(fault["kind"] == DOWN for fault in faults.as_json())
        return {"running": not is_down, "most": MOST, **api.as_json()}

    def run(given: Document) -> None:
        faults.remove(DOWN)
        if str(given.get("running", True)).lower() != "true":
            _ = faults.add(DOWN, count=None)

    def visitors(given: Document) -> None:
        if not 0 <= (count := int(given["count"])) <= MOST:
            raise ValueError(f"There are 0 to {MOST} visitors.")
        api.visitors = count

    levers: dict[str, Act] = {
        "GET /_analytics": lambda _: known(),
        "POST /_analytics": run,
        "POST /_visitors": visitors,
        "POST /_quota": api.quota.change,
    }
    return [*api.routes(), *Board(ADDRESS, "analytics.html", known, levers).routes()]

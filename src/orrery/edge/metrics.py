"""Counters for `/metrics` on the private listener (decision 42). Labels hold no personal data."""

from collections.abc import Callable
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Metrics:
    """One registry for each composed service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "orrery_http_requests",
            "Requests by route and status.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self.seconds = Histogram(
            "orrery_http_request_seconds", "Time to answer, by route.", ("route",), registry=self._registry
        )
        self.notifications = Gauge(
            "orrery_notifications", "Notifications that are not delivered.", ("state",), registry=self._registry
        )

    def counter_of(self, route: str) -> Callable[[str, int], None]:
        """Return what counts the requests of one route by method and status, for a path that is in a hurry."""
        counters: dict[tuple[str, int], Counter] = {}

        def count(method: str, status: int) -> None:
            found = counters.get((method, status))
            if found is None:
                found = counters[method, status] = self.requests.labels(method, route, str(status))
            found.inc()

        return count

    def text(self) -> bytes:
        """Return all figures in the Prometheus text format."""
        return generate_latest(self._registry)


class Measured:
    """Counts and times every request to the app inside."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = "500", perf_counter()

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, send_noting_status)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(scope["method"], route, status).inc()
            self._metrics.seconds.labels(route).observe(perf_counter() - started)

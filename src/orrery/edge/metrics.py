"""Counters for `/metrics` on the private listener (decision 42). Labels hold no personal data."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STARTED = "orrery.started"
"""Where the scope holds when a request began, if something ahead of the app has worked on it."""


class Metrics:
    """One registry for each composed service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._counts: dict[str, defaultdict[tuple[str, int], int]] = {}
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
            "orrery_notifications",
            "Notifications that are not delivered; the same at each node.",
            ("state",),
            registry=self._registry,
        )
        self.problems = Gauge(
            "orrery_problems",
            "Problems of the last health round; the same at each node.",
            ("severity",),
            registry=self._registry,
        )

    def watch(self, name: str, description: str, label: str, counts: Mapping[str, int]) -> None:
        """Export the counts of another part, by one label."""
        self._registry.register(_MappingCollector(name, description, label, counts))

    def counter_of(self, route: str) -> Callable[[str, int], None]:
        """Return what counts the requests of one route by method and status, for a path without the framework."""
        counts = self._counts.setdefault(route, defaultdict(int))

        def count(method: str, status: int) -> None:
            counts[method, status] += 1

        return count

    def text(self) -> bytes:
        """Return all figures in the Prometheus text format."""
        for route, counts in self._counts.items():
            for (method, status), count in counts.items():
                self.requests.labels(method, route, str(status)).inc(count)
            counts.clear()
        return generate_latest(self._registry)


class _MappingCollector(Collector):
    def __init__(self, name: str, description: str, label: str, counts: Mapping[str, int]) -> None:
        self._family = name, description, label
        self._counts = counts

    def collect(self) -> Iterator[CounterMetricFamily]:
        name, description, label = self._family
        family = CounterMetricFamily(name, description, labels=[label])
        for value, count in self._counts.items():
            family.add_metric([value], count)
        yield family


class MeasuredApp:
    """Counts and times every request to the app inside."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = "500", scope.get(STARTED) or perf_counter()

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

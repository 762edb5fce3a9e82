"""What the checkout operation adds to the processor's own time.

The same session is asked for in turn from the sandbox directly and through the service; the difference of the
percentiles is ours: routing, checks, the vendor's library in its thread, and the durable offer.
"""

import json
import statistics
import time
import urllib.parse
from http.client import HTTPConnection

from bench.measurement import Figure, Measurement, Round, scratch
from bench.service import prepare, sandbox, serving
from orrery.checkout.catalogue import Product, SessionTerms, session_parameters

_PRODUCT = Product("northwind", "cloud-navigator", "Cloud Navigator", "price_cloud_navigator")
_TERMS = SessionTerms("http://127.0.0.1/success?session_id={CHECKOUT_SESSION_ID}", "http://127.0.0.1/cancelled")


def form(value: object, name: str = "") -> list[tuple[str, str]]:
    """Return nested parameters in bracket notation."""
    if isinstance(value, dict):
        return [pair for key, one in value.items() for pair in form(one, f"{name}[{key}]" if name else key)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] nested JSON
    if isinstance(value, list):
        return [pair for index, one in enumerate(value) for pair in form(one, f"{name}[{index}]")]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] nested JSON
    return [(name, str(value).lower() if isinstance(value, bool) else str(value))]


def timed(connection: HTTPConnection, path: str, body: str, headers: dict[str, str]) -> float:
    """Return the milliseconds of one POST that must succeed."""
    begin = time.perf_counter()
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:  # noqa: PLR2004  HTTP's own number
        raise RuntimeError(f"{path} answered {answer.status}.")
    return (time.perf_counter() - begin) * 1000


def measure(requests: int = 400, warm: int = 20) -> Round:
    """Ask for sessions both ways in turn; those of the beginning do not count."""
    asked = json.dumps({"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"})
    sent = urllib.parse.urlencode(form(session_parameters(_PRODUCT, _TERMS)))
    key = {"Authorization": "Bearer sk_test_orrery_sandbox", "Content-Type": "application/x-www-form-urlencoded"}
    taken: dict[str, list[float]] = {_SANDBOX: [], _OURS: []}
    with (
        scratch() as folder,
        sandbox(folder / "sandbox") as port,
        serving(prepare(folder / "service", f"http://127.0.0.1:{port}")) as service,
    ):
        processor, ours = HTTPConnection("127.0.0.1", port), HTTPConnection("127.0.0.1", service.port)
        for _ in range(requests):
            taken[_SANDBOX].append(timed(processor, "/v1/checkout/sessions", sent, key))
            taken[_OURS].append(timed(ours, "/guided/api/checkout", asked, {"Content-Type": "application/json"}))
    return [*_figures(_SANDBOX, taken[_SANDBOX][warm:]), *_figures(_OURS, taken[_OURS][warm:], _SANDBOX)]


def _figures(name: str, times: list[float], beside: str = "") -> Round:
    shares = {"p50": statistics.median(times), "p99": statistics.quantiles(times, n=100)[98]}
    return [
        Figure(f"{name}, {share}", took, "ms", beside and f"{beside}, {share}") for share, took in shares.items()
    ]


_SANDBOX, _OURS = "sandbox alone", "checkout operation"
MEASUREMENT = Measurement(measure, short={"requests": 4, "warm": 1})

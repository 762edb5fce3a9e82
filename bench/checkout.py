"""What the checkout operation adds to the processor's own time.

The same session is asked for in turn from the sandbox directly and through the service; the difference of the
percentiles is ours: routing, checks, the vendor's library in its thread, and the durable offer. Asserts nothing.
"""

import json
import statistics
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from bench.service import LOAD_CORE, bind_to, free_port, prepare, serving, wait_for
from orrery.checkout.catalogue import Product, SessionTerms, session_parameters
from orrery.runtime.console.terminal import new_console

REQUESTS = 400

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


def measure(folder: Path) -> tuple[list[float], list[float]]:
    """Return the times of the sandbox alone and through the service, in ms."""
    asked = json.dumps({"productType": "cert", "certCode": "cloud-navigator", "vendorSlug": "northwind"})
    sent = urllib.parse.urlencode(form(session_parameters(_PRODUCT, _TERMS)))
    form_type, json_type = "application/x-www-form-urlencoded", "application/json"
    direct: list[float] = []
    through: list[float] = []
    with (
        sandbox(folder / "sandbox") as port,
        serving(prepare(folder / "service", f"http://127.0.0.1:{port}")) as service,
    ):
        processor, ours = HTTPConnection("127.0.0.1", port), HTTPConnection("127.0.0.1", service.port)
        key = {"Authorization": "Bearer sk_test_orrery_sandbox", "Content-Type": form_type}
        for _ in range(REQUESTS):
            direct.append(timed(processor, "/v1/checkout/sessions", sent, key))
            through.append(timed(ours, "/guided/api/checkout", asked, {"Content-Type": json_type}))
    return direct[20:], through[20:]


def main() -> None:
    """Measure beside the current directory's disk, and print the table."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        direct, through = measure(Path(directory))
    made = Table(title="One payment session", caption=f"{REQUESTS} each, in turn")
    for heading in ("side", "p50, ms", "p99, ms"):
        made.add_column(heading, justify="left" if heading == "side" else "right")
    p50 = statistics.median(direct), statistics.median(through)
    p99 = statistics.quantiles(direct, n=100)[98], statistics.quantiles(through, n=100)[98]
    made.add_row("sandbox alone", f"{p50[0]:.1f}", f"{p99[0]:.1f}")
    made.add_row("checkout operation", f"{p50[1]:.1f}", f"{p99[1]:.1f}")
    made.add_row("ours beyond the sandbox's", f"{p50[1] - p50[0]:.1f}", f"{p99[1] - p99[0]:.1f}")
    new_console(soft_wrap=False).print(made)


if __name__ == "__main__":
    main()

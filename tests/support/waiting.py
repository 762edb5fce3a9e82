"""Waiting on a condition, never for a time."""

import ssl
from collections.abc import Callable
from typing import TypeVar

import httpx2
import stamina

Seen = TypeVar("Seen")

stamina.instrumentation.set_on_retry_hooks(())  # a wait for a condition is no retry worth a log line

IN_CLEAR = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For a client that asks by http: to read the machine's certificates takes ten times as long as a request."""

PATIENCE = 120.0
"""Real seconds after which a wait for something that must come is given up.

It says nothing about speed: only a test that fails waits it out, on a machine ten times slower, too.
"""


def eventually(look: Callable[[], Seen], pause: float = 0.1) -> Seen:
    """Return what `look` returns once it neither fails an assertion nor misses the server, or raise its error.

    Between two looks are at most `pause` seconds, and a tenth of that at first.
    """
    for attempt in stamina.retry_context(
        on=(AssertionError, httpx2.TransportError),
        attempts=None,
        timeout=PATIENCE,
        wait_initial=pause / 10,
        wait_max=pause,
        wait_jitter=0.02,
    ):
        with attempt:
            return look()
    raise AssertionError("unreachable: the last attempt returns or raises")


def until(condition: Callable[[], object]) -> None:
    """Return once the condition holds."""

    def look() -> None:
        assert condition()

    eventually(look)

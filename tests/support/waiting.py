"""Waiting on a condition, never for a time."""

from collections.abc import Callable
from typing import TypeVar

import httpx2
import stamina

Seen = TypeVar("Seen")

PATIENCE = 20.0
"""Real seconds that anything may take on a busy machine."""


def eventually(look: Callable[[], Seen], within: float = PATIENCE) -> Seen:
    """Return what `look` returns once it neither fails an assertion nor misses the server, or raise its error."""
    for attempt in stamina.retry_context(
        on=(AssertionError, httpx2.TransportError),
        attempts=None,
        timeout=within,
        wait_initial=0.01,
        wait_max=0.1,
        wait_jitter=0.02,
    ):
        with attempt:
            return look()
    raise AssertionError("unreachable: the last attempt returns or raises")

"""What the package logs meanwhile."""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from logging.handlers import BufferingHandler
from typing import Any

from orrery.logs import event_of, log


@contextmanager
def logged() -> Generator[list[dict[str, Any]]]:
    """Yield a list that has, after the block, the events that were logged in it: of every level, not redacted."""
    kept, level, events = BufferingHandler(sys.maxsize), log.logger.level, list[dict[str, Any]]()
    log.logger.addHandler(kept)
    log.setLevel(logging.DEBUG)
    try:
        yield events
    finally:
        log.setLevel(level)
        log.logger.removeHandler(kept)
        events += map(event_of, kept.buffer)

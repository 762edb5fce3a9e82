"""When Python looks for garbage: not during a start, for what a start makes stays, and has next to none in it.

Looking through it again and again took a sixth of the start of `orrery serve`, and a tenth of a commit's scan. A
last look, when a process ends, took a quarter of a command.
"""

import atexit
import gc

_MORE_THAN_A_START = 200_000
"""Objects that may be made before the first look: `orrery serve` has made 120,000 when it is ready."""

_BETWEEN_LOOKS = 20_000
"""Objects that are made, and still there, at the next look while a process serves: at Python's 700, a burst of
webhooks spent a twentieth of its time on looks, and more."""


def put_off_collection() -> None:
    """Put the first look off, and leave the last out: a command that makes much more than a start has one."""
    gc.set_threshold(_MORE_THAN_A_START)
    _ = atexit.register(gc.freeze)


def collect_from_now() -> None:
    """Look from now on, and never again at what is there: that takes tens of milliseconds each time."""
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS)

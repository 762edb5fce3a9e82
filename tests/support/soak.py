"""How long the crash and journey suites go on: `./run soak` sets SOAK=1."""

import os

SOAKING = os.environ.get("SOAK") == "1"  # noqa: TID251  a knob of the test run, not a setting


def rounds(usual: int) -> int:
    """Return how often to repeat: ten times the usual in a soak."""
    return usual * 10 if SOAKING else usual

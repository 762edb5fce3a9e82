"""What kind of test run this is: `./run soak` sets SOAK=1, which makes it long, and continuous integration CI."""

import os

SOAKING = os.environ.get("SOAK") == "1"  # noqa: TID251  a fact about the test run, not a setting
SEED = os.environ.get("SEED")  # noqa: TID251  the same
"""By which a soak's faults are drawn; without it, another one each time."""

IN_CI = os.environ.get("CI", "").lower() in {"1", "true", "yes"}  # noqa: TID251  the same
"""Nothing is skipped there for what the machine lacks."""


def rounds(usual: int) -> int:
    """Return how often to repeat: ten times the usual in a soak."""
    return usual * 10 if SOAKING else usual

"""The dimensions and metrics of realtime reports (the provider's realtime schema)."""

from collections.abc import Iterable

from orrery.sandbox.analytics.errors import VALID_NAMES, Refused, invalid

DIMENSIONS = (
    "appVersion",
    "audienceId",
    "audienceName",
    "audienceResourceName",
    "city",
    "cityId",
    "country",
    "countryId",
    "deviceCategory",
    "eventName",
    "minutesAgo",
    "platform",
    "streamId",
    "streamName",
    "unifiedScreenName",
)
METRICS = ("activeUsers", "eventCount", "keyEvents", "screenPageViews")
THRESHOLDED = frozenset({"audienceId", "audienceName", "audienceResourceName"})
"""Dimensions that could identify single visitors; a report by them uses a separate quota."""

_OF_USERS, _OF_EVENTS = "customUser:", "customEvent:"


def check_dimension(name: str) -> None:
    """Return if reports may be broken down by this; raise `Refused`."""
    if name not in DIMENSIONS and not name.startswith(_OF_USERS):
        raise _unknown(name, "dimension")


def check_metric(name: str) -> None:
    """Return if reports may count this; raise `Refused`."""
    if name not in METRICS:
        raise _unknown(name, "metric")


def _unknown(name: str, kind: str) -> Refused:
    sentence = f"Field {name} is not a valid {kind}. For a list of valid dimensions and metrics, see {VALID_NAMES}"
    if name.startswith(_OF_EVENTS):
        return invalid(sentence)
    # The blank at the end is the provider's.
    return invalid(f"Did you mean {_closest(name, DIMENSIONS + METRICS)}? {sentence} ")


def _closest(name: str, known: Iterable[str]) -> str:
    return min(sorted(known), key=lambda one: _distance(name, one))


def _distance(one: str, other: str) -> int:
    """Return by how many changed, missing or added letters two names differ."""
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, against in enumerate(other, 1):
            line.append(min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != against)))
        above = line
    return above[-1]

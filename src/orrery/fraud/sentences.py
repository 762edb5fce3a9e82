"""How long something lasts, in words. Pure."""

from datetime import timedelta

_MINUTE = 60
_HOUR = 3600


def lasting(time: timedelta) -> str:
    """Return how long something lasts: `45 s`, `2 min 10 s`, `1 h 5 min`."""
    seconds = round(time.total_seconds())
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return _two(seconds // _MINUTE, "min", seconds % _MINUTE, "s")
    return _two(seconds // _HOUR, "h", seconds % _HOUR // _MINUTE, "min")


def _two(many: int, unit: str, few: int, smaller: str) -> str:
    return f"{many} {unit} {few} {smaller}" if few else f"{many} {unit}"

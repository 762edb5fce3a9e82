"""How long a server asks to wait: a number of seconds, or a date (RFC 9110, 10.2.3)."""

import re
from datetime import datetime
from email.utils import parsedate_to_datetime

LONGEST = 31_536_000.0
"""Seconds: a longer wait is this one, a year."""

_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?", re.ASCII)


def retry_after(text: str, now: datetime, *, otherwise: float) -> float:
    """Return the seconds that a `Retry-After` asks for, of which some servers send a fraction.

    A date that is over is 0; what is neither a number nor a date, or is below zero, is `otherwise`.
    """
    asked = text.strip()
    if _NUMBER.fullmatch(asked):
        return min(float(asked), LONGEST)
    try:
        until = parsedate_to_datetime(asked)
    except (ValueError, OverflowError):
        return otherwise
    until = until if until.tzinfo else until.replace(tzinfo=now.tzinfo)
    return min(max((until - now).total_seconds(), 0.0), LONGEST)

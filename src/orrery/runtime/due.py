"""Times that something waits for, against a wall clock that may have been put back.

Every wait is limited. So a time that is much further ahead than its wait is long was noted while the clock was
wrong: it is over, or the wait would last until that false future comes.
"""

from datetime import datetime, timedelta

SLACK = timedelta(seconds=60)
"""How far a time may be beyond its wait: clocks of two machines differ a little, and are corrected a little."""


def is_ahead(until: datetime, now: datetime, longest: timedelta) -> bool:
    """Return whether `until` is still to come, of a wait of at most `longest`."""
    return timedelta(0) < until - now <= longest + SLACK

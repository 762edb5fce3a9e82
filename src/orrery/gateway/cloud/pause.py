"""The pause of the restart: a tag on the machine with its end, so that it ends by itself (decision 31)."""

from datetime import UTC, datetime, timedelta

from orrery.errors import Invalid

LONGEST_PAUSE = timedelta(days=30)


def pause_text(now: datetime, lasts: timedelta) -> str:
    """Return the text of the tag; raise `Invalid` for a pause that is too long to be meant."""
    if lasts > LONGEST_PAUSE:
        raise Invalid("A pause lasts 30 days at most.")
    return f"{(now + lasts).astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

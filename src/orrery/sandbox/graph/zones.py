"""Time zones by the names that the vendor takes: those of Windows, and those of IANA."""

from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from orrery.sandbox.graph.errors import Refusal

WINDOWS = {
    "UTC": "UTC",
    "GMT Standard Time": "Europe/London",
    "W. Europe Standard Time": "Europe/Berlin",
    "Romance Standard Time": "Europe/Paris",
    "Eastern Standard Time": "America/New_York",
    "Pacific Standard Time": "America/Los_Angeles",
    "India Standard Time": "Asia/Kolkata",
    "Tokyo Standard Time": "Asia/Tokyo",
    "New Zealand Standard Time": "Pacific/Auckland",
}
"""Some of those that Windows has, each with IANA's."""


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its name; UTC without a name."""
    try:
        return ZoneInfo(WINDOWS.get(name, name or "UTC"))
    except (ZoneInfoNotFoundError, ValueError) as error:
        text = (
            f"A valid TimeZone value must be specified. The following TimeZone value is not supported: '{name}'."
        )
        raise Refusal(400, "TimeZoneNotSupportedException", text) from error


def windows_name(zone: str) -> str:
    """Return what Windows calls one of IANA's time zones; its own name where that is not known."""
    return next((name for name, iana in WINDOWS.items() if iana == zone), zone)


def written(time: datetime, zone: str) -> dict[str, str]:
    """Return a local time as the vendor writes it, with the name of its zone as it was asked for."""
    return {"dateTime": f"{time:%Y-%m-%dT%H:%M:%S}.0000000", "timeZone": zone or "UTC"}

"""How far back a command looks: `--since 30d`."""

import re
from datetime import timedelta

from orrery.errors import Invalid


def parse_window(text: str) -> timedelta:
    """Return the duration that `30d`, `12h` or `90m` means; raise `Invalid` for anything else."""
    units = {"d": "days", "h": "hours", "m": "minutes"}
    number, unit = text[:-1], text[-1:]
    if unit not in units or not re.fullmatch(r"[1-9][0-9]{0,3}", number):
        raise Invalid(f"{text!r} is not a duration such as 30d, 12h or 90m.")
    return timedelta(**{units[unit]: int(number)})

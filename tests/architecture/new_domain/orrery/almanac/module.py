"""The almanac as a module: what it has was renamed once or twice, and some of it is no more."""

from orrery.runtime.former_names import renamed, retired
from orrery.runtime.module import Module, Named

MODULE = Module(
    "almanac",
    sections=(
        Named(
            "almanac",
            "orrery.almanac.settings:AlmanacSettings",
            former=(renamed("calendar", since="0.2"), renamed("yearbook", since="0.3")),
        ),
    ),
    secrets=(
        Named(
            "almanac_token",
            "orrery.almanac.secrets:TOKEN",
            former=(renamed("calendar_token", since="0.2"), renamed("yearbook_token", since="0.3")),
        ),
    ),
    retired_sections=(retired("moon", since="0.3", instead="Nothing asks the moon any more."),),
    retired_secrets=(retired("moon_key", since="0.3", instead="Delete it."),),
)

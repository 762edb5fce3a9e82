"""The keys of the counter in the store (spec 2, Cache keys)."""

from datetime import timedelta

ACTIVE = "realtime:active"
PAGES = "realtime:pages"
LAST_ERROR = "realtime:last_error"

OUTCOME = "realtime:outcome"
"""What the last refresh did, for whoever asks again within the same interval (decision 26)."""

BUDGET = "realtime:budget"
"""What is left of the provider's quota (decision 24)."""

MONITOR = "realtime:monitor"
"""What the monitor saw last (decision 29)."""

GUIDED_ACTIVE = "guided:realtime_active"
"""Reserved for the day when the guided product's read moves to the cache (spec 2, What the service does 6)."""

VALUE_TTL = timedelta(hours=24)
LAST_ERROR_TTL = timedelta(hours=1)

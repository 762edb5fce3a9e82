"""The keys of the counter in the store (spec 2, Cache keys)."""

from datetime import timedelta

ACTIVE = "realtime:active"
PAGES = "realtime:pages"
LAST_ERROR = "realtime:last_error"

OUTCOME = "realtime:outcome"
"""The outcome of the last refresh, for a second request within the same interval (decision 26)."""

QUOTA = "realtime:quota"
"""What is known of the provider's quota (decision 24)."""

OLD_BUDGET = "realtime:budget"
"""Where earlier releases kept it, in another shape."""

MONITOR = "realtime:monitor"
"""The monitor's last observation (decision 29)."""

GUIDED_ACTIVE = "guided:realtime_active"
"""Reserved for the day when the guided product's read moves to the cache (spec 2, What the service does 6)."""

VALUE_TTL = timedelta(hours=24)
LAST_ERROR_TTL = timedelta(hours=1)

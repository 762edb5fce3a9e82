"""The payment method configurations that the owner looks at."""

from orrery.account.configurations import oddities
from tests.account.one_account import configuration


def test_what_cannot_be_told_apart_is_pointed_out() -> None:
    """Configurations of one name and several defaults are named by their ids; four as in spec 1."""
    four = [
        configuration("Shop", id="pmc_1", is_default=True),
        configuration("Shop", id="pmc_2", is_default=True),
        configuration("Platform"),
        configuration("Trial"),
    ]
    assert oddities(four) == [
        "2 configurations are named 'Shop': pmc_1, pmc_2.",
        "2 configurations say that they are the default: pmc_1, pmc_2.",
    ]
    assert oddities(four[1:]) == []

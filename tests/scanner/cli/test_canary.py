"""`orrery tenants canary new`: the token alone is the output."""

import pytest

from orrery.scanner.detectors.canary import is_canary
from tests.support.plain_commands import plain
from tests.support.scan_user import ScanUser


def test_a_canary_is_new_each_time(user: ScanUser) -> None:
    """It is one that the search knows, and how to use it is said beside it."""
    made = [user.types(plain("canary new")) for _ in range(2)]
    tokens = [out.strip() for _, out, _ in made]
    assert all(map(is_canary, tokens))
    assert tokens[0] != tokens[1]
    assert all("white text" in err for _, _, err in made)


def test_the_group_lists_its_command(user: ScanUser) -> None:
    """`orrery tenants canary` alone says what is missing."""
    code, _, err = user.types(plain("canary"))
    assert code == 2
    assert "new" in err


@pytest.mark.parametrize(
    ("typed", "what"), [("--config x", "option"), ("--confg x", "option"), ("x --config", "argument")]
)
def test_it_takes_no_term_and_speaks_of_none(user: ScanUser, typed: str, what: str) -> None:
    """What was typed too much is said to be that."""
    code, out, err = user.types(plain("canary new"), *typed.split())
    assert (code, out) == (2, "")
    assert err == f"There is no such {what}: see `orrery tenants canary new --help`.\n"

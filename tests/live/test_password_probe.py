"""The admin password that the owner typed is compared with the hash."""

import pytest

from orrery.edge.auth import AdminBearer, GuessLimiter, hashed
from orrery.live.password_probe import PasswordProbe
from orrery.runtime.secret_probe import ProbeContext, Remark
from tests.support.clock import ManualClock

pytestmark = pytest.mark.anyio

PASSWORD = "open sesame, please"  # noqa: S105  a password of the tests
ANOTHER = Remark("the password is another one", "Make the hash anew: `orrery admin hash`.")
UNTRIED = Remark("the password was not tried")
MATCHES = Remark("the password matches")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (PASSWORD, MATCHES),
        (f" {PASSWORD}\n", MATCHES),
        ("something else", ANOTHER),
        ("\n", UNTRIED),
        (None, UNTRIED),
    ],
)
async def test_what_is_said_of_the_password(typed: str | None, said: Remark) -> None:
    """White space around it does not count; without a password nothing is compared."""
    bearer = AdminBearer(hashed(PASSWORD.encode()).upper(), GuessLimiter(ManualClock()))
    context = ProbeContext(password=typed)
    assert [one async for one in PasswordProbe(bearer.is_password).remarks(context)] == [said]
    assert PASSWORD not in repr(context)

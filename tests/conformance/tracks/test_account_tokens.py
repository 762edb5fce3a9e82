"""The tokens of a process that runs for long."""

import pytest

from orrery.ports.comms.errors import SignInNeeded
from orrery.tenants.account_tokens import AccountTokens
from tests.support.tracks import ANN_A, BOB_A, Tracks


@pytest.fixture
def tokens(tracks: Tracks) -> AccountTokens:
    """Return the tokens of Ann, who is signed in."""
    tracks.sign_in(ANN_A)
    return AccountTokens(tracks.sign_ins, tracks.box.clock)


async def test_each_account_has_its_own(tracks: Tracks, tokens: AccountTokens) -> None:
    """A token is kept for its account, and is nobody else's."""
    assert await tokens.token(ANN_A) == await tokens.token(ANN_A) == tracks.sign_ins.token(ANN_A).value
    with pytest.raises(SignInNeeded):
        await tokens.token(BOB_A)


async def test_who_signs_out_is_out_everywhere(tracks: Tracks, tokens: AccountTokens) -> None:
    """A process that runs does not go on with the token that it has."""
    _ = await tokens.token(ANN_A)
    assert tracks.sign_ins.sign_out(ANN_A)
    with pytest.raises(SignInNeeded):
        await tokens.token(ANN_A)

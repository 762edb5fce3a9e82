"""A running Graph in which Ann has signed in for both tracks, as it was at first, and her mailbox of track A."""

from collections.abc import Iterator

import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.tenants.account_tokens import AccountTokens
from tests.conformance.microsoft.signed_in import microsoft_mailbox, signed_in_at
from tests.support.graph import GraphBox, graph
from tests.support.tracks import ANN_A, ANN_B


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphBox, AccountTokens]]:
    """Return a running Graph, and the tokens of Ann in both tracks."""
    folder = tmp_path_factory.mktemp("graph")
    with graph(folder) as box:
        yield box, signed_in_at(box, folder, ANN_A, ANN_B)


@pytest.fixture
def box(shared: tuple[GraphBox, AccountTokens]) -> Iterator[GraphBox]:
    """Return it as it was at first, and without faults."""
    found, _ = shared
    for account in (ANN_A, ANN_B):
        found.lever("reset", account)
    yield found
    found.clear_faults()
    found.undo()


@pytest.fixture
def mail(box: GraphBox, shared: tuple[GraphBox, AccountTokens]) -> MicrosoftMailbox:
    """Return a mailbox that lists mail alone."""
    return microsoft_mailbox(box, shared[1], parts=("mail",))


@pytest.fixture
def whole(box: GraphBox, shared: tuple[GraphBox, AccountTokens]) -> MicrosoftMailbox:
    """Return a mailbox that lists everything."""
    return microsoft_mailbox(box, shared[1])

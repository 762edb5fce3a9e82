"""An identity provider that the tests of the tracks share, as it was before each of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.identity import IdentityBox, identity
from tests.support.tracks import ANN_A, Tracks


@pytest.fixture(scope="session")
def shared_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityBox]:
    """Return a running identity provider."""
    with identity(tmp_path_factory.mktemp("identity")) as found:
        yield found


@pytest.fixture(scope="session")
def signed_in(shared_box: IdentityBox, tmp_path_factory: pytest.TempPathFactory) -> Tracks:
    """Return the tracks of a folder where Ann has signed in."""
    elsewhere = Tracks(shared_box, tmp_path_factory.mktemp("signed-in"))
    elsewhere.sign_in(ANN_A)
    return elsewhere


@pytest.fixture
def box(shared_box: IdentityBox) -> Iterator[IdentityBox]:
    """Return it without levers pulled."""
    yield shared_box
    shared_box.undo()


@pytest.fixture
def tracks(box: IdentityBox, tmp_path: Path) -> Tracks:
    """Return both tracks, with nobody signed in."""
    return Tracks(box, tmp_path)

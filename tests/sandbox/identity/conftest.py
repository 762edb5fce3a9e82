"""One identity provider for a module's tests."""

from collections.abc import Iterator

import pytest

from tests.support.identity import IdentityBox, identity


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityBox]:
    """An identity provider: starting one takes a tenth of a second."""
    with identity(tmp_path_factory.mktemp("identity")) as box:
        yield box


@pytest.fixture
def box(module_box: IdentityBox) -> IdentityBox:
    """The module's identity provider with every lever undone."""
    module_box.undo()
    return module_box

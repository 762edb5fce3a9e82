"""The mutations of a module, run once for all of its tests."""

from collections.abc import Iterator

import pytest

from tests.guards.mutations import Runs, started


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Run the mutations that the module tries."""
    with started(request, tmp_path_factory) as found:
        yield found

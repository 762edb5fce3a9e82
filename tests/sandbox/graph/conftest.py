"""One sandbox with Microsoft Graph for a module's tests."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.support.graph import GraphBox, graph


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphBox]:
    """A sandbox with Microsoft Graph: starting one takes a tenth of a second."""
    with graph(tmp_path_factory.mktemp("graph")) as box:
        yield box


@pytest.fixture
def box(module_box: GraphBox) -> Iterator[GraphBox]:
    """The module's sandbox, in which nothing was sent when the test ends."""
    yield module_box
    assert module_box.sends == []


@pytest.fixture
def ann(box: GraphBox) -> Iterator[httpx2.Client]:
    """Ann of corp.example, who may read and draft."""
    with box.client("ann@corp.example") as web:
        yield web

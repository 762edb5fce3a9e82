"""Debian's nginx with the site of `deploy/edge/`, in front of a small origin."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.nginx.edge import Edge, edge_before
from tests.nginx.origin import Origin, running_origin


@pytest.fixture
def origin() -> Iterator[Origin]:
    """Run an origin."""
    with running_origin() as one:
        yield one


@pytest.fixture
def edge_with(origin: Origin, tmp_path: Path) -> Iterator[Callable[[Mapping[str, str]], Edge]]:
    """Run an edge with other values in its site."""
    with ExitStack() as stack:
        yield lambda values: stack.enter_context(edge_before(origin.port, tmp_path / "edge", values))


@pytest.fixture
def edge(edge_with: Callable[[Mapping[str, str]], Edge]) -> Edge:
    """Run the edge as it is shipped."""
    return edge_with({})

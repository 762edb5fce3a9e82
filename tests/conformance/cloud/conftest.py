"""The sandbox's cloud that the adapter and the layer are held against."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.support.azure import Official
from tests.support.provisioning import Layer, layer_in


@pytest.fixture(scope="module")
def shared_layer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Layer, Any, Any]]:
    """A sandbox's cloud for a module's tests, and what is so in it before the layer is made, and then."""
    with layer_in(tmp_path_factory.mktemp("layer"), factor=100) as layer:
        empty = layer.kept()
        assert layer.provisioning.make().succeeded
        yield layer, empty, layer.kept()


@pytest.fixture
def layer(shared_layer: tuple[Layer, Any, Any]) -> Layer:
    """A sandbox's cloud with nothing of the layer in it."""
    layer, empty, _ = shared_layer
    layer.put_back(empty)
    return layer


@pytest.fixture
def made(shared_layer: tuple[Layer, Any, Any]) -> Layer:
    """The same with the layer made."""
    layer, _, made = shared_layer
    layer.put_back(made)
    return layer


@pytest.fixture(scope="module")
def by_hand(shared_layer: tuple[Layer, Any, Any]) -> Iterator[Official]:
    """What somebody else does in the same cloud."""
    with closing(Official(shared_layer[0].box)) as official:
        yield official

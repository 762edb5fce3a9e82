"""One sandbox cloud for a module's tests, with everything that the chain needs in it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.sandbox.cloud.official import Official, operating
from tests.support.provisioning import Layer, layer_in


@pytest.fixture(scope="module")
def module_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Official]:
    """A cloud with the resources put: starting one takes a tenth of a second."""
    with operating(tmp_path_factory.mktemp("cloud")) as cloud:
        cloud.provision()
        yield cloud


@pytest.fixture
def cloud(module_cloud: Official) -> Official:
    """The module's cloud with every fault off, its machine running, and nothing due."""
    module_cloud.box.clear_faults()
    module_cloud.box.pull("known")
    module_cloud.box.advance(3600)
    if module_cloud.box.known()["machine"]["power"] != "running":
        module_cloud.box.pull("start")
        module_cloud.box.advance(3600)
    return module_cloud


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[Layer]:
    """A sandbox's cloud with nothing of the layer in it."""
    with layer_in(tmp_path, factor=100) as layer:
        yield layer


@pytest.fixture
def made(layer: Layer) -> Layer:
    """The same with the layer made."""
    assert layer.provisioning.make().succeeded
    return layer


@pytest.fixture
def by_hand(layer: Layer) -> Iterator[Official]:
    """What somebody else does in the same cloud."""
    with closing(Official(layer.box)) as official:
        yield official

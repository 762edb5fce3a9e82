"""One sandbox cloud for a module's tests, with everything that the chain needs in it."""

from collections.abc import Iterator

import pytest

from tests.sandbox.cloud.official import Official, operating


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

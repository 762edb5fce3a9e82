"""The layer is made, proven, corrected and removed, over the official libraries."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orrery.gateway.cloud.plan import planned
from tests.support.provisioning import Layer, layer_in


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layer]:
    """A layer that was made once."""
    with layer_in(tmp_path_factory.mktemp("made")) as layer:
        layer.provisioning.make()
        yield layer


def test_apply_makes_everything_and_proves_it(tmp_path: Path) -> None:
    """From nothing: eight resources, a kept URI, and a test job that has looked at the machine."""
    with layer_in(tmp_path) as layer:
        tested = layer.provisioning.make()
        assert (tested.status, tested.output) == (
            "Completed",
            "Nothing to do: this is a test. The machine is running.",
        )
        found = layer.provisioning.survey()
        assert planned(found, layer.wanted, layer.provisioning.text).is_empty
        assert layer.uri_file.stat().st_mode & 0o777 == 0o600
        assert layer.uri_file.read_text().strip() == found.uri

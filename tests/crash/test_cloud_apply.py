"""`orrery gateway cloud apply` is killed at each request that changes something, and typed again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orrery.gateway.cloud.plan import planned
from tests.support.program import Program, run_orrery
from tests.support.provisioning import Layer, layer_in
from tests.support.waiting import eventually

CHANGES = ["PUT", "POST"]
MOST = 12
"""More requests of one method than `apply` makes."""


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[Layer]:
    """A sandbox's cloud with nothing of the layer in it."""
    with layer_in(tmp_path, factor=100) as layer:
        yield layer


def killed_at(layer: Layer, kind: str, method: str, skip: int) -> bool:
    """Kill `apply` while the so-manyth request of a method is under way; return whether it made so many."""
    layer.box.clear_faults()
    layer.box.fault(kind, method, skip=skip)
    program = Program(["gateway", "cloud", "apply", "--config", str(layer.config)], layer.folder / "printed")

    def is_held_or_over() -> None:
        layer.box.advance(30)
        assert program.process.poll() is not None or not layer.box.waiting_faults()

    eventually(is_held_or_over)
    is_held = program.process.poll() is None
    program.kill()
    layer.box.clear_faults()
    return is_held


@pytest.mark.parametrize("method", CHANGES)
def test_apply_is_completed_by_typing_it_again(layer: Layer, method: str) -> None:
    """Whatever it was killed at: afterwards one of each resource is there, and the kept URI is the one in use."""
    kills = 0
    while killed_at(layer, "cloud_lost_answer", method, kills):
        kills += 1
        done = run_orrery("gateway", "cloud", "apply", "--config", str(layer.config))
        assert done.returncode == 0, done.stderr
        found = layer.provisioning.survey()
        assert planned(found, layer.wanted, layer.provisioning.text).is_empty
        assert len(found.webhooks) == len(found.grants) == 1
        run_orrery("gateway", "cloud", "destroy", "--yes", "--config", str(layer.config))
        assert kills < MOST
    assert kills > 4

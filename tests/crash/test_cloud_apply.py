"""`orrery gateway cloud apply` and `rotate-webhook` are killed at each request that changes something.

`./run soak cloud` kills them before that request is carried out, too, and at each request that reads.
"""

from pathlib import Path

import pytest

from orrery.gateway.cloud.plan import planned
from tests.support.program import Program
from tests.support.provisioning import Layer, layer_in
from tests.support.waiting import eventually

MOST = 20
"""More requests of one method than either command makes."""


def killed_at(layer: Layer, words: list[str], kind: str, method: str, skip: int) -> bool:
    """Kill a command while a request of a method is under way, after `skip` others; return whether it made one."""
    layer.box.fault(kind, method, skip=skip)
    program = Program([*words, "--config", str(layer.config)], layer.folder / "printed")

    def is_held_or_over() -> None:
        assert program.process.poll() is not None or not layer.box.waiting_faults()

    eventually(is_held_or_over)
    is_held = program.process.poll() is None
    program.kill()
    layer.box.clear_faults()
    return is_held


@pytest.mark.parametrize(
    ("command", "method", "fewest"),
    [
        ("apply", "PUT", 8),
        ("apply", "POST", 2),
        ("rotate-webhook", "PUT", 2),
        ("rotate-webhook", "POST", 1),
        ("rotate-webhook", "DELETE", 1),
    ],
)
def test_a_killed_command_is_completed_by_apply(tmp_path: Path, command: str, method: str, fewest: int) -> None:
    """Whatever it was killed at: afterwards one of each resource is there, and the kept URI is the one in use."""
    for kills in range(MOST):
        with layer_in(tmp_path / str(kills), factor=100) as layer:
            if command != "apply":
                assert layer.provisioning.make().succeeded
            if not killed_at(layer, ["gateway", "cloud", command], "cloud_lost_answer", method, kills):
                assert kills >= fewest
                return
            assert layer.provisioning.make().succeeded
            found = layer.provisioning.survey()
            assert planned(found, layer.wanted, layer.provisioning.text).is_empty
            assert len(found.webhooks) == len(found.grants) == 1
    pytest.fail("It never came to its end.")

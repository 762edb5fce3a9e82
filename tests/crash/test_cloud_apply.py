"""`orrery gateway cloud` is killed at requests that change something, and completed by typing it again.

Where there are many of them, at each fourth one. `./run soak cloud` kills it at every request, also at those that
read, and before the request is carried out, too; it prints how many kills that were.
"""

import sys
from pathlib import Path

import pytest

from orrery.gateway.cloud.plan import OVERLAP, planned
from orrery.gateway.cloud.survey import known
from tests.support.program import Program, run_orrery
from tests.support.provisioning import Layer, layer_in
from tests.support.soak import SOAKING
from tests.support.waiting import eventually

MOST = 200
"""More requests than any of the commands makes."""

FEW = 3

CHANGES = [
    ("apply", "cloud_lost_answer", "PUT", 8),
    ("rotate-webhook", "cloud_lost_answer", "PUT", 2),
    ("old webhook", "cloud_lost_answer", "DELETE", 1),
    ("destroy", "cloud_lost_answer", "DELETE", 8),
]
ALL = [
    (command, kind, "", fewest)
    for command, fewest in (("apply", 30), ("rotate-webhook", 25), ("old webhook", 25), ("destroy", 12))
    for kind in ("cloud_hang", "cloud_lost_answer")
]
"""The command, the fault that holds a request (before or after it is carried out), which requests, and at least
how many there are."""

TYPED = {"destroy": ["destroy", "--yes"], "old webhook": ["apply"]}
"""What is typed; the old webhook is that which a rotation half an hour ago has left."""


def killed_at(layer: Layer, words: list[str], kind: str, method: str, skip: int) -> bool:
    """Kill a command while a request of a method is under way, after `skip` others; return whether it made one."""
    layer.box.fault(kind, method, skip=skip)
    program = Program(["gateway", "cloud", *words, "--config", str(layer.config)], layer.folder / "printed")

    def is_held_or_over() -> None:
        assert program.process.poll() is not None or not layer.box.waiting_faults()

    eventually(is_held_or_over)
    is_held = program.process.poll() is None
    program.kill()
    layer.box.clear_faults()
    return is_held


@pytest.mark.parametrize(("command", "kind", "method", "fewest"), ALL if SOAKING else CHANGES)
def test_a_killed_command_is_completed(
    tmp_path: Path, command: str, kind: str, method: str, fewest: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """At whichever request: `apply` leaves one of each resource and the kept URI in use, `destroy` nothing."""
    step = 1 if SOAKING or fewest <= FEW else 4
    with layer_in(tmp_path / "layer", factor=100) as layer:
        if command != "apply":
            assert layer.provisioning.make().succeeded
        if command == "old webhook":
            assert layer.provisioning.make(rotate=True).succeeded
            layer.box.advance(OVERLAP.total_seconds())
        before = layer.kept()
        for kills in range(0, MOST, step):
            layer.put_back(before)
            if not killed_at(layer, TYPED.get(command, [command]), kind, method, kills):
                assert kills >= fewest
                break
            if command == "destroy":
                expect_nothing_left(layer)
            else:
                expect_completed(layer, worked=command != "apply", at_once=kills // step % 2 == 0)
        else:
            pytest.fail("It never came to its end.")
    with capsys.disabled():
        if SOAKING:
            sys.stdout.write(f"\n{command}, {kind}: {kills} kills\n")


def expect_completed(layer: Layer, *, worked: bool, at_once: bool) -> None:
    """Type `apply`, at once or half an hour later; what worked before works at each moment."""
    if worked:
        expect_restarted(layer)
    if at_once:
        assert layer.provisioning.make().succeeded
        assert planned(layer.provisioning.survey(), layer.wanted, layer.provisioning.text).is_empty
        expect_restarted(layer)
    layer.box.advance(OVERLAP.total_seconds())
    assert layer.provisioning.make().succeeded
    found = layer.provisioning.survey()
    assert planned(found, layer.wanted, layer.provisioning.text).is_empty
    assert len(known(found.webhooks)) == len(known(found.grants)) == 1


def expect_restarted(layer: Layer) -> None:
    """Shut the machine down, and see an alert within the next minutes start it."""
    layer.box.pull("shutdown", stop=1, health=1, alert=60, start=60)
    layer.box.advance(290)
    assert layer.box.known()["machine"]["power"] == "running"


def expect_nothing_left(layer: Layer) -> None:
    """Type `destroy` again."""
    ended = run_orrery("gateway", "cloud", "destroy", "--yes", "--config", str(layer.config))
    assert ended.returncode == 0, ended.stderr
    found = layer.provisioning.survey()
    assert (found.identity, found.account, found.action_group, found.grants) == (None, None, None, ())
    assert set(found.alerts.values()) == {None}
    assert not layer.uri_file.exists()

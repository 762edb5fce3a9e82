"""A drill on a real systemd: what it breaks comes back, and its reports can be compared."""

import json
import shlex
from typing import TypedDict, cast

from tests.support.soak import SOAKING
from tests.systemd.gateway import ORRERY, Gateway, Machine, eventually

SHORT = [] if SOAKING else ["--only=crash"]
"""The fault that is over soonest; the drill that is ended exhausts, and `./run soak gateway` makes all four."""


class Line(TypedDict):
    """A line of the report."""

    fault: str
    noticed: str
    answered: str
    last: str
    result: str


def test_a_drill_breaks_the_service_and_compares_with_the_last_one(machine: Machine) -> None:
    """Afterwards the unit runs and is watched; the drill's recoveries are no flap, and its pushes name it.

    The guest acts at each drill's crash, however soon after the last drill it comes.
    """
    gateway = machine.gateway("drilled")
    gateway.install()
    eventually(gateway.seen_to_answer)
    first = _drill(gateway, *SHORT)
    faults = [line["fault"] for line in first]
    assert faults == (["stop", "crash", "exhaust", "hang"] if SOAKING else ["crash"])
    assert {line["result"].partition(",")[0] for line in first} == {"recovered"}
    assert {line["last"] for line in first} == {"-"}
    gateway.machine.run(f"echo 1 > {gateway.state}/paused-until")  # a pause that is over
    second = _drill(gateway, "--only=crash")
    assert second[0]["last"] == next(line["answered"] for line in first if line["fault"] == "crash")
    assert second[0]["noticed"] != "-"
    gateway.answers()
    gateway.recovered(0)
    assert {push.title.partition(":")[0] for push in machine.pushes("drilled.service")} <= {"Drill"}


def test_a_drill_begins_only_when_its_owner_says_so_and_the_unit_is_watched(machine: Machine) -> None:
    """Nothing is broken by a drill that was not confirmed, or whose outcome is known before."""
    gateway = machine.gateway("spared")
    gateway.install()
    eventually(gateway.settled)
    process = gateway.shows("MainPID")
    assert "status 1" in machine.run(f"echo n | {ORRERY} gateway drill --unit spared 2>&1 || echo status $?")
    machine.run(f"echo 1 > {gateway.state}/outage")
    said = machine.run(f"{ORRERY} gateway drill --unit spared --yes 2>&1 || echo status $?")
    assert "An outage of spared.service was reported" in said
    machine.run(f"rm -f {gateway.state}/outage; systemctl stop spared-watch.service")
    said = machine.run(f"{ORRERY} gateway drill --unit spared --yes 2>&1 || echo status $?")
    assert "spared-watch.service is inactive" in said
    assert "status 2" in said
    assert gateway.shows("MainPID") == process


def test_a_drill_that_is_ended_leaves_the_unit_running_and_watched(machine: Machine) -> None:
    """As by a terminal that hung up, because the gateway carried it.

    It begins once a recovery that is under way has ended, and an outage of its own making ends with it.
    """
    gateway = machine.gateway("hung-up")
    gateway.install()
    eventually(gateway.seen_to_answer)
    eventually(gateway.settled)
    held = "[Service]\nExecStartPre=/bin/sh -c 'while test -e /run/held; do sleep 0.1; done'\n"
    machine.run("mkdir /etc/systemd/system/hung-up-recover.service.d; touch /run/held")
    machine.run(f"printf {shlex.quote(held)} > /etc/systemd/system/hung-up-recover.service.d/held.conf")
    machine.run("systemctl daemon-reload; systemctl start --no-block hung-up-recover.service")
    process = gateway.shows("MainPID")
    drill = f"exec {ORRERY} gateway drill --unit hung-up --yes --only=exhaust"
    machine.run(f"systemd-run --unit=hung-up-drill --property=KillSignal=SIGHUP /bin/sh -c '{drill}'")
    eventually(lambda: machine.run("test -e /run/hung-up-recover/drill-until"))
    gateway.looked_at(2)
    gateway.runs_as(process)
    machine.run("rm /run/held")
    eventually(lambda: gateway.said("The recovery of hung-up.service is paused"))
    machine.run(f"echo 1 > {gateway.state}/outage")
    machine.run("systemctl stop hung-up-drill.service")
    machine.run(f"test ! -e {gateway.state}/outage")  # a minute later the guest itself would have closed it
    eventually(lambda: gateway.said("The recovery of hung-up.service is no longer paused"))
    gateway.await_answer()


def _drill(gateway: Gateway, *options: str) -> list[Line]:
    said = gateway.machine.run(f"{ORRERY} gateway drill --unit {gateway.unit} --yes --json {' '.join(options)}")
    return cast("list[Line]", json.loads(said))

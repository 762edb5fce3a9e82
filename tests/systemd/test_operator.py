"""What the guest leaves alone: a pause, a mask, a unit that systemd is starting, a host that goes down."""

import tempfile
from pathlib import Path

import pytest

from tests.systemd.gateway import Gateway, Machine, eventually
from tests.systemd.gateway import machine as booted_machine
from tests.systemd.host import refused


def test_a_paused_unit_is_left_alone_until_the_pause_ends_by_itself(machine: Machine) -> None:
    """Neither the watch nor the timer's run starts it; the end of the pause does."""
    gateway = machine.gateway("paused")
    gateway.install()
    gateway.await_answer()
    machine.run(f"{gateway.script} pause 1h; systemctl stop paused.service; {gateway.script}")
    gateway.looked_at(2)
    gateway.goes("inactive/dead")
    machine.run(f"cut -d . -f 1 /proc/uptime > {gateway.state}/paused-until")
    gateway.await_answer()
    gateway.recovered(1)


def test_a_pause_has_a_length_and_its_end_recovers_the_unit(machine: Machine) -> None:
    """The refusal says how a pause is written. An operator who is done need not wait for its end."""
    gateway = machine.gateway("resumed")
    gateway.install()
    for length in ("", "2", "h", "8d", "08h", "-1h", "1h30m", "0m", "99999999999999999999s"):
        said = machine.run(f"{gateway.script} pause '{length}' 2>&1 || echo status $?")
        assert said == "A pause is written like 30m, 2h or 1d, and lasts at most 7d.\nstatus 2\n", length
    machine.run(f"{gateway.script} pause 7d; systemctl stop resumed.service; {gateway.script}")
    gateway.goes("inactive/dead")
    machine.run(f"{gateway.script} resume")
    gateway.await_answer()


def test_a_unit_in_a_long_start_is_not_down(machine: Machine) -> None:
    """ExecStartPre may take its time: the guest neither recovers nor counts; beyond its patience it pushes."""
    gateway = machine.gateway("slow", "TimeoutStartSec=infinity")
    gateway.install("--start-within", "10m")
    gateway.await_answer()
    before = "while test ! -e /run/slow-go; do sleep 0.1; done"
    machine.run("mkdir -p /etc/systemd/system/slow.service.d")
    machine.run(
        f"printf '[Service]\\nExecStartPre=/bin/sh -c \"{before}\"\\n' > /etc/systemd/system/slow.service.d/p.conf"
    )
    machine.run("systemctl daemon-reload; systemctl restart --no-block slow.service")
    gateway.looked_at(4)
    machine.run(gateway.script)
    gateway.goes("activating/start-pre")
    gateway.recovered(0)
    assert machine.pushes("slow.service") == []
    gateway.install("--start-within", "1s")
    eventually(gateway.has_pushed(1))
    machine.run("touch /run/slow-go")
    gateway.await_answer()
    gateway.recovered(0)


def test_a_masked_unit_is_left_alone(machine: Machine) -> None:
    """A mask is an operator's word that nothing may start the unit."""
    gateway = machine.gateway("masked")
    gateway.install()
    gateway.await_answer()
    file = "/etc/systemd/system/masked.service"
    machine.run(f"mv {file} {file}.kept; systemctl mask masked.service; systemctl stop masked.service")
    gateway.looked_at(3)
    machine.run(gateway.script)
    gateway.recovered(0)


def test_recoveries_are_remembered_and_nothing_is_started_while_the_host_goes_down() -> None:
    """A host that is shut down in the middle of a recovery counts it, and after the boot the unit is up."""
    if why := refused():
        pytest.skip(why)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as disk:
        with booted_machine(Path(disk)) as before:
            gateway = before.gateway("rebooted", "ExecStartPre=/bin/sh -c 'test ! -e /run/slow || sleep infinity'")
            before.run(
                "printf '[Install]\\nWantedBy=multi-user.target\\n' >> /etc/systemd/system/rebooted.service"
            )
            before.run("systemctl enable rebooted.service")
            gateway.install()
            gateway.await_answer()
            before.run("touch /run/slow; systemctl kill --signal=KILL rebooted.service")
            eventually(lambda: gateway.recovered(1))
            before.power_off()
        with booted_machine(Path(disk)) as after:
            again = Gateway(after, gateway.unit, gateway.address)
            again.await_answer()
            again.recovered(1)
            assert "rebooted-recover.timer" in after.run(
                "systemctl list-timers --no-legend; systemctl is-active rebooted-watch"
            )

"""The timer, which stays as the net below the watch; and that systemd takes our units as they are."""

from tests.support.waiting import eventually
from tests.systemd.gateway import Machine


def test_the_timer_alone_recovers_the_unit(machine: Machine) -> None:
    """One run at a scale: without the watch, and with a period of seconds instead of 15 minutes."""
    gateway = machine.gateway("timed")
    gateway.install()
    eventually(gateway.settled)
    folder = "/etc/systemd/system/timed-recover.timer.d"
    machine.run(
        f"mkdir {folder}; printf '[Timer]\\nOnUnitActiveSec=2s\\n' > {folder}/scale.conf; systemctl daemon-reload"
    )
    machine.run("systemctl stop timed-watch.service; systemctl restart timed-recover.timer")
    gateway.systemctl("stop")
    gateway.await_answer()
    eventually(lambda: gateway.said("timed.service has recovered"))


def test_systemd_finds_nothing_to_complain_of_in_the_units(machine: Machine) -> None:
    """A misspelt key is a warning with exit code 0, unless systemd is asked so."""
    gateway = machine.gateway("verified")
    gateway.install()
    own = ("recover.timer", "recover.service", "watch.service", "alert.service")
    files = " ".join(f"/etc/systemd/system/verified-{one}" for one in own)
    said = machine.run(
        f"systemd-analyze verify --recursive-errors=no {files} verified.service 2>&1 || echo status $?"
    )
    assert "verified" not in said, said
    assert "status" not in said, said


def test_no_run_blocks_the_timer(machine: Machine) -> None:
    """A recovery that hangs is ended before the timer comes again."""
    gateway = machine.gateway("bounded")
    gateway.install()
    shown = machine.run("systemctl show --property=TimeoutStartUSec --value bounded-recover.service")
    assert shown == "14min\n"

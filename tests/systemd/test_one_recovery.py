"""A recovery while the unit starts slowly, while systemd reads its units, and while another one runs."""

from tests.systemd.gateway import Machine, eventually


def test_a_service_that_answers_late_after_a_long_start_has_recovered(machine: Machine) -> None:
    """The time that it has to answer begins when it is active. Here both are shorter than at work."""
    gateway = machine.gateway("lazy", "ExecStartPre=/bin/sleep 3", "sleep 1; ")
    gateway.install("--start-within", "20s", "--answer-within=20")
    gateway.await_answer()
    eventually(gateway.settled)
    gateway.systemctl("stop")
    eventually(lambda: gateway.said("lazy.service has recovered"))
    assert machine.pushes("lazy.service") == []


def test_a_systemd_that_reads_its_units_is_asked_again_and_three_recoveries_at_once_are_one(
    machine: Machine,
) -> None:
    """It drops the connections meanwhile, as in every upgrade of a package: that is no failure of the recovery.

    A run that finds another one at work ends, and so do the second and the third of three.
    """
    gateway = machine.gateway("reread")
    gateway.install()
    eventually(gateway.settled)
    machine.run("mkdir /run/reread-tools")
    machine.write(
        "/run/reread-tools/systemctl",
        '#!/bin/sh\ntest -e /run/reread-$1 || { touch /run/reread-$1; exit 1; }\nexec /bin/systemctl "$@"\n',
    )
    machine.run(
        "chmod +x /run/reread-tools/systemctl; "
        "systemctl stop reread-watch.service reread-recover.timer reread.service"
    )
    machine.run(f"PATH=/run/reread-tools:$PATH {gateway.script}")
    gateway.answers()
    assert machine.pushes("reread.service") == []
    gateway.recovered(1)
    machine.run(f"systemctl stop reread.service; flock /run/reread-recover/lock {gateway.script}")
    gateway.goes("inactive/dead")
    machine.run(" & ".join([gateway.script] * 3) + " & wait")
    gateway.answers()
    gateway.recovered(2)

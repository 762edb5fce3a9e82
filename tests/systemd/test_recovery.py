"""What the guest does when its unit stops, crashes or fails, on a real systemd."""

from tests.support.waiting import eventually
from tests.systemd.gateway import Machine


def test_a_stopped_service_is_recovered_and_the_log_names_the_pause(machine: Machine) -> None:
    """An operator who stops the service without a pause reads in the log how to do so."""
    gateway = machine.gateway("stopped")
    gateway.install()
    gateway.await_answer()
    gateway.systemctl("stop")
    gateway.await_answer()
    eventually(lambda: gateway.said("stopped.service has recovered"))
    gateway.recovered(1)
    gateway.said("pause the recovery first: /usr/local/sbin/stopped-recover.sh pause 2h")
    assert machine.pushes("stopped.service") == []


def test_a_service_that_was_asked_to_end_is_recovered(machine: Machine) -> None:
    """After SIGTERM a service is `inactive`, and systemd leaves it so."""
    gateway = machine.gateway("ended")
    gateway.install()
    gateway.await_answer()
    gateway.systemctl("kill", "--signal=TERM")
    eventually(lambda: gateway.recovered(1))
    gateway.await_answer()


def test_a_crash_is_recovered_at_once_and_the_next_one_is_left_to_systemd(machine: Machine) -> None:
    """The second crash within a minute waits for its automatic restart after 60 s, and counts towards a flap."""
    gateway = machine.gateway("crashed")
    gateway.install()
    gateway.await_answer()
    gateway.systemctl("kill", "--signal=KILL")
    gateway.await_answer()
    eventually(gateway.settled)
    gateway.recovered(1)
    gateway.systemctl("kill", "--signal=KILL")
    gateway.looked_at(5)
    gateway.goes("activating/auto-restart")
    assert gateway.log().count("crashed.service is recovered") == 1
    gateway.recovered(2)


def test_a_service_that_answers_late_after_a_long_start_has_recovered(machine: Machine) -> None:
    """The time that it has to answer begins when it is active. Here both are shorter than at work."""
    gateway = machine.gateway("lazy", "ExecStartPre=/bin/sleep 3", "sleep 1; ")
    gateway.install()
    gateway.await_answer()
    eventually(gateway.settled)
    machine.run("sed -i -E 's/(START|ANSWER)_SECONDS=90/\\1_SECONDS=3/' /usr/local/sbin/lazy-recover.*")
    gateway.systemctl("stop")
    eventually(lambda: gateway.said("lazy.service has recovered"))
    assert machine.pushes("lazy.service") == []


def test_a_systemd_that_reads_its_units_is_asked_again(machine: Machine) -> None:
    """It drops the connections meanwhile, as in every upgrade of a package: that is no failure of the recovery."""
    gateway = machine.gateway("reread")
    gateway.install()
    eventually(gateway.settled)
    machine.run("mkdir /run/reread-tools")
    machine.write(
        "/run/reread-tools/systemctl",
        '#!/bin/sh\ntest -e /run/reread-$1 || { touch /run/reread-$1; exit 1; }\nexec /bin/systemctl "$@"\n',
    )
    machine.run("chmod +x /run/reread-tools/systemctl; systemctl stop reread-watch.service reread.service")
    machine.run(f"PATH=/run/reread-tools:$PATH {gateway.script}")
    gateway.answers()
    assert machine.pushes("reread.service") == []


def test_three_recoveries_at_once_are_one(machine: Machine) -> None:
    """The second and the third find the first at work, and end."""
    gateway = machine.gateway("thrice")
    gateway.install()
    eventually(gateway.settled)
    machine.run("systemctl stop thrice-watch.service thrice.service")
    machine.run(" & ".join([gateway.script] * 3) + " & wait")
    gateway.answers()
    gateway.recovered(1)

"""What the guest does when its unit stops, crashes or fails, on a real systemd."""

from tests.systemd.gateway import Machine, eventually


def test_a_stopped_service_is_recovered_and_the_log_names_the_pause(machine: Machine) -> None:
    """An operator who stops the service without a pause reads in the log how to do so.

    So is one that was asked to end: after SIGTERM it is `inactive`, and systemd leaves it so.
    """
    gateway = machine.gateway("stopped")
    gateway.install()
    gateway.await_answer()
    gateway.systemctl("stop")
    gateway.await_answer()
    eventually(lambda: gateway.said("stopped.service has recovered"))
    gateway.recovered(1)
    gateway.said("pause the recovery first: /usr/local/sbin/stopped-recover.sh pause 2h")
    eventually(gateway.settled)
    gateway.systemctl("kill", "--signal=TERM")
    eventually(lambda: gateway.recovered(2))
    gateway.await_answer()
    assert machine.pushes("stopped.service") == []


def test_a_service_that_is_stopped_again_just_after_its_recovery_is_recovered_again(machine: Machine) -> None:
    """A recovery that helped does not count as one that did not: nothing waits a minute, nothing is pushed."""
    gateway = machine.gateway("insisted")
    gateway.install()
    eventually(gateway.seen_to_answer)
    eventually(gateway.settled)
    machine.run(f"sed -i 's/HOLD_SECONDS=[0-9]*/HOLD_SECONDS=600/' {gateway.script}")  # the stop comes within it
    first = gateway.shows("ActiveEnterTimestampMonotonic")

    def seen_again() -> None:
        assert gateway.shows("ActiveEnterTimestampMonotonic") != first
        gateway.seen_to_answer()

    gateway.systemctl("stop")
    eventually(seen_again)
    gateway.systemctl("stop")
    eventually(lambda: gateway.said("and has ended again."))
    eventually(lambda: gateway.recovered(2))
    gateway.await_answer()
    assert machine.pushes("insisted.service") == []


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
    eventually(lambda: gateway.recovered(2))  # the guest notices the crash after systemd
    assert gateway.log().count("crashed.service is recovered") == 1

"""What is pushed of a unit that fails again and again: a flap once, an outage once, and its end."""

from tests.systemd.gateway import Machine, eventually


def test_a_flap_is_pushed_once(machine: Machine) -> None:
    """The third recovery within the hour is pushed as urgent with the tag `flap`; the fourth is not."""
    gateway = machine.gateway("flapping")
    gateway.install()
    eventually(gateway.settled)
    gateway.has_failed_before(2)
    for times in (3, 4):
        gateway.systemctl("stop")
        eventually(lambda: gateway.recovered(times))  # noqa: B023  it is called in this round
        eventually(gateway.settled)
    eventually(gateway.has_pushed(1))
    (push,) = machine.pushes("flapping.service")
    assert (push.title, push.priority) == ("flapping.service on machine flaps.", 5)
    assert "flap" in push.tags


def test_a_recovery_that_fails_is_pushed_once_and_so_is_its_end(machine: Machine) -> None:
    """The timer's next tries, which fail too, are not told again."""
    gateway = machine.gateway("broken", "ExecStartPre=/usr/bin/test ! -e /run/broken")
    gateway.install()
    gateway.await_answer()
    gateway.is_steady_after(6)
    machine.run("touch /run/broken")
    gateway.systemctl("stop")
    eventually(gateway.has_pushed(1))
    eventually(gateway.settled)
    machine.run(f"systemctl stop broken.service; {gateway.script} || true")
    machine.run("rm /run/broken; systemctl restart broken.service")
    eventually(gateway.has_pushed(2))
    first, last = machine.pushes("broken.service")
    assert (first.title, first.priority) == ("broken.service on machine did not recover.", 5)
    assert "flap" in first.tags
    assert (last.title, last.priority) == ("broken.service on machine answers again.", 2)

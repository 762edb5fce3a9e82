"""Pushes that cannot be sent."""

from tests.systemd.gateway import PUSHES, Machine, eventually


def test_a_push_that_is_refused_is_tried_again_and_does_not_delay_the_recovery(machine: Machine) -> None:
    """It waits on disk until the server takes it, and is then sent once."""
    gateway = machine.gateway("unheard")
    gateway.install()
    eventually(gateway.settled)
    machine.faults("push_500")
    gateway.has_failed_before(2)
    gateway.systemctl("stop")
    gateway.await_answer()
    eventually(lambda: gateway.said("The push was not accepted, and is tried again: unheard.service"))
    assert machine.pushes("unheard.service") == []
    retried = machine.run("systemctl show --property=Restart,RestartUSec unheard-alert.service").split()
    assert retried == ["Restart=on-failure", "RestartUSec=1min"]
    machine.no_faults()
    machine.run("systemctl restart unheard-alert.service")
    gateway.has_pushed(1)()
    assert machine.run(f"ls {gateway.state}/outbox") == ""


def test_a_message_stays_until_it_is_sent(machine: Machine) -> None:
    """Neither a page that answers 200 takes it, as a portal does, nor a full /run, where it cannot be copied.

    The next recovery sends it, also while the unit is down: a start of the alert service while it is at work does
    nothing.
    """
    gateway = machine.gateway("later")
    gateway.install("--push", gateway.address)
    eventually(gateway.settled)
    machine.run("systemctl stop later-watch.service later-recover.timer")
    message = f"{gateway.state}/outbox/1"
    machine.run(rf"mkdir -p {gateway.state}/outbox; printf 'urgent\nflap\n{gateway.unit}\ntext\n' > {message}")

    def stays() -> None:
        machine.run("systemctl start later-alert.service || true; systemctl stop later-alert.service")
        assert machine.run(f"ls {message}") == f"{message}\n"

    stays()
    machine.run(f"sed -i 's|^PUSH=.*|PUSH={PUSHES}|' /usr/local/sbin/later-recover.conf")
    machine.run(
        "mount -t tmpfs -o size=8k tmpfs /run/later-recover; cat /dev/zero > /run/later-recover/log || true"
    )
    stays()
    machine.run(f"umount /run/later-recover; {gateway.script} pause 1h; {gateway.script}")
    eventually(gateway.has_pushed(1))


def test_a_full_disk_delays_no_push(machine: Machine) -> None:
    """A full disk is a cause of an outage: it is pushed all the same, once, and so is its end."""
    gateway = machine.gateway("full", "ExecStartPre=/usr/bin/test ! -e /run/full")
    gateway.install()
    gateway.await_answer()
    gateway.is_steady_after(6)
    eventually(gateway.settled)
    machine.run(f"mount -t tmpfs -o size=8k tmpfs {gateway.state} && mkdir -p {gateway.state}/outbox")
    machine.run(f"cat /dev/zero > {gateway.state}/log 2>&1 || touch /run/full; systemctl stop full.service")
    eventually(gateway.has_pushed(1))
    eventually(gateway.settled)
    machine.run(f"systemctl stop full.service; {gateway.script} || rm /run/full")
    machine.run(
        f"systemctl restart full.service; {gateway.script} pause 1h; {gateway.script} status | grep ^paused"
    )
    machine.run(f"{gateway.script} resume")
    eventually(gateway.has_pushed(2))

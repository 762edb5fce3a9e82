"""Pushes that cannot be sent."""

from tests.support.waiting import eventually
from tests.systemd.gateway import Machine


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


def test_a_page_that_is_no_push_server_takes_no_push(machine: Machine) -> None:
    """Also a portal answers 200: what was not published is not forgotten."""
    gateway = machine.gateway("portal")
    gateway.install("--push", gateway.address)
    machine.run(
        f"mkdir -p {gateway.state}/outbox; cd {gateway.state}/outbox; "
        r"printf 'urgent\nflap\nportal.service\ntext\n' > 1"
    )
    machine.run("systemctl start portal-alert.service || true")
    assert machine.run(f"ls {gateway.state}/outbox") == "1\n"


def test_a_message_that_came_while_others_were_sent_is_sent_by_the_next_recovery(machine: Machine) -> None:
    """Also while the unit is down: a start of the alert service while it is at work does nothing."""
    gateway = machine.gateway("later")
    gateway.install()
    machine.run(f"{gateway.script} pause 1h")
    machine.run(rf"printf 'urgent\nflap\n{gateway.unit}\ntext\n' > {gateway.state}/outbox/1; {gateway.script}")
    eventually(gateway.has_pushed(1))


def test_a_full_disk_delays_no_push(machine: Machine) -> None:
    """A full disk is a cause of an outage: it is pushed all the same, once, and so is its end."""
    gateway = machine.gateway("full", "ExecStartPre=/usr/bin/test ! -e /run/full")
    gateway.install()
    gateway.await_answer()
    gateway.is_steady_after(6)
    eventually(gateway.settled)
    machine.run(f"mount -t tmpfs -o size=8k tmpfs {gateway.state} && mkdir {gateway.state}/outbox")
    machine.run(f"cat /dev/zero > {gateway.state}/log 2>&1 || touch /run/full; systemctl stop full.service")
    eventually(gateway.has_pushed(1))
    eventually(gateway.settled)
    machine.run(f"systemctl stop full.service; {gateway.script} || rm /run/full")
    machine.run(
        f"systemctl restart full.service; {gateway.script} pause 1h; {gateway.script} status | grep ^paused"
    )
    machine.run(f"{gateway.script} resume")
    eventually(gateway.has_pushed(2))


def test_a_full_run_folder_loses_no_push(machine: Machine) -> None:
    """What cannot be copied is not sent, and stays."""
    gateway = machine.gateway("crowded")
    gateway.install()
    eventually(gateway.settled)
    machine.run("systemctl stop crowded-watch.service crowded-recover.timer")
    machine.run(
        "mount -t tmpfs -o size=8k tmpfs /run/crowded-recover; cat /dev/zero > /run/crowded-recover/log || true"
    )
    message = f"{gateway.state}/outbox/1"
    machine.run(
        rf"printf 'urgent\nflap\ncrowded.service\ntext\n' > {message}; systemctl start crowded-alert || true"
    )
    assert machine.run(f"ls {message}") == f"{message}\n"

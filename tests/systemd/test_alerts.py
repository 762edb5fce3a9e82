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

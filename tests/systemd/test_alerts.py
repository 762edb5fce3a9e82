"""Pushes and pings that cannot be sent, and what the probe says of a tunnel."""

from tests.support.waiting import eventually
from tests.systemd.gateway import PUSHES, Machine


def test_a_push_that_is_refused_is_tried_again_and_does_not_delay_the_recovery(machine: Machine) -> None:
    """It waits on disk until the server takes it, and is then sent once."""
    gateway = machine.gateway("unheard")
    gateway.install()
    eventually(gateway.settled)
    machine.faults("push_500")
    for times in (1, 2, 3):
        gateway.systemctl("stop")
        eventually(lambda: gateway.recovered(times))  # noqa: B023  it is called in this round
        gateway.await_answer()
        eventually(gateway.settled)
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
    machine.run(f"mkdir -p {gateway.state}/outbox && printf 'urgent\\nflap\\nportal.service\\ntext\\n' > {gateway.state}/outbox/1")
    machine.run("systemctl start portal-alert.service || true")
    assert machine.run(f"ls {gateway.state}/outbox") == "1\n"


def test_a_tunnel_that_answers_502_makes_the_service_dead(machine: Machine) -> None:
    """The tunnel is healthy, and systemd calls the unit active: only the probe through the tunnel tells."""
    gateway = machine.gateway("tunneled", before="test ! -e /run/tunneled || exec sleep infinity; ")
    gateway.install(probe=machine.tunnel(gateway.address))
    eventually(gateway.seen_to_answer)
    machine.run("touch /run/tunneled; systemctl restart tunneled.service; rm /run/tunneled")
    eventually(lambda: gateway.said("tunneled.service is recovered: it does not answer (probe: 502)."))
    gateway.await_answer()


def test_a_command_can_be_the_probe(machine: Machine) -> None:
    """Its exit code tells."""
    gateway = machine.gateway("commanded")
    gateway.install(probe="test -e /run/commanded")
    machine.run("touch /run/commanded")
    eventually(gateway.seen_to_answer)
    machine.run("rm /run/commanded")
    eventually(lambda: gateway.said("commanded.service is recovered: it does not answer (probe: failed)."))

"""A unit that systemd calls active, and that does not answer."""

from functools import partial

from tests.systemd.gateway import Machine, eventually


def test_a_service_that_hangs_is_restarted(machine: Machine) -> None:
    """One that does not hear SIGTERM is killed, and not waited for as long as systemd would."""
    gateways = [machine.gateway("stuck"), machine.gateway("deaf", before="trap '' TERM; ")]
    for gateway in gateways:
        gateway.install()
    for gateway in gateways:
        eventually(gateway.seen_to_answer)
    hung = [gateway.shows("MainPID") for gateway in gateways]
    for gateway in gateways:
        gateway.systemctl("kill", "--signal=STOP")
    for gateway, process in zip(gateways, hung, strict=True):
        eventually(partial(gateway.runs_without, process))
        gateway.await_answer()
        gateway.recovered(1)


def test_a_tunnel_that_answers_502_makes_the_service_dead(machine: Machine) -> None:
    """The tunnel is healthy, and systemd calls the unit active: only the probe through the tunnel tells."""
    gateway = machine.gateway("tunneled")
    listener = f"/bin/busybox httpd -f -p {gateway.address.split('/')[2]} -h /srv/answer"
    gateway.define(f'[Service]\nExecStart=/bin/sh -c "{listener} & exec sleep infinity"\n')
    gateway.systemctl("restart")
    gateway.install(probe=machine.tunnel(gateway.address))
    eventually(gateway.seen_to_answer)
    machine.run(f"pkill -KILL -f '^{listener}'")
    eventually(lambda: gateway.said("tunneled.service is recovered: it does not answer (probe: 502)."))
    gateway.await_answer()


def test_a_command_can_be_the_probe(machine: Machine) -> None:
    """Its exit code tells; one that does not end, and does not hear SIGTERM, is dead."""
    gateway = machine.gateway("commanded")
    gateway.install(probe="trap : TERM; while test -e /run/commanded; do sleep 1; done")
    eventually(gateway.seen_to_answer)
    machine.run("touch /run/commanded")
    eventually(lambda: gateway.said("commanded.service is recovered: it does not answer (probe: none)."))

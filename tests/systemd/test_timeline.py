"""The journal of a real systemd, as `orrery gateway timeline` reads it."""

from datetime import UTC, datetime, timedelta

from orrery.adapters.ssh_journal import remote_command
from orrery.gateway.guest.unit_name import unit_name
from orrery.gateway.timeline.events import TimelineEvent
from orrery.gateway.timeline.journal import read_journal
from orrery.gateway.timeline.outages import outages
from tests.systemd.gateway import Gateway, Machine, eventually


def journal(gateway: Gateway) -> tuple[TimelineEvent, ...]:
    """Return the events of the last hour, by the command that is sent over ssh."""
    name = unit_name(gateway.unit)
    now = datetime.fromtimestamp(float(gateway.machine.run("date +%s")), UTC)
    command = remote_command(name.unit, name.recover_tag, now - timedelta(hours=1), now + timedelta(minutes=1))
    found = read_journal(gateway.machine.run(command).splitlines(), name.unit, name.recover_tag)
    assert found.unreadable == 0
    return found.events


def test_a_stopped_service_is_an_outage_that_layer_3_ended(machine: Machine) -> None:
    """systemd's own messages give the begin and the end, and the guest's line the layer."""
    gateway = machine.gateway("told")
    gateway.install()
    gateway.await_answer()
    before = len(outages(journal(gateway)))
    gateway.systemctl("stop")
    gateway.await_answer()

    def told() -> None:
        found = outages(journal(gateway))[before:]
        assert [(one.layers, one.ended_at is None) for one in found] == [(("layer 3",), False)]

    eventually(told)


def test_a_crash_without_a_guest_is_ended_by_layer_2(machine: Machine) -> None:
    """systemd's scheduled restart is told from the guest's."""
    gateway = machine.gateway("alone")
    drop_in = "/etc/systemd/system/alone.service.d/restart.conf"
    machine.run(
        f"mkdir -p $(dirname {drop_in}); printf '[Service]\\nRestart=on-failure\\nRestartSec=1\\n' > {drop_in}; "
        "systemctl daemon-reload"
    )
    gateway.await_answer()
    before = len(outages(journal(gateway)))
    gateway.systemctl("kill", "--signal=KILL")
    gateway.await_answer()

    def told() -> None:
        assert [one.layers for one in outages(journal(gateway))[before:]] == [("layer 2",)]

    eventually(told)

"""The scripts under other shells, and with wget where there is no curl."""

import pytest

from tests.support.soak import SOAKING
from tests.systemd.gateway import PUSHES, Machine, eventually
from tests.systemd.test_patience import ANSWERS, scripted

SHELLS = ["/bin/busybox sh", *["/bin/bash"] * SOAKING]
"""Beside dash, which every other test runs them by: it is Debian's /bin/sh."""

WGETS = ["/usr/bin/wget", *["/bin/busybox"] * SOAKING]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_work_under_each_shell(machine: Machine, shell: str) -> None:
    """Watch, recovery and alerts, whatever /bin/sh is: the push of the third recovery shows that they ran."""
    name = shell.split("/")[2].removesuffix(" sh")
    gateway = machine.gateway(name)
    gateway.install()
    for script in ("recover", "watch", "alert"):
        folder = f"/etc/systemd/system/{name}-{script}.service.d"
        machine.run(
            f"mkdir {folder}; printf '[Service]\\nExecStart=\\nExecStart=%s\\n' "
            f"'{shell} /usr/local/sbin/{name}-{script}.sh' > {folder}/shell.conf"
        )
    machine.run(f"systemctl daemon-reload; systemctl restart {name}-watch.service")
    eventually(gateway.settled)
    gateway.has_failed_before(2)
    gateway.systemctl("stop")
    gateway.await_answer()
    eventually(gateway.has_pushed(1))
    assert machine.run(f"{shell} {gateway.script} status").startswith(
        f"unit: {gateway.unit}, active (running), good\n"
    )
    gateway.said_nothing_of_the_shell()


@pytest.mark.parametrize("wget", WGETS)
def test_wget_serves_where_there_is_no_curl(machine: Machine, wget: str) -> None:
    """The probe reads the status, and the push is published, with GNU's wget and with busybox'."""
    name = f"without-{wget.rsplit('/', maxsplit=1)[-1]}"
    tools = f"/run/{name}"
    machine.run(
        f"mkdir {tools}; ln -sf /bin/* /usr/bin/* /usr/sbin/* {tools}/ 2>/dev/null; "
        f"rm {tools}/curl {tools}/wget; ln -s {wget} {tools}/wget"
    )
    gateway = machine.gateway(name)
    gateway.install()
    machine.run(f"systemctl stop {name}-watch.service {name}-recover.timer {name}-recover.service")
    said = machine.run(f"PATH={tools} /bin/sh {gateway.script} status")
    assert said.startswith(f"unit: {gateway.unit}, active (running), good\n")
    machine.run(f"printf 'urgent\\nflap\\n{gateway.unit}\\nby wget\\n' > {gateway.state}/outbox/1")
    machine.run(f"PATH={tools} /bin/sh /usr/local/sbin/{name}-alert.sh")
    (push,) = machine.pushes(gateway.unit)
    assert (push.message, push.priority, push.tags) == ("by wget", 5, ("flap",))
    machine.run(f"sed -i 's|^PROBE=.*|PROBE={PUSHES}/no/such/page|' /usr/local/sbin/{name}-recover.conf")
    assert "good" in machine.run(f"PATH={tools} /bin/sh {gateway.script} status")
    tunnel = machine.tunnel("http://127.0.0.1:1/")
    machine.run(f"sed -i 's|^PROBE=.*|PROBE={tunnel}|' /usr/local/sbin/{name}-recover.conf")
    eventually(lambda: machine.run(f"curl -s {tunnel}"))
    assert "probe: 502" in machine.run(f"PATH={tools} /bin/sh {gateway.script} status")
    half = scripted(machine, f"half-{name}", ANSWERS["dead, and cut off"][0])
    address = f"{half.address}cgi-bin/scripted?half-{name}"
    machine.run(f"sed -i 's|^PROBE=.*|PROBE={address}|' /usr/local/sbin/{name}-recover.conf")
    assert "probe: none" in machine.run(f"PATH={tools} /bin/sh {gateway.script} status")

"""Installing, verifying and uninstalling on a real systemd: what is effective, and what overrides it."""

import json
from typing import cast

import pytest

from tests.support.soak import SOAKING
from tests.systemd.gateway import ORRERY, Gateway, Machine, eventually

EXPOSURE = 19
"""The most that systemd may find wanting, in tenths: each is root, to restart the unit, and uses the network."""

SPECIFIED = {
    "StartLimitBurst": "20",
    "StartLimitIntervalUSec": "30min",
    "Restart": "on-failure",
    "RestartUSec": "1min",
}
"""spec 3, In-guest files."""


@pytest.fixture(scope="module", name="installed")
def installed_once(booted: Machine) -> Gateway:
    """A gateway with its guest."""
    gateway = booted.gateway("installed")
    gateway.install()
    return gateway


def test_the_specified_values_are_effective_and_a_second_run_changes_nothing(
    booted: Machine, installed: Gateway
) -> None:
    """Not what stands in the files counts, but what systemd shows."""
    machine, gateway = booted, installed
    assert {name: gateway.shows(name) for name in SPECIFIED} == SPECIFIED
    timer = machine.run(
        "systemctl show --property=TimersMonotonic,AccuracyUSec,UnitFileState installed-recover.timer"
    )
    assert "OnBootUSec=30s" in timer
    assert "OnUnitActiveUSec=15min" in timer
    assert "AccuracyUSec=1s" in timer
    assert "UnitFileState=enabled" in timer
    assert machine.run("systemctl show --property=TimeoutStartUSec --value installed-recover.service") == "14min\n"
    modes = machine.run(
        "stat --format='%U:%G %a' /usr/local/sbin/installed-recover.sh /usr/local/sbin/installed-alert.sh"
    )
    assert modes == "root:root 755\n" * 2
    before = machine.run("stat --format='%n %Y %i' /usr/local/sbin/installed-* /etc/systemd/system/installed*")
    watch = machine.run("systemctl show --property=MainPID installed-watch.service")
    assert "Nothing" in gateway.install()
    assert (
        machine.run("stat --format='%n %Y %i' /usr/local/sbin/installed-* /etc/systemd/system/installed*")
        == before
    )
    assert machine.run("systemctl show --property=MainPID installed-watch.service") == watch
    _ = gateway.install("--answer-within", "3")  # the watch runs what was written, whatever the files' times
    assert machine.run("systemctl show --property=MainPID installed-watch.service") != watch


def test_systemd_finds_nothing_to_complain_of_in_the_units(booted: Machine, installed: Gateway) -> None:
    """A misspelt key is a warning with exit code 0, unless systemd is asked so."""
    own = ("recover.timer", "recover.service", "watch.service", "alert.service")
    files = " ".join(f"/etc/systemd/system/installed-{one}" for one in own)
    said = booted.run(
        f"systemd-analyze verify --recursive-errors=no {files} {installed.unit} 2>&1 || echo status $?"
    )
    assert "installed" not in said, said
    assert "status" not in said, said


def test_the_units_may_do_little(booted: Machine, installed: Gateway) -> None:
    """As the unit's recovery may: systemd's own measure of what each could reach. Without a command as a probe."""
    for own in ("recover", "watch", "alert"):
        booted.run(f"systemd-analyze security --threshold={EXPOSURE} --no-pager {installed.name}-{own}.service")


def test_an_edit_that_systemd_has_not_read_is_named(booted: Machine, installed: Gateway) -> None:
    """What stands in the file is not what is effective."""
    file = f"/etc/systemd/system/{installed.unit}"
    booted.run(f"echo >> {file}; touch -d '1 minute' {file}")
    (finding,) = _broken(installed)
    assert "daemon-reload" in finding["todo"], finding
    booted.run("systemctl daemon-reload")


OVERRIDES = {
    "zz-pace.conf": r"""printf '[Service]\nRestartSec=3s\n' > $dropins/zz-pace.conf""",
    "zz-budget.conf": r"""printf '[Unit]\nStartLimitBurst=3\n' > $dropins/zz-budget.conf""",
    "zz-section.conf": r"""printf '[Service]\nStartLimitBurst=4\n' > $dropins/zz-section.conf""",
    "RefuseManualStart": r"""printf '[Unit]\nRefuseManualStart=yes\n' > $dropins/zz-refusal.conf""",
    "installed-recover.sh": "echo true >> /usr/local/sbin/installed-recover.sh",
    "installed-alert.sh": "chmod 777 /usr/local/sbin/installed-alert.sh",
    "installed-recover.timer": "systemctl disable --now installed-recover.timer",
    "installed-watch.service": "systemctl mask --now --runtime installed-watch.service",
}
"""What somebody does on the host, by the word in which `verify` names it."""


def test_what_overrides_the_recovery_is_named(booted: Machine, installed: Gateway) -> None:
    """A drop-in, a setting in another section, an edit, a mode, a timer that is off, a mask: each has a fix."""
    assert _broken(installed) == []
    dropins = "dropins=/etc/systemd/system/installed.service.d"
    booted.run("; ".join([dropins, *OVERRIDES.values(), "systemctl daemon-reload"]))
    broken = _broken(installed)
    said = "\n".join(f"{finding['part']}: {finding['why']}" for finding in broken)
    assert {name for name in OVERRIDES if name not in said} == set(), said
    assert all(finding["todo"] for finding in broken), broken


def test_after_uninstalling_the_unit_is_systemds_alone(booted: Machine, installed: Gateway) -> None:
    """Its files and units are gone, the service runs on, and nothing recovers it, whatever else was changed."""
    dropins = f"/etc/systemd/system/{installed.unit}.d"
    booted.run(
        f"rm -f {dropins}/zz-*; systemctl unmask --runtime installed-watch.service; systemctl daemon-reload"
    )
    installed.guest("uninstall", "--yes")
    installed.answers()
    assert booted.run(
        "ls -d /usr/local/sbin/installed-* /etc/systemd/system/installed[-.]* 2>/dev/null || true"
    ) == ("/etc/systemd/system/installed.service\n")
    assert installed.shows("RestartUSec") == "100ms"
    assert booted.run("systemctl list-units --all --no-legend 'installed-*'") == ""


@pytest.mark.parametrize(
    "name", ["a:b_c.d", "gw@eu-1", r"my\x2dgw", "-lead"] if SOAKING else [r"-a:b_c.d\x2de@eu-1"]
)
def test_a_unit_of_any_legal_name_is_recovered(machine: Machine, name: str) -> None:
    """Instances and escaped names, too: their files and units are found, quoted and started."""
    gateway = machine.gateway(name)
    gateway.install()
    gateway.await_answer()
    gateway.systemctl("stop")
    gateway.await_answer()
    eventually(lambda: gateway.recovered(1))
    assert _broken(gateway) == []


def test_two_installations_at_once_take_turns(machine: Machine) -> None:
    """As of two units by a configuration tool: neither writes the file that the other has begun."""
    for unit in ("first", "second"):
        machine.gateway(unit)
        machine.run(f"{ORRERY} gateway guest install --unit {unit} --bundle /run/{unit}.tar")
        machine.run(f"tar -xf /run/{unit}.tar -C /run")
    ours = f"{ORRERY} gateway guest install --unit first"
    both = 'for unit in first second; do sh /run/recovery-$unit/install.sh & pids="$pids $!"; done'
    machine.run(f'{both}; {ours} & pids="$pids $!"; for pid in $pids; do wait $pid || exit 1; done')


def test_the_timer_alone_recovers_the_unit(machine: Machine) -> None:
    """One run at a scale: without the watch, and with a period of seconds instead of 15 minutes."""
    gateway = machine.gateway("timed")
    gateway.install()
    eventually(gateway.settled)
    folder = "/etc/systemd/system/timed-recover.timer.d"
    machine.run(
        f"mkdir {folder}; printf '[Timer]\\nOnUnitActiveSec=2s\\n' > {folder}/scale.conf; systemctl daemon-reload"
    )
    machine.run("systemctl stop timed-watch.service; systemctl restart timed-recover.timer")
    gateway.systemctl("stop")
    gateway.await_answer()
    eventually(lambda: gateway.said("timed.service has recovered"))


def _broken(gateway: Gateway) -> list[dict[str, str]]:
    found = cast("list[dict[str, str]]", json.loads(gateway.guest("verify", "--json")))
    return [one for one in found if one["state"] == "broken"]

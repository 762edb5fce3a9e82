"""How long a healthy gateway may take to start, answer and stop, and what is made of one that takes longer."""

import pytest

from tests.support.soak import SOAKING
from tests.systemd.gateway import ORRERY, Gateway, Machine, eventually

GOOD = r"printf 'Content-Type: text/plain\r\n\r\nwell'"
SILENT = "exec sleep 1000"
ANSWERS = {
    "good": (GOOD, 20),
    "good, with 404": (r"printf 'Status: 404 gone\r\n\r\n'", 20),
    "slow": (f"if test -e /run/asked; then rm /run/asked; {GOOD}; else touch /run/asked; {SILENT}; fi", 3),
    "hanging": (SILENT, 1),
    "hanging, after its headers": (r"printf 'Content-Length: 9\r\n\r\n'; " + SILENT, 1),
    "hanging, after half of it": (r"printf 'Content-Length: 9\r\n\r\nhalf'; " + SILENT, 1),
    "dead": (r"printf 'Status: 500 broken\r\n\r\n'", 20),
    "dead, and cut off": (r"printf 'Content-Length: 9\r\n\r\nhalf'", 20),
}
"""What answers the probe, by what it is judged to be, and the seconds for which the first answer is waited."""


def scripted(machine: Machine, name: str, script: str = GOOD) -> Gateway:
    """Return a gateway that answers `/cgi-bin/scripted?NAME` as the script /run/NAME says."""
    machine.run("mkdir -p /srv/answer/cgi-bin")
    machine.write("/srv/answer/cgi-bin/scripted", "#!/bin/sh\n. /run/$QUERY_STRING\n")
    machine.run("chmod +x /srv/answer/cgi-bin/scripted")
    machine.write(f"/run/{name}", script)
    gateway = machine.gateway(name)
    gateway.await_answer()
    return gateway


def judged(gateway: Gateway) -> str:
    """Return the finding of the one judgement, as every part of the guest comes to it."""
    return gateway.machine.run(f"{gateway.script} judge").partition("\n")[0]


def test_each_answer_is_judged_by_the_patience(machine: Machine) -> None:
    """What answers late is slow; half an answer is none; what says that it is broken is dead."""
    gateway = scripted(machine, "judged")
    gateway.install(probe=f"{gateway.address}cgi-bin/scripted?judged")
    eventually(gateway.seen_to_answer)
    machine.run("systemctl stop judged-watch.service judged-recover.timer")
    found = {name: behaves(gateway, script, seconds) for name, (script, seconds) in ANSWERS.items()}
    assert found == {name: name.partition(",")[0] for name in ANSWERS}


def behaves(gateway: Gateway, script: str, seconds: int) -> str:
    gateway.machine.write(f"/run/{gateway.name}", script)
    conf = f"/usr/local/sbin/{gateway.name}-recover.conf"
    gateway.machine.run(f"sed -i \"s/^ANSWER_WITHIN=.*/ANSWER_WITHIN='{seconds}'/\" {conf}")
    return judged(gateway)


def test_a_slow_gateway_is_restarted_by_nobody(machine: Machine) -> None:
    """Neither by the watch, which says so once, nor by the timer's run; `verify` names it, and is content."""
    gateway = scripted(machine, "unhurried")
    gateway.install("--answer-within", "3s", probe=f"{gateway.address}cgi-bin/scripted?unhurried")
    eventually(gateway.seen_to_answer)
    process = gateway.shows("MainPID")
    machine.write("/run/unhurried", ANSWERS["slow"][0])
    gateway.is_looked_at_now()
    eventually(lambda: gateway.said("unhurried.service is slow: it answers, but not within 3 s."))
    machine.run(f"systemctl stop unhurried-watch.service; rm -f /run/asked; {gateway.script}; rm -f /run/asked")
    eventually(lambda: gateway.verified("active and slow"))
    gateway.runs_as(process)
    gateway.recovered(0)


def test_a_gateway_that_stops_slowly_is_not_killed_within_its_patience(machine: Machine) -> None:
    """It is left to end what it has begun."""
    ends = "while test ! -e /run/careful-go; do sleep 0.1; done; touch /run/careful-ended; exit"
    gateway = machine.gateway("careful", before=f"trap '{ends}' TERM; while sleep 0.1; do :; done; ")
    gateway.install("--stop-within", "1m", probe="test ! -e /run/careful-dead")
    eventually(gateway.seen_to_answer)
    machine.run("touch /run/careful-dead")
    gateway.is_looked_at_now()
    eventually(lambda: gateway.goes("deactivating/stop-sigterm"))
    gateway.looked_at(7)
    machine.run("rm /run/careful-dead; touch /run/careful-go")
    eventually(lambda: machine.run("test -e /run/careful-ended"))
    eventually(lambda: gateway.goes("active/running"))
    assert "is killed" not in gateway.log()


def test_a_restart_that_did_not_help_is_repeated_ever_later(machine: Machine) -> None:
    """After 1, 2, 4 and 8 minutes, and then by the timer alone: here the last one is made to lie back so far."""
    gateway = machine.gateway("hopeless")
    gateway.install("--start-within", "1s", probe="test ! -e /run/hopeless-dead")
    eventually(gateway.seen_to_answer)

    def failed_before(seconds: int, times: int) -> None:
        up = machine.run("cut -d . -f 1 /proc/uptime").strip()
        machine.run(f"echo $(({up} - {seconds})) {times} > /run/hopeless-recover/failed-at")

    def failures(times: int) -> None:
        assert machine.run("cut -d ' ' -f 2 /run/hopeless-recover/failed-at").strip() == str(times)

    failed_before(240, 4)
    machine.run("touch /run/hopeless-dead")
    gateway.is_looked_at_now()
    gateway.looked_at(4)
    gateway.recovered(0)
    failed_before(480, 4)
    eventually(lambda: failures(5))
    eventually(gateway.has_pushed(1))
    failed_before(3000, 5)
    gateway.looked_at(3)
    failures(5)
    machine.run(f"{gateway.script} || true")
    failures(6)
    gateway.has_pushed(1)()


def test_an_installation_of_the_release_before_is_measured_by_the_next_one(machine: Machine) -> None:
    """`verify` says what to type; that keeps what was typed, and measures what was not."""
    gateway = machine.gateway("older")
    gateway.install("--stop-within", "20s", is_measured=True)
    conf = "/usr/local/sbin/older-recover.conf"
    machine.run(f"sed -i '/^START_WITHIN\\|^ANSWER_WITHIN/d' {conf}")
    assert "sudo orrery gateway guest install --unit older.service" in gateway.guest("verify")
    machine.run(
        "systemctl stop older-watch.service older-recover.timer; systemctl kill --signal=STOP older.service"
    )
    refused = machine.run(f"{ORRERY} gateway guest install --unit older.service 2>&1 || echo status $?")
    assert "--probe calls it dead (none)" in refused
    gateway.systemctl("kill", "--signal=CONT")
    said = gateway.install(is_measured=True)
    assert "Proposed: --answer-within" in said
    kept = machine.run(f"cat {conf}")
    assert "STOP_WITHIN='20'" in kept
    assert "ANSWER_WITHIN=''" not in kept


@pytest.mark.skipif(not SOAKING, reason="takes minutes: ./run soak gateway")
def test_a_gateway_that_takes_its_time_is_left_alone(machine: Machine) -> None:
    """Forty seconds to start and eight to answer: measured, proposed, and restarted by nobody."""
    gateway = scripted(machine, "leisurely")
    gateway.define(
        "[Service]\nType=notify\nNotifyAccess=all\nExecStart=/bin/sh -c 'sleep 40; systemd-notify --ready; "
        f"exec /bin/busybox httpd -f -p {gateway.address.split('/')[2]} -h /srv/answer'\n"
    )
    gateway.systemctl("restart")
    machine.write("/run/leisurely", f"sleep 8; {GOOD}")
    said = gateway.install(probe=f"{gateway.address}cgi-bin/scripted?leisurely", is_measured=True)
    assert "Proposed: --start-within 12" in said
    assert "Proposed: --answer-within 20s" in said
    process = gateway.shows("MainPID")
    gateway.looked_at(20)
    gateway.runs_as(process)
    gateway.recovered(0)
    gateway.systemctl("stop")
    eventually(lambda: gateway.said("leisurely.service has recovered"))
    assert machine.pushes("leisurely.service") == []

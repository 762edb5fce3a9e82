"""The guest on a machine that slept, whose wall clock was years wrong at its boot and then jumps both ways."""

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.soak import SOAKING, rounds
from tests.systemd.gateway import Gateway, Machine, eventually, machine
from tests.systemd.host import refused

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
SLEPT = 3 * 86400
"""Seconds that the machine slept before its services started: CLOCK_BOOTTIME is ahead by so many."""

YEARS, AHEAD, BACK = "-11y", "+5h", "-5h"
_SETTING = {
    "LD_PRELOAD": str(FAKETIME),
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    "DONT_FAKE_MONOTONIC": "1",
    "NO_FAKE_STAT": "1",
    "FAKETIME_CACHE_DURATION": "1",
}
_LISTENER = """
import http.server, pathlib
class Taken(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        pathlib.Path("/run/last-ping").write_bytes(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(204)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 9704), Taken).serve_forever()
"""


class Astray:
    """A machine, and the wall clock of all that its systemd starts."""

    def __init__(self, host: Machine) -> None:
        self.host = host

    def put(self, offset: str) -> None:
        """Put the wall clock to the true time plus an offset, for what runs and for what will."""
        self.host.write("/etc/faketimerc", f"{offset}\n")

    def hasten(self, gateway: Gateway) -> None:
        """Have the guest wait for seconds where it waits longer at work."""
        for name, seconds in {"STEADY": 3, "LOOK": 2, "HOLD": 2, "STALL": 2}.items():
            script = f"/usr/local/sbin/{gateway.name}-*"
            self.host.run(rf"sed -i -E 's/\b{name}_SECONDS=[0-9]+/{name}_SECONDS={seconds}/' {script}")
        self.host.run(f"systemctl restart {gateway.name}-watch.service")

    def run(self, command: str) -> str:
        """Run a command of the shell that sees that wall clock."""
        exported = " ".join(f"{name}={value}" for name, value in _SETTING.items())
        return self.host.run(f"export {exported}; {command}")


@pytest.fixture(scope="module", name="astray")
def machine_with_odd_clocks() -> Generator[Astray]:
    """A machine that was booted in the past, and has slept since."""
    if why := refused():
        pytest.skip(why)
    if FAKETIME is None:
        pytest.skip("there is no libfaketime here")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as disk:
        settings = Path(disk, "upper/etc/systemd/system.conf.d/clock.conf")
        settings.parent.mkdir(parents=True)
        for folder in (settings.parents[2], settings.parents[3]):
            folder.chmod(0o755)
        words = " ".join(f'"{name}={value}"' for name, value in _SETTING.items())
        settings.write_text(f"[Manager]\nDefaultEnvironment={words}\n")
        (settings.parents[2] / "faketimerc").write_text(f"{YEARS}\n")
        clocks = ("--time", f"--boottime={SLEPT}", "--monotonic=0")
        with machine(Path(disk), clocks) as host:
            yield Astray(host)


def test_the_clocks_are_as_wrong_as_said(astray: Astray) -> None:
    """A service sees the year of the wrong clock, and a machine that ran longer than it was awake."""
    astray.host.run("systemd-run --wait --unit=years sh -c 'date +%Y > /run/year'")
    years = int(astray.host.run("date +%Y")) - int(astray.host.run("cat /run/year"))
    apart = "import time; print(int(time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()))"
    assert (years, round(int(astray.run(f"python3 -c '{apart}'")), -1)) == (11, SLEPT)


def test_a_journey_through_jumps_of_hours_and_years(astray: Astray) -> None:
    """Grace, pause, outage, its length, flap and ping are those of a machine whose clocks are right."""
    host = astray.host
    host.write("/run/listener.py", _LISTENER)
    host.run("systemd-run --unit=listener python3 /run/listener.py; echo token > /etc/any-token")
    gateway = host.gateway("astray", "ExecStartPre=/bin/sh -c 'test ! -e /run/broken && sleep 2'", "sleep 3; ")
    gateway.install("--ping", "http://127.0.0.1:9704/", "--ping-token-file", "/etc/any-token")
    gateway.looked_at(3)
    gateway.await_answer()
    gateway.recovered(0)  # it was slow to start, and not dead since the machine's sleep
    astray.hasten(gateway)  # its watch pings when it starts
    said = '"active_seconds":'
    eventually(lambda: host.run(f"grep '{said}[0-9]' /run/last-ping"))
    seconds = host.run("cat /run/last-ping").partition(said)[2].partition(",")[0]
    assert int(seconds) < SLEPT / 2

    astray.run(f"{gateway.script} pause 2h")
    gateway.systemctl("stop")
    for offset in (AHEAD, BACK, "+0", YEARS):
        astray.put(offset)
        astray.run(f"{gateway.script}; {gateway.script} status | grep '^paused: for 1[12]. min more'")
    gateway.goes("inactive/dead")

    host.run(f"touch /run/broken; {gateway.script} resume")
    eventually(gateway.has_pushed(1))
    astray.put(AHEAD)
    host.run(f"rm /run/broken; systemctl restart {gateway.unit}")
    eventually(gateway.has_pushed(2))
    failed, well = host.pushes(gateway.unit)
    assert failed.title == "astray.service on machine did not recover."
    assert well.message.strip() == "The outage that was reported lasted 1 min."
    gateway.has_failed_before(2)
    astray.put(BACK)
    gateway.systemctl("stop")
    eventually(gateway.has_pushed(3))
    assert host.pushes(gateway.unit)[-1].title == "astray.service on machine flaps."
    gateway.await_answer()


@pytest.mark.skipif(not SOAKING, reason="hours of jumps: ./run soak gateway")
def test_stops_amid_jumps(astray: Astray) -> None:
    """Whatever the wall clock says, each stop is recovered, and each pause lasts."""
    gateway = astray.host.gateway("tossed")
    gateway.install()
    for turn in range(rounds(1)):
        for offset in (AHEAD, YEARS, BACK, "+9y"):
            eventually(gateway.seen_to_answer)
            eventually(gateway.settled)
            gateway.machine.run(f"rm -f {gateway.state}/fires {gateway.state}/flap")
            astray.put(offset)
            astray.run(f"{gateway.script} pause {turn + 1}h")
            gateway.systemctl("stop")
            gateway.looked_at(2)
            gateway.goes("inactive/dead")
            astray.run(f"{gateway.script} resume")
            gateway.await_answer()
    assert "did not recover" not in gateway.log()


KEPT = {
    "a pause of two hours, half of it over": ("paused-until", 50000 + 3600, "paused: for 60 min more"),
    "a pause that was over": ("paused-until", 50000 - 1, "good"),
    "a pause by a clock of long ago": ("paused-until", 1_700_000_000, "good"),
    "a recovery just before the boot": ("fires", 50000 - 600, "recoveries in the last hour: 1"),
    "a recovery long before the boot": ("fires", 50000 - 4000, "recoveries in the last hour: 0"),
    "an outage ten minutes before the boot": (
        "outage",
        f"{50000 - 600} before",
        "outage: for 1. min, and over a boot",
    ),
}
"""What was kept, and what `status` says of it at once after the next boot."""


@pytest.fixture(scope="module", name="still")
def unwatched(astray: Astray) -> Gateway:
    """A gateway whose guest does nothing by itself."""
    gateway = astray.host.gateway("still")
    gateway.install("--answer-within", "1", "--start-within", "1")
    astray.host.run("systemctl stop still-watch.service still-recover.timer")
    return gateway


@pytest.mark.parametrize("what", KEPT)
def test_what_was_kept_goes_on_after_a_boot(still: Gateway, what: str) -> None:
    """As if the machine had not been off: nothing is forgotten, and no pause is longer than it was."""
    name, value, says = KEPT[what]
    still.machine.run(
        f"cd {still.state}; rm -f paused-until fires outage; echo {value} > {name}; "
        f"echo another-boot 0 $((50000 - $(cut -d . -f 1 /proc/uptime))) > clock"
    )
    assert still.machine.run(f"{still.script} status | grep -c '{says}'").strip() == "1"
    still.machine.run(f"cd {still.state}; rm {name} clock")


def test_a_service_has_its_time_to_answer_anew_after_a_sleep(still: Gateway) -> None:
    """A service that does not answer is dead, and just after the machine's sleep it is not."""
    still.systemctl("kill", "--signal=STOP")
    for since, finding in ((600, "hanging"), (-600, "starting")):  # with room: the time is one second here
        woke = f"$(($(cut -d . -f 1 /proc/uptime) - {since}))"
        still.machine.run(f"rm -f /run/still-recover/answered; echo 0 {woke} > /run/still-recover/slept")
        assert f", {finding}:" in still.machine.run(f"{still.script} status")


@pytest.mark.skipif(not SOAKING, reason="a long stall: ./run soak gateway")
def test_a_stalled_machine_gives_the_service_its_time_anew(astray: Astray) -> None:
    """The watch takes a stall for the machine's sleep: a service that does not answer yet after it is not dead."""
    gateway = astray.host.gateway("stalled")
    gateway.install("--start-within", "90")
    astray.hasten(gateway)
    eventually(gateway.seen_to_answer)
    eventually(gateway.settled)
    host = astray.host
    process = gateway.shows("MainPID")
    host.run(f"systemctl kill --signal=STOP {gateway.name}-watch.service; kill -STOP {process}; sleep 4")
    host.run(f"systemctl kill --signal=CONT {gateway.name}-watch.service")
    gateway.looked_at(3)
    assert "starting" in host.run(f"{gateway.script} status")
    assert gateway.shows("MainPID") == process
    gateway.recovered(0)

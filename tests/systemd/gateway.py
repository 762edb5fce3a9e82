"""A gateway on a booted machine: its service, the guest that recovers it, and the push server."""

import json
import shlex
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

from tests.support import waiting
from tests.systemd.host import ROOT, Host, booted

ORRERY = ROOT / ".venv/bin/orrery"
SCRIPTS = ROOT / "src/orrery/gateway/guest/files"
PUSHES = "http://127.0.0.1:8099/push"
_PORTS = count(9001)
Seen = TypeVar("Seen")


def eventually(look: Callable[[], Seen]) -> Seen:
    """Wait as the other suites do, with fewer looks: each starts programs on the machine."""
    return waiting.eventually(look, pause=0.6)


@dataclass(frozen=True, slots=True)
class Push:
    """A message that the push server took."""

    title: str
    message: str
    priority: int
    tags: tuple[str, ...]


class Machine:
    """The gateway's host, with a push server on its loopback."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.run = host.run
        self.write = host.write
        self.power_off = host.power_off
        self.beside = host.started_beside
        self.gateways: list[Gateway] = []

    def hasten(self) -> None:
        """Have every guest that is installed from here wait for seconds where it waits longer at work.

        The scripts are those of the checkout as the machine sees it: what is written there goes with the machine.
        """
        scripts = shlex.quote(str(SCRIPTS))
        for name, seconds in {"LOOK": 2, "HOLD": 2, "PING": 5, "LASTS": 2}.items():
            self.run(rf"sed -i -E 's/\b{name}_SECONDS=[0-9]+/{name}_SECONDS={seconds}/' {scripts}/*.sh")

    def stop_all(self) -> None:
        """Stop every gateway and its guest, each of which looks and pings for ever."""
        guests = ("watch.service", "recover.timer", "recover.service")
        ours = [shlex.quote(f"{one.name}-{guest}") for one in self.gateways for guest in guests]
        units = " ".join(shlex.quote(one.unit) for one in self.gateways)
        self.gateways.clear()
        # A service that does not hear SIGTERM, or is stopped, would be waited for.
        words = (f"stop -- {' '.join(ours)}", f"stop --no-block -- {units}", f"kill --signal=KILL -- {units}")
        self.run("; ".join(f"systemctl {one} 2>/dev/null" for one in (*words, f"stop -- {units}")) + " || true")
        self.no_faults()

    def gateway(self, name: str, service: str = "", before: str = "") -> "Gateway":
        """Start a service that answers HTTP. `service` are more lines of its unit; a shell does `before` first."""
        port = next(_PORTS)
        command = f'/bin/sh -c "{before}exec /bin/busybox httpd -f -p 127.0.0.1:{port} -h /srv/answer"'
        gateway = Gateway(self, f"{name}.service", f"http://127.0.0.1:{port}/")
        gateway.define(f"[Service]\nExecStart={command}\n{service}\n")
        gateway.systemctl("start")
        return gateway

    def tunnel(self, address: str) -> str:
        """Start a tunnel to a service, which answers 502 while the service does not; return its address."""
        port = next(_PORTS)
        file = f"/run/tunnel-{port}.conf"
        self.write(
            file,
            f"daemon off; pid /run/tunnel-{port}.pid; error_log /dev/null; events {{}}\n"
            f"http {{ access_log off; server {{ listen 127.0.0.1:{port};\n"
            f"location / {{ proxy_pass {address}; }} }} }}\n",
        )
        self.run(f"systemd-run --unit=tunnel-{port} nginx -c {file}")
        return f"http://127.0.0.1:{port}/"

    def faults(self, kind: str) -> None:
        """Have the push server refuse what comes, as the sandbox's fault of that kind does."""
        self.run(f"curl -s -f {PUSHES.removesuffix('/push')}/_faults -d kind={kind} -d count=1000")

    def no_faults(self) -> None:
        """Have the push server take everything again."""
        self.run(f"curl -s -f -X DELETE {PUSHES.removesuffix('/push')}/_faults")

    def pushes(self, about: str) -> list[Push]:
        """Return the pushes about a unit, the oldest first."""
        shown = cast(
            "list[dict[str, object]]", json.loads(self.run(f"curl -s -H 'Accept: application/json' {PUSHES}"))
        )
        found = [
            Push(
                str(one.get("title", "")),
                str(one["message"]),
                cast("int", one["priority"]),
                _words(one.get("tags")),
            )
            for one in shown
        ]
        return [one for one in reversed(found) if about in one.title]


def _words(tags: object) -> tuple[str, ...]:
    return tuple(cast("Sequence[str]", tags or ()))


class Gateway:
    """A service on the machine, and the guest's files for it."""

    def __init__(self, machine: Machine, unit: str, address: str) -> None:
        self.machine = machine
        self.unit = unit
        self.address = address
        self.name = unit.removesuffix(".service").replace("@", "-")
        self.script = f"/usr/local/sbin/{self.name}-recover.sh"
        self.state = f"/var/lib/{self.name}-recover"
        machine.gateways.append(self)

    def define(self, text: str) -> None:
        """Write the unit file and have systemd read it."""
        file = shlex.quote(f"/etc/systemd/system/{self.unit}")
        self.machine.run(f"cat > {file} <<'EOF'\n{text}\nEOF\nsystemctl daemon-reload")

    def install(self, *options: str, probe: str | None = None, is_measured: bool = False) -> str:
        """Install the guest for the unit and return what that prints, also when that finds something.

        With `is_measured` ten answers of the service are measured, as without the option at work.
        """
        probed = self.address if probe is None else probe
        if not is_measured and "--answer-within" not in options:
            options = ("--answer-within=2", *options)
        pushed = ("--push", PUSHES, "--topic-file", "/etc/gateway-topic")
        return self.guest("install", "--probe", probed, *pushed, *options)

    def guest(self, verb: str, *options: str) -> str:
        """Run a command of the guest, which may find something, and return what it prints."""
        return self.machine.host.orrery("gateway", "guest", verb, f"--unit={self.unit}", *options)

    def systemctl(self, *words: str) -> str:
        """Run systemctl with the unit as its last word, whatever comes of it."""
        return self.machine.run(f"{shlex.join(['systemctl', *words, '--', self.unit])} 2>&1 || true")

    def shows(self, name: str) -> str:
        """Return a property of the unit."""
        return self.systemctl("show", f"--property={name}", "--value").strip()

    def answers(self) -> None:
        """Fail unless the service answers."""
        asked = f"curl -s -o /dev/null -m 10 -w '%{{http_code}}' {self.address} || true"
        assert self.machine.run(asked) == "200"

    def recovered(self, times: int) -> None:
        """Fail unless the guest has recovered the unit so many times in the last hour."""
        assert len(self.fires()) == times, self.log()

    def has_failed_before(self, times: int) -> None:
        """Have the guest remember so many recoveries within the last minute."""
        now = "read -r up _ < /proc/uptime"
        kept = f"mkdir -p {self.state}; {now}"  # the guest makes it at its first look
        self.machine.run(f"{kept}; for one in $(seq {times}); do echo ${{up%.*}}; done > {self.state}/fires")

    def fires(self) -> list[str]:
        """Return the times of the recoveries that the guest counted."""
        return self.machine.run(f"cat {shlex.quote(self.state)}/fires 2>/dev/null || true").split()

    def has_pushed(self, times: int) -> Callable[[], None]:
        """Return a look that fails unless so many pushes were about the unit."""

        def look() -> None:
            assert len(self.machine.pushes(self.unit)) == times  # a look at the log would double what a wait costs

        return look

    def log(self) -> str:
        """Return what was logged under the recovery tag."""
        return self.machine.run(f"journalctl --no-pager --output=cat -t {shlex.quote(self.name + '-recover')}")

    def said(self, text: str) -> None:
        """Fail unless something was logged."""
        assert text in self.log()

    def verified(self, text: str) -> None:
        """Fail unless `verify` is content and finds this."""
        assert text in self.guest("verify")

    def said_nothing_of_the_shell(self) -> None:
        """Fail when a shell or a program complained."""
        assert "sbin" not in self.log().replace(f"{self.script} pause", "")

    def looked_at(self, times: int) -> None:
        """Wait until the watch has looked so many times more; it looks each second while something is wrong."""
        naps: set[str] = set()

        def slept() -> None:
            watch = f"systemctl show --property=MainPID --value -- {self.name}-watch.service"
            naps.add(self.machine.run(f"pgrep -P $({watch}) -x sleep || true").strip())
            assert len(naps - {""}) > times

        eventually(slept)

    def is_looked_at_now(self) -> None:
        """Have the watch look at once, and not within the ten seconds of a unit that is well."""
        self.machine.run(f"systemctl restart {self.name}-watch.service")

    def seen_to_answer(self) -> None:
        """Fail unless the guest has seen the service answer since it became active."""
        seen = self.machine.run(f"cat /run/{self.name}-recover/answered 2>/dev/null || true").strip()
        assert seen == self.shows("ActiveEnterTimestampMonotonic")

    def is_steady_after(self, seconds: int) -> None:
        """Have the guest take an outage to be over after so many good seconds, which are 60 at work."""
        self.machine.run(
            f"sed -i 's/STEADY_SECONDS=60/STEADY_SECONDS={seconds}/' /usr/local/sbin/{self.name}-recover.lib"
        )
        self.machine.run(f"systemctl restart {self.name}-watch.service")

    def settled(self) -> None:
        """Fail while a recovery is under way."""
        state = self.machine.run(f"systemctl show --property=ActiveState --value -- {self.name}-recover.service")
        assert state.strip() != "activating"

    def runs_without(self, process: str) -> None:
        """Fail unless the unit runs, as another process."""
        self.goes("active/running")
        assert self.shows("MainPID") != process

    def runs_as(self, process: str) -> None:
        """Fail unless the unit runs, as the same process."""
        self.goes("active/running")
        assert self.shows("MainPID") == process, self.log()

    def goes(self, state: str) -> None:
        """Fail unless the unit is in a state, as `active/running`."""
        assert f"{self.shows('ActiveState')}/{self.shows('SubState')}" == state

    def await_answer(self) -> None:
        """Wait until the service answers."""
        eventually(self.answers)


@contextmanager
def machine(disk: Path | None = None, clocks: Sequence[str] = ()) -> Generator[Machine]:
    """Boot a machine with this Debian's packages, on which this checkout runs."""
    with TemporaryDirectory() as place, booted(Path("/"), Path(place), "", disk, clocks) as host:
        for hidden in ("/root", "/home", "/tmp"):  # noqa: S108  the folders that boot.sh covers
            if any(Path(hidden) in path.parents for path in (Path(sys.base_prefix), ROOT)):
                host.run(f"umount {hidden}")
        host.run("mkdir -p /srv/answer && echo it answers > /srv/answer/index.html")
        host.run("echo gateway-topic > /etc/gateway-topic && chmod 600 /etc/gateway-topic")
        sandbox = [str(ORRERY), "sandbox", "--webhook-url=http://127.0.0.1:1/", "--port=8099", "--smtp-port=8098"]
        with host.started_beside(*sandbox, f"--data={place}"):
            eventually(lambda: host.run(f"curl -s -f {PUSHES} > /dev/null && echo up"))
            yield Machine(host)

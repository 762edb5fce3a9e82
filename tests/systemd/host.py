"""A machine of its own to type on: a Debian with its own systemd and network, and the world outside of it.

Its network has two ends: the machine, and a second name space with the vendors and the buyers. Neither leads
anywhere else.
"""

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pexpect
import pytest

from tests.support.forks import Forked, end_inside
from tests.support.waiting import PATIENCE, eventually

ROOT = Path(__file__).resolve().parents[2]
BOOT = Path(__file__).with_name("boot.sh")
MACHINE, OUTSIDE = "10.77.0.1", "10.77.0.2"
"""The addresses of the two ends."""

_UNSHARED = "--mount --propagation private --pid --fork --kill-child --uts --ipc --cgroup --net"


def refused() -> str:
    """Return why no machine can be booted here, whatever is installed, or nothing."""
    tried = ["/usr/bin/unshare", "--mount", "--pid", "--fork", "--net", "true"]
    if os.geteuid() != 0 or subprocess.run(tried, capture_output=True, check=False).returncode:  # noqa: S603  our own
        return "only root, and only outside of most containers, can boot a machine in name spaces of its own"
    return "" if _cgroups() else "no cgroup2 is mounted here"


def _cgroups() -> Path | None:
    mounts = (line.split() for line in Path("/proc/mounts").read_text().splitlines())
    return next((Path(where) for _, where, kind, *_ in mounts if kind == "cgroup2"), None)


class Host:
    """The booted machine."""

    def __init__(self, first: int, outside: int) -> None:
        self._first = first
        self._inside = ["nsenter", "--target", str(first), "--all", "env", "--unset=TMPDIR"]
        self._beside = ["nsenter", "--target", str(first), "--net"]
        self._outside = ["nsenter", "--target", str(outside), "--net", "--mount", f"--wd={ROOT}"]

    def run(self, command: str) -> str:
        """Run a shell command as root on the machine and return what it prints; it must succeed."""
        return _run([*self._inside, "bash", "-c", command])

    def orrery(self, *arguments: str) -> str:
        """Run a command of this checkout on the machine, which may find something; return all that it prints."""
        with tempfile.TemporaryFile("w+") as printed, Path(os.devnull).open() as nothing:
            files = nothing.fileno(), printed.fileno(), printed.fileno()
            code = Forked(arguments, *files, inside=self._inside).wait(PATIENCE)
            printed.seek(0)
            said = printed.read()
        assert code in {0, 1}, said
        return said

    def power_off(self) -> None:
        """Shut the machine down in order, as its host's request would, and wait until it is off."""
        end_inside(self._inside)
        _run([*self._inside, "systemctl", "poweroff", "--no-block"])
        eventually(lambda: _is_gone(self._first))

    def start(self, command: str) -> subprocess.Popen[str]:
        """Start a shell command as root on the machine, which ends with its standard input."""
        words = [*self._inside, "bash", "-c", command]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603  our own

    def cut(self) -> None:
        """End everything on the machine at once, as a power cut does."""
        os.kill(self._first, signal.SIGKILL)

    def hang(self, *, still: bool = True) -> None:
        """Have every process on the machine stop, or go on."""
        group = Path(f"/proc/{self._first}/cgroup").read_text().rpartition("0::/")[2].partition("/")[0]
        Path(f"{_cgroups()}/{group}/cgroup.freeze").write_text(str(int(still)))

    def write(self, file: str, text: str) -> None:
        """Write a file on the machine, in place, with the owner and the mode that it has."""
        into = [*self._inside, "tee", file]
        subprocess.run(into, input=text, text=True, stdout=subprocess.DEVNULL, check=True)  # noqa: S603  our own

    def outside(self, *command: str) -> str:
        """Run a program of this checkout in the world outside and return what it prints; it must succeed."""
        return _run([*self._outside, *command])

    @contextmanager
    def started_outside(self, *command: str) -> Generator[subprocess.Popen[bytes]]:
        """Have a program run in the world outside until the end of the block."""
        with _started([*self._outside, *command]) as process:
            yield process

    @contextmanager
    def started_beside(self, *command: str) -> Generator[subprocess.Popen[bytes]]:
        """Have a program of this checkout listen on the machine's own loopback until the end of the block."""
        with _started([*self._beside, *command]) as process:
            yield process

    @contextmanager
    def terminal(self, user: str) -> Generator["pexpect.spawn[str]"]:
        """Log a user in."""
        shell = ["su", "--login", user, "--command", "exec bash --login --noediting -i"]
        command = shlex.join(["setsid", "--ctty", "--wait", *shell])
        shown: pexpect.spawn[str] = pexpect.spawn(
            self._inside[0],
            [*self._inside[1:], "env", "-i", "TERM=dumb", "bash", "-c", command],
            encoding="utf-8",
            codec_errors="replace",
            timeout=PATIENCE,
            dimensions=(50, 400),
        )
        try:
            yield shown
        finally:
            shown.close(force=True)


@contextmanager
def _started(command: Sequence[str]) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603  our own
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603  our own
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def booted(
    root: Path, offered: Path, hosts: str, disk: Path | None = None, clocks: Sequence[str] = ()
) -> Generator[Host]:
    """Boot the system below `root`; it sees `offered` as /srv/offered.

    What it writes stays on `disk` only. `hosts` is what /etc/hosts says at both ends, beside the loopback.
    `clocks` are further options of `unshare`, for clocks of its own.
    """
    with tempfile.TemporaryDirectory() as place, _group() as group:
        folder = Path(place, "machine")
        folder.mkdir()
        names = Path(place, "hosts")
        names.write_text(f"127.0.0.1 localhost machine\n::1 localhost\n{hosts}")
        with _first_process(group, folder, root, offered, disk, clocks) as first, _world(names) as outside:
            host = Host(first, outside)
            _connect(first, outside)
            host.write("/etc/hosts", names.read_text())
            yield host


@contextmanager
def booted_together(root: Path, offered: Path, machines: Mapping[str, str]) -> Generator[dict[str, Host]]:
    """Boot a machine for each name, with its address, in one network; each sees `offered` as /srv/offered."""
    hosts = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in machines.items())
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        names = place / "hosts"
        names.write_text(hosts)
        outside = stack.enter_context(_world(names))
        switch = ["nsenter", "--target", str(outside), "--net", "ip", "link"]
        _run([*switch, "add", "switch", "type", "bridge"])
        _run([*switch, "set", "switch", "up"])
        running = dict[str, Host]()
        for name, address in machines.items():
            (place / name / "machine").mkdir(parents=True)
            group = stack.enter_context(_group())
            first = stack.enter_context(_first_process(group, place / name / "machine", root, offered, None, ()))
            running[name] = Host(first, outside)
            inside = ["nsenter", "--target", str(first), "--net", "ip"]
            cable = ["link", "add", "eth0", "type", "veth", "peer", "name", name, "netns", str(outside)]
            for words in (
                cable,
                ["address", "add", f"{address}/24", "dev", "eth0"],
                ["link", "set", "eth0", "up"],
            ):
                _run([*inside, *words])
            _run([*switch, "set", name, "master", "switch", "up"])
            running[name].run(f"hostname {name}")
            running[name].write("/etc/hosts", hosts)
        yield running


@contextmanager
def _group() -> Generator[Path]:
    """Have a control group, which the machine's systemd takes for the root of all."""
    above = _cgroups()
    assert above is not None
    group = Path(tempfile.mkdtemp(prefix="orrery-machine-", dir=above))
    try:
        yield group
    finally:
        (group / "cgroup.kill").write_text("1")
        eventually(lambda: _is_empty(group))
        for inner, _, _ in sorted(os.walk(group), reverse=True):
            Path(inner).rmdir()


@contextmanager
def _first_process(
    group: Path, folder: Path, root: Path, offered: Path, disk: Path | None, clocks: Sequence[str]
) -> Generator[int]:
    """Boot, and yield the id of the machine's first process once everything there has started."""
    boot = shlex.join(
        [*clocks, "--", str(BOOT), str(root), str(folder), str(offered), *([str(disk)] if disk else [])]
    )
    entered = f"echo $$ > {shlex.quote(str(group / 'cgroup.procs'))} && exec unshare {_UNSHARED} {boot}"
    with (folder.parent / "boot.log").open("w+") as log:
        outer = subprocess.Popen(  # noqa: S603  our own script
            ["/bin/bash", "-c", entered], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")

        def first() -> int:
            if outer.poll() is not None:
                pytest.fail(Path(log.name).read_text())
            child = children.read_text().strip()
            assert child, "not unshared yet"
            assert _is_up(int(child)), "not up yet"
            return int(child)

        try:
            yield eventually(first, pause=0.4)
        finally:
            outer.send_signal(signal.SIGKILL)  # its child is killed with it
            outer.wait()


def _is_up(first: int) -> bool:
    with suppress(OSError):
        if Path(f"/proc/{first}/comm").read_text() == "systemd\n":
            asked = ["nsenter", "--target", str(first), "--all", "systemctl", "is-system-running"]
            done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603  our own
            return done.stdout.strip() in {"running", "degraded"}
    return False


def _is_called(name: str, process: int) -> None:
    assert Path(f"/proc/{process}/comm").read_text().strip() == name


def _is_gone(process: int) -> None:
    assert not Path("/proc", str(process), "root").exists()


def _is_empty(group: Path) -> None:
    assert "populated 0" in (group / "cgroup.events").read_text()


@contextmanager
def _world(names: Path) -> Generator[int]:
    """Have the second name space, where the names of the machine and the vendors are known."""
    kept = f"mount --bind {shlex.quote(str(names))} /etc/hosts && exec sleep infinity"
    process = subprocess.Popen(  # noqa: S603  our own command
        ["/usr/bin/unshare", "--net", "--mount", "--propagation", "private", "bash", "-c", kept]
    )
    try:
        eventually(lambda: _is_called("sleep", process.pid))
        yield process.pid
    finally:
        process.kill()
        process.wait()


def _connect(first: int, outside: int) -> None:
    """Put a cable between the machine and the world."""
    inside, there = (["nsenter", "--target", str(one), "--net", "ip"] for one in (first, outside))
    _run([*inside, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", str(outside)])
    for end, address in ((inside, MACHINE), (there, OUTSIDE)):
        _run([*end, "address", "add", f"{address}/24", "dev", "eth0"])
        _run([*end, "link", "set", "eth0", "up"])
        _run([*end, "link", "set", "lo", "up"])

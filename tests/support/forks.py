"""Starts `orrery` by forking a process that has imported it already: importing is most of the work of a command.

The processes of a test run share it. It ends with the last of them.

What runs is the same program in a process of its own, with its own session, signals, files, terminal and end. The
tests of the imports, one of the demo, and the rehearsal, start new interpreters.
"""

import atexit
import errno
import fcntl
import gc
import hashlib
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TextIO, TypedDict, get_args

import stamina
from pydantic import BaseModel

import orrery
from orrery.app.main import main
from orrery.app.settings.sections import file_model
from orrery.runtime.module import Role
from orrery.syntax.web_address import find_web_address
from tests.support.waiting import PATIENCE

_NUMBER = struct.Struct("i")
_LONGEST_REQUEST = 1 << 17
ROOT = Path(__file__).resolve().parents[2]
GATEWAYS = ("orrery.gateway.cli.guest", "orrery.gateway.cli.drill")
"""What a forker on a machine imports: the gateway's commands alone are typed there."""


class _Request(TypedDict):
    arguments: list[str]
    folder: str
    environment: dict[str, str]


class Forked:
    """A started process, with what tests use of `subprocess.Popen`.

    It has this process's working folder and environment, unless `place` gives others. `inside` is the command that
    goes to where it is to run, as to a machine in name spaces: its `pid` is one of there, so send it no signal.
    With `-m MODULE` as the first arguments it is that program, and not `orrery`.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        stdin: int,
        stdout: int,
        stderr: int,
        place: tuple[str, dict[str, str]] | None = None,
        inside: Sequence[str] = (),
    ) -> None:
        self.returncode: int | None = None
        ours, theirs = socket.socketpair()
        self._line = ours.detach()
        weakref.finalize(self, os.close, self._line)
        with theirs:
            folder, environment = place or (str(Path.cwd()), dict(os.environ))  # noqa: TID251  passed on
            request = _Request(arguments=[*arguments], folder=folder, environment=environment)
            files = [stdin, stdout, stderr, theirs.fileno()]
            socket.send_fds(_forker(tuple(inside)), [json.dumps(request).encode()], files)
        self.pid = self._number()

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs; minus the signal's number if a signal ended it."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float) -> int:
        """Wait for its end and return the exit code; raise `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["orrery"], timeout)
            self.returncode = os.waitstatus_to_exitcode(self._number())
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to it, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL to it."""
        self.send_signal(signal.SIGKILL)

    def _number(self) -> int:
        (number,) = _NUMBER.unpack(os.read(self._line, _NUMBER.size))
        return int(number)


_TYPED = """\
#!{python} -SE
import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
    line.connect({address!r})
    socket.send_fds(line, [json.dumps([sys.argv[1:], [os.getcwd(), dict(os.environ)]]).encode()], [0, 1, 2])
    sys.exit(int(line.recv(16)))
"""


@contextmanager
def typed_orrery(program: Path) -> Generator[None]:
    """Put a program there that a shell may run as `orrery`: while this lasts it is forked, too."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind("")  # a name that no file has, chosen by the kernel
        door.listen()
        program.write_text(_TYPED.format(python=sys.executable, address=door.getsockname()), encoding="utf-8")
        program.chmod(0o755)
        serving = threading.Thread(target=_fork_what_is_typed, args=(door,), daemon=True)
        serving.start()
        try:
            yield
        finally:
            door.shutdown(socket.SHUT_RDWR)
            serving.join(PATIENCE)


def _fork_what_is_typed(door: socket.socket) -> None:
    with suppress(OSError):  # the end of the door
        while True:
            line, _ = door.accept()
            with line:
                request, files, _, _ = socket.recv_fds(line, _LONGEST_REQUEST, 3)
                for file in files:
                    os.set_inheritable(file, False)  # noqa: FBT003  it takes no keyword; else a forker keeps them open
                arguments, (folder, environment) = json.loads(request)
                process = Forked(arguments, *files, place=(folder, environment))
                for file in files:
                    os.close(file)
                try:
                    line.send(str(process.wait(PATIENCE)).encode())
                finally:
                    process.kill()


@cache
def _forker(inside: Sequence[str]) -> socket.socket:
    """Return a line to the forker of this test run, which is started if there is none, or to one `inside`."""
    # A request is one packet: threads may ask at the same time, and its files arrive with its bytes.
    door, line = (socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2))
    with door:
        address = "" if inside else _address()  # without one the kernel chooses it
        try:
            door.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            process = None
        else:
            address = door.getsockname()
            door.listen(64)
            process = _started(inside, door.fileno())
    for attempt in stamina.retry_context(on=ConnectionRefusedError, timeout=PATIENCE, attempts=None):
        with attempt:  # another process has the address, and does not listen yet
            line.connect(address)

    def end() -> None:
        line.close()
        if process and (inside or _RUN not in os.environ):  # noqa: TID251  a fact about the test run, not a setting
            with suppress(ChildProcessError):  # a test that waited for any child has met its end
                _ = os.waitpid(process, 0)

    atexit.register(end)
    _ENDS[inside] = end
    return line


_RUN = "PYTEST_XDIST_TESTRUNUID"
"""The variable that all processes of a test run have, if there are several."""


def _address() -> str:
    """Return an address that no file has, of this checkout's forker in this test run."""
    run = os.environ.get(_RUN, str(os.getpid()))  # noqa: TID251  a fact about the test run, not a setting
    return f"\0orrery-tests-{hashlib.sha256(f'{run} {ROOT}'.encode()).hexdigest()[:32]}"


def _started(inside: Sequence[str], door: int) -> int:
    """Start a forker that takes requests at a door, and return its process id."""
    program = [sys.executable, "-m", "tests.support.forks", str(door)]
    command = [*inside, "env", f"PYTHONPATH={ROOT}", *program, *(GATEWAYS if inside else ())]
    os.set_inheritable(door, True)  # noqa: FBT003  it takes no keyword
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
    return os.posix_spawnp(command[0], command, os.environ, file_actions=[nothing])  # noqa: TID251  passed on


_ENDS: dict[Sequence[str], Callable[[], None]] = {}


def end_inside(inside: Sequence[str]) -> None:
    """End the forker on a machine that is to go down, if there is one.

    A shutdown stops every process before it kills them, and `nsenter` stops with the one that it has started: it
    would not see the forker's end, and the machine's name space waits for that.
    """
    if end := _ENDS.get(tuple(inside)):
        end()


class _Forker:
    """Forks what is asked for on any line to its door; tells pid and end of each on a line of its own."""

    def __init__(self, door: socket.socket) -> None:
        self._door = door
        self._lines: list[socket.socket] = []
        self._running: dict[int, socket.socket] = {}

    def run(self) -> Sequence[str] | None:
        """Serve until the last line ends; return None then, and in each forked process its arguments."""
        wake, woken = os.pipe()
        for end in (wake, woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _nothing)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests, which end it
        self._lines.append(self._door.accept()[0])
        while self._lines:
            ready, _, _ = select.select([wake, self._door, *self._lines], [], [])
            if wake in ready:
                os.read(wake, 4096)
                self._reap()
            if self._door in ready:
                self._lines.append(self._door.accept()[0])
            for line in [one for one in self._lines if one in ready]:
                request, files, _, _ = socket.recv_fds(line, _LONGEST_REQUEST, 4)
                if not request:
                    self._lines.remove(line)
                    line.close()
                elif self._fork(socket.socket(fileno=files.pop()), files):
                    os.close(wake)
                    os.close(woken)
                    return _become(json.loads(request), files)
        return None

    def _reap(self) -> None:
        for pid in [*self._running]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self._report(self._running.pop(pid), status)

    def _report(self, line: socket.socket, status: int) -> None:
        with line:
            try:
                line.sendall(_NUMBER.pack(status))
            except BrokenPipeError:
                return  # the test does not ask any more

    def _fork(self, line: socket.socket, files: Sequence[int]) -> bool:
        """Return whether this is the forked process."""
        pid = os.fork()
        if pid:
            for file in files:
                os.close(file)
            line.sendall(_NUMBER.pack(pid))
            self._running[pid] = line
            return False
        for other in (line, self._door, *self._lines, *self._running.values()):
            other.close()
        return True


def _nothing(number: int, frame: FrameType | None) -> None:
    """Let a signal wake the forker, no more."""
    del number, frame


def _become(request: _Request, files: Sequence[int]) -> Sequence[str]:
    """Take on the session, the files, the folder and the environment of a started command."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # a shell lets what it starts in the background ignore it
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    if os.isatty(0):
        with suppress(OSError):  # where another session has this terminal
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(request["folder"])
    os.environ.clear()  # noqa: TID251  the test's own takes its place
    os.environ.update(request["environment"])  # noqa: TID251  the same
    sys.stdin, sys.stdout = _text(0, "r"), _text(1, "w")
    sys.stderr = _text(2, "w", errors="backslashreplace", buffering=1)
    return request["arguments"]


def _text(number: int, mode: str, *, errors: str = "strict", buffering: int = -1) -> TextIO:
    return os.fdopen(number, mode, buffering, "utf-8", errors, closefd=False)  # pyright: ignore[reportReturnType]  a text


def _end(code: object) -> None:
    """End as a process of `multiprocessing` does: threads, exit functions and files as ever, modules as they are.

    To take apart all that was imported is to copy it: most of the work of a small command. It returns where the
    interpreter's own end has something to say.
    """
    if isinstance(code, int):
        threading._shutdown()  # noqa: SLF001  as multiprocessing does  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        atexit._run_exitfuncs()  # noqa: SLF001  the same  # pyright: ignore[reportPrivateUsage]
        gc.collect()  # what was left open complains
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _import(names: Sequence[str]) -> None:
    for name in names or _everything():
        importlib.import_module(name)
    if not names:
        find_web_address("a.word")  # which reads the list of domains
        for role in get_args(Role):
            _ = file_model(role)
        _build_models(BaseModel)
    # Else the garbage collector of each forked process walks all of it, and so copies it: most of its work.
    gc.collect()
    gc.freeze()


def _build_models(kind: type[BaseModel]) -> None:
    """Build what is built at its first use: each forked process would do it."""
    for one in kind.__subclasses__():
        if one.__module__.startswith("orrery."):
            _ = one.model_rebuild()
        _build_models(one)


def _everything() -> Generator[str]:
    for module in pkgutil.walk_packages(orrery.__path__, "orrery."):
        if module.name != "orrery.__main__":
            yield module.name
    yield "pydantic.v1"  # which FastAPI loads with its first route
    # What the adapter of the cloud loads with its first calls.
    libraries = ("authorization", "automation", "compute", "monitor", "msi", "resourcehealth")
    yield from (f"azure.mgmt.{library}" for library in libraries)


if __name__ == "__main__":
    _import(sys.argv[2:])
    arguments = _Forker(socket.socket(fileno=int(sys.argv[1]))).run()
    if arguments is None:
        os._exit(0)  # to take apart all that was imported takes a while
    try:
        if arguments[:1] == ["-m"]:
            sys.argv = [*arguments[1:]]
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["orrery", *arguments]
            main()
    except SystemExit as ended:
        _end(ended.code or 0)
        raise
    _end(0)

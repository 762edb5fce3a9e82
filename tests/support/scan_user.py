"""A user of the scanner: folders of their own, settings in them, and commands that are typed there."""

import io
import os
import pty
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from orrery.app.scan.deployment import DEPLOYMENT
from orrery.app.scan.files import scan_files
from orrery.scanner.deployment import Loaded
from orrery.scanner.watch_list_file import WatchListFile
from tests.support.plain_commands import plain

SECRETS = '[secrets]\ndirectory = "secrets"\n'

TRACKS = """
[tenants.A]
label = "Corporate"
tenant = "AAAAAAAA-0000-4000-8000-00000000000a"
client = "aaaaaaaa-1111-4000-8000-00000000000a"
accounts = ["Ann@corp.example"]
[tenants.B]
label = "Lab"
tenant = "bbbbbbbb-0000-4000-8000-00000000000b"
client = "bbbbbbbb-1111-4000-8000-00000000000b"
accounts = ["ann@lab.example"]
"""


@dataclass(frozen=True)
class ScanUser:
    """Their home, and a folder that they stand in, which is a stranger's repository for all that is known."""

    home: Path
    here: Path
    monkeypatch: pytest.MonkeyPatch
    printed: pytest.CaptureFixture[str]

    @property
    def config(self) -> Path:
        return self.home / ".config" / "orrery"

    @property
    def list_path(self) -> Path:
        return self.config / "watch-list"

    @property
    def key_file(self) -> Path:
        return self.config / "secrets" / "watch_list_key"

    def write(self, text: str, file: Path | None = None) -> Path:
        """Write a settings file, by default the user's own."""
        place = file or self.config / "orrery.toml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        return place

    def set(self, **variables: str) -> None:
        for name, value in variables.items():
            self.monkeypatch.setenv(name, value)

    def load(self, config: Path | None = None) -> Loaded:
        return DEPLOYMENT.load(config)

    def watch_list(self, config: Path | None = None) -> WatchListFile:
        return scan_files(config).watch_list()

    def types(
        self, command: Callable[[Sequence[str]], int], *arguments: str, given: str = ""
    ) -> tuple[int, str, str]:
        """Return the exit code, the output and the sentences of a command whose standard input is `given`."""
        before, sys.stdin = sys.stdin, io.StringIO(given)
        try:
            code = command(arguments)
        finally:
            sys.stdin = before
        out, err = self.printed.readouterr()
        return code, out, err

    def with_list(self, kind: str = "customer", given: str = "Northwind\n") -> None:
        """Make settings, a key and a list."""
        self.write(SECRETS)
        assert self.types(plain("watch new-key"))[0] == 0
        assert self.types(plain("watch add"), "--kind", kind, given=given)[0] == 0


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> ScanUser:
    """Return a user without settings."""
    home, here = tmp_path / "home", tmp_path / "here"
    for folder in (home, here):
        folder.mkdir()
    for name in [*os.environ]:  # noqa: TID251  none of the machine's own counts
        if name.startswith(("ORRERY_", "XDG_")) or name == "CREDENTIALS_DIRECTORY":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(here)
    return ScanUser(home, here, monkeypatch, capsys)


def at_a_terminal(command: Callable[[Sequence[str]], int], *arguments: str, typed: str = "") -> tuple[int, str]:
    """Return the exit code and what a terminal shows of a command in a process of its own."""
    child, screen = pty.fork()
    if not child:
        code = 70
        try:
            sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode) for n, mode in ((0, "r"), (1, "w"), (2, "w")))
            code = command(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    os.write(screen, typed.encode())
    shown = b""
    while True:
        try:
            piece = os.read(screen, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(screen)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode()

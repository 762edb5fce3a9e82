"""The gateway's host: its files, and systemd by `systemctl`. Everything else about the guest is pure.

Every call has a deadline. It is asked by commands alone, and so without an event loop.
"""

import fcntl
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from orrery.errors import Invalid
from orrery.gateway.guest.errors import GuestFailed
from orrery.gateway.guest.files import HostFile
from orrery.gateway.guest.observed import SecretFile, StoredFile, UnitState

DEADLINE = 60.0
"""Seconds for one call of `systemctl`."""

SCRIPT_DEADLINE = 120.0
"""Seconds for a script, which may wait for two answers, each as late as the longest patience allows."""

SERVICE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where systemd's services find their programs."""

_UNFINISHED = ".orrery-guest.new"
"""A file that is being written, under a name that systemd reads in none of its folders."""

_LOCK = Path("/run/orrery-guest.lock")
_BOOT = Path("/proc/sys/kernel/random/boot_id")

_ASSIGNMENT = re.compile(r"(\w+)=(.*)")


class Host:
    """This machine, or the files below `root` only: then no owner is changed, and systemd is not asked."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root

    @property
    def is_root(self) -> bool:
        return os.geteuid() == 0

    def wall_clock(self) -> datetime:
        """Return the time of day, to be shown or to name a file."""
        return datetime.now(UTC)  # noqa: TID251  the host is what the clock port is elsewhere

    def uptime(self) -> float:
        """Return the seconds since the boot, also those asleep: the clock of every duration, as in the scripts."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def uptime_at(self, microseconds: int) -> float:
        """Return when a time of systemd's was, by `uptime`.

        systemd notes by CLOCK_MONOTONIC, which stops while the machine sleeps: a time before the last sleep
        comes out later than it was, by the length of that sleep.
        """
        return microseconds / 1_000_000 + self.uptime() - self.awake()

    def awake(self) -> float:
        """Return the seconds since the boot without those asleep: the clock by which systemd notes its times."""
        return time.monotonic()

    def boot(self) -> str:
        """Return the id of this boot."""
        return _BOOT.read_text(encoding="ascii").strip()

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: TID251  as in `wall_clock`

    def stored(self, path: str) -> StoredFile | None:
        """Return a file, or None when it is missing; raise `GuestFailed` when it cannot be read."""
        place = self._place(path)
        try:
            status = place.lstat()
            is_link = stat.S_ISLNK(status.st_mode)
            content = b"" if is_link else place.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GuestFailed(f"{place} cannot be read: {error.strerror}.") from None
        is_roots = self.root is not None or (status.st_uid, status.st_gid) == (0, 0)
        return StoredFile(content, stat.S_IMODE(status.st_mode), is_roots, is_link)

    def text(self, path: str) -> str | None:
        """Return the text of a file, or None when it cannot be read."""
        try:
            return self._place(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def modified_at(self, path: str) -> float:
        """Return when a file was last written, in seconds since 1970 by the wall clock of that moment.

        That is 0 for one that is not there.
        """
        with suppress(OSError):
            return self._place(path).stat().st_mtime
        return 0.0

    def write(self, file: HostFile) -> None:
        """Write a file whole or not at all, and through a power cut; its folder is made when it is missing."""
        place = self._place(file.path)
        unfinished = place.with_name(_UNFINISHED)
        try:
            place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            unfinished.unlink(missing_ok=True)
            number = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(number, "wb") as opened:
                _ = opened.write(file.text.encode())
                opened.flush()
                os.fchmod(number, file.mode)
                if self.root is None:
                    os.fchown(number, 0, 0)
                os.fsync(number)
            os.replace(unfinished, place)  # noqa: PTH105  beside the other calls of the system
            _sync_folder(place.parent)
        except OSError as error:
            raise GuestFailed(f"{place} cannot be written: {error.strerror}.") from None

    def remove(self, path: str) -> bool:
        """Remove a file; return whether it was there."""
        place = self._place(path)
        try:
            place.unlink()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise GuestFailed(f"{place} cannot be removed: {error.strerror}.") from None
        _sync_folder(place.parent)
        return True

    def remove_unfinished(self, folders: Sequence[str]) -> None:
        """Remove what a killed installation left behind."""
        for folder in folders:
            _ = self.remove(f"{folder}/{_UNFINISHED}")

    def remove_folder_if_empty(self, path: str) -> None:
        with suppress(OSError):
            self._place(path).rmdir()

    def entries(self, path: str) -> list[str] | None:
        """Return the names in a folder, none when it is not there; None when it may not be read."""
        try:
            return sorted(one.name for one in self._place(path).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            return None

    def secret(self, path: str) -> SecretFile:
        """Return what can be known of a secret file; its content is not kept."""
        place = self._place(path)
        try:
            status = place.stat()
        except OSError as error:
            return SecretFile(path, exists=isinstance(error, PermissionError))
        is_roots = status.st_uid == 0
        filled: bool | None = None
        with suppress(OSError):
            filled = bool(place.read_bytes().strip()) if stat.S_ISREG(status.st_mode) else False
        return SecretFile(path, True, is_roots, stat.S_IMODE(status.st_mode), filled)  # noqa: FBT003  it exists

    def systemctl(self, *words: str) -> str:
        """Return what `systemctl` prints; raise `GuestFailed` when it fails."""
        finished = self._run(["systemctl", *words])
        if finished.returncode:
            complaint = " ".join(finished.stderr.split())
            raise GuestFailed(f"`systemctl {' '.join(words)}` failed ({finished.returncode}): {complaint}")
        return finished.stdout

    def show(self, unit: str, names: Sequence[str]) -> UnitState:
        """Return a unit, or systemd itself without one, with properties as `systemctl show` prints them."""
        found: dict[str, tuple[str, ...]] = {}
        of_unit = ["--", unit] if unit else []
        for line in self.systemctl("show", f"--property={','.join(names)}", *of_unit).splitlines():
            if match := _ASSIGNMENT.fullmatch(line):
                found[match[1]] = (*found.get(match[1], ()), match[2])
        return UnitState(unit, found)

    def units_read_at(self) -> float:
        """Return when systemd last read its units, in seconds since 1970 by the wall clock of that moment.

        That is 0 where systemd does not show it (before 251).
        """
        manager = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
        words = self._run(["busctl", "get-property", *manager, "UnitsLoadTimestamp"]).stdout.split()
        return int(words[1]) / 1_000_000 if words[:1] == ["t"] else 0.0

    def run_script(self, script: str, *words: str) -> tuple[int, str, str]:
        """Run one of the installed scripts; return its exit code, its output and its complaint."""
        finished = self._run(["/bin/sh", script, *words], SCRIPT_DEADLINE)
        return finished.returncode, finished.stdout, finished.stderr

    def program(self, name: str) -> str | None:
        """Return the real path of a program that a service would find."""
        found = shutil.which(name, path=SERVICE_PATH)
        return str(Path(found).resolve()) if found else None

    @contextmanager
    def in_turn(self) -> Generator[None]:
        """Wait for the end of another installation, also of `install.sh`: both write under the same names."""
        if self.root is not None:
            yield
            return
        with _LOCK.open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _place(self, path: str) -> Path:
        if self.root is None:
            return Path(path)
        place = self.root / path.lstrip("/")
        if not place.parent.resolve().is_relative_to(self.root.resolve()):
            raise GuestFailed(f"{place} leads out of {self.root}: a folder in it is a link.")
        return place

    def _run(self, words: Sequence[str], deadline: float = DEADLINE) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(  # noqa: S603  fixed programs and checked names, no shell of ours
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=deadline,
                check=False,
            )
        except FileNotFoundError:
            raise Invalid(f"There is no {words[0]} on this machine: it must run systemd.") from None
        except subprocess.TimeoutExpired:
            raise GuestFailed(f"`{' '.join(words)}` did not end within {deadline:.0f} s.") from None


def _sync_folder(folder: Path) -> None:
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    finally:
        os.close(number)

"""Where a text stands on this machine outside of a process's memory: what others see of it, and what it leaves."""

import os
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

PROC = Path("/proc")
SHARED = [Path(one) for one in ("/tmp", "/var/tmp", "/dev/shm", "/run")]  # noqa: S108  where programs leave files
LARGEST = 64 * 1024 * 1024
_PATTERN = Path("/proc/sys/kernel/core_pattern")


def forms(text: str) -> set[bytes]:
    """Return a text as it would stand in a file: its encodings, their hex, and their Base64 at each alignment."""
    made = {text.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")}
    encoded = {b64encode(b"\0" * n + one)[4 * n and 4 : -4] for one in made for n in range(3)}
    return {one.lower() for one in made | encoded | {one.hex().encode() for one in made}}


def session(leader: int) -> list[int]:
    """Return the processes of a session, that of a program with all that it started."""
    found: list[int] = []
    for one in PROC.iterdir():
        with suppress(ValueError, ProcessLookupError):
            if os.getsid(int(one.name)) == leader:
                found.append(int(one.name))
    return found


def shown(processes: Iterable[int]) -> Iterator[tuple[str, bytes]]:
    """Yield what others see of processes, each with its place: words, environment, names and content of files.

    The list of processes is shown whole.
    """
    for one in PROC.glob("[0-9]*/cmdline"):
        yield from _read(one)
    for folder in (PROC / str(one) for one in processes):
        for name in ("environ", "comm", "status", "maps"):
            yield from _read(folder / name)
        for file in [*folder.glob("fd/*"), folder / "cwd", folder / "exe"]:
            with suppress(OSError):
                yield str(file), os.fsencode(file.readlink())
            if file.parent.name == "fd":
                yield from _read(file)


def kept(*folders: Path, since: float) -> Iterator[tuple[str, bytes]]:
    """Yield the files of folders, their names too, and those in the shared folders that are new since a time."""
    for file in chain.from_iterable(folder.rglob("*") for folder in folders):
        yield str(file), os.fsencode(file)
        yield from _read(file)
    for file in chain.from_iterable(folder.iterdir() for folder in SHARED if folder.is_dir()):
        with suppress(OSError):
            if file.stat().st_mtime >= since:
                yield str(file), os.fsencode(file.name)
                yield from _read(file)


def cores(folder: Path) -> set[Path]:
    """Return the files beside which the kernel writes cores for a folder; none where a program takes them."""
    pattern = _PATTERN.read_text().strip()
    place = (folder / pattern).parent
    return set() if pattern.startswith("|") or not place.is_dir() else {*place.iterdir()}


def holding(seen: Iterable[tuple[str, bytes]], texts: Iterable[str]) -> list[str]:
    """Return the places that hold one of the texts in any of its forms."""
    wanted = [form for text in texts for form in forms(text)]
    return [place for place, content in seen if (low := content.lower()) and any(one in low for one in wanted)]


def _read(file: Path) -> Iterator[tuple[str, bytes]]:
    with suppress(OSError):
        if file.is_file():
            with file.open("rb") as opened:
                yield str(file), opened.read(LARGEST)

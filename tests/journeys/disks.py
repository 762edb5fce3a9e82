"""Disks that are small, full or read-only, and a store that another program holds."""

import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small(disk: Path, size: str = "2m") -> Generator[Path]:
    """Have a disk of `size` at the directory `disk`, or skip where none may be mounted."""
    if not ran("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)):
        pytest.skip("a full disk needs a small one, and mounting it needs root")
    try:
        yield disk
    finally:
        assert ran("umount", "--lazy", str(disk))


@contextmanager
def read_only(disk: Path) -> Generator[None]:
    """Let nobody write to a disk of `small`."""
    assert ran("mount", "-o", "remount,ro", str(disk))
    yield
    assert ran("mount", "-o", "remount,rw", str(disk))


@contextmanager
def full(disk: Path) -> Generator[None]:
    """Leave no room on a disk."""
    filler = disk / "filler"
    fill(filler)
    yield
    filler.unlink()


def fill(filler: Path) -> None:
    """Write to the disk until nothing more goes onto it."""
    with filler.open("wb", buffering=0) as file:
        for piece in (1 << 20, 512):
            with suppress(OSError):
                while file.write(bytes(piece)):
                    pass


@contextmanager
def locked(store: Path) -> Generator[None]:
    """Hold the store's write lock."""
    with closing(sqlite3.connect(store, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")


def ran(*command: str) -> bool:
    """Run a command, and tell whether it succeeded."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603  fixed commands

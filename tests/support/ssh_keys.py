"""Keys that are made for a test by OpenSSH's own tool: none is kept in the source."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.soak import IN_CI
from tests.support.waiting import PATIENCE


def make_key(
    folder: Path, name: str = "key", kind: str = "ed25519", *, passphrase: str = "", bits: int = 0
) -> Path:
    """Make a key, and return its private half; the public one lies beside it as `.pub`.

    Without the tool the test is skipped, but never in continuous integration.
    """
    if not IN_CI and not shutil.which("ssh-keygen"):
        pytest.skip("no ssh-keygen on this machine; to have it, type: sudo apt-get install -y openssh-client")
    folder.mkdir(parents=True, exist_ok=True)
    size = ["-b", str(bits)] if bits else []
    run("-q", "-t", kind, *size, "-N", passphrase, "-C", "the owner's", "-f", str(folder / name))
    return folder / name


def public_half(key: Path) -> str:
    """Return a key's public half, with its comment."""
    return key.with_name(f"{key.name}.pub").read_text(encoding="utf-8").strip()


def fingerprint(key: Path) -> str:
    """Return what names a key."""
    return run("-l", "-f", str(key)).decode().split()[1]


def ssh_signed(key: Path, statement: bytes, namespace: str) -> bytes:
    """Return a signature as anybody makes it who has OpenSSH, elsewhere."""
    return run("-Y", "sign", "-n", namespace, "-f", str(key), given=statement)


def run(*arguments: str, given: bytes = b"") -> bytes:
    """Run the tool, and return what it printed."""
    command = ["ssh-keygen", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, check=True, timeout=PATIENCE)  # noqa: S603  OpenSSH's own tool
    return done.stdout

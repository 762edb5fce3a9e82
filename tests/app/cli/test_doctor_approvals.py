"""`orrery doctor` says of approvals what keeps the owner's word from counting here (issue 4, item 4)."""

import os
import stat
from pathlib import Path

import pytest

from orrery.app.cli.doctor_approvals import approval_findings
from orrery.ports.health import Finding
from tests.support.ssh_keys import make_key, public_half

TOO_OLD = "#!/bin/sh\necho 'unknown option -- Y' >&2\nexit 1\n"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Return the owner's key."""
    return make_key(tmp_path / "keys")


async def found(key: Path, signing_key: Path | None = None) -> list[tuple[str, str]]:
    """Return what is found with this key of the owner, with each part and its state."""
    return [(one.part, one.state) for one in await approval_findings((public_half(key),), signing_key)]


async def only(key: Path) -> Finding:
    """Return what is found of the check of signatures, where no key to sign with is named."""
    finding, _ = await approval_findings((public_half(key),), None)
    return finding


async def test_all_is_well(key: Path) -> None:
    """With a key, the tool and the file to sign with, nothing is to be done."""
    assert await found(key, key) == [("approvals", "ok"), ("signing key", "ok")]
    assert await found(key) == [("approvals", "ok"), ("signing key", "off")]


async def test_no_key_is_configured() -> None:
    """Without a key of the owner the part is off, as others that nobody configured."""
    (finding,) = await approval_findings((), None)
    assert (finding.state, "[approvals] owner_keys" in finding.todo) == ("off", True)


@pytest.mark.parametrize("file", ["gone", "."])
async def test_a_key_file_that_cannot_be_read(key: Path, tmp_path: Path, file: str) -> None:
    """A key file that is gone, or none, is named."""
    _, finding = await approval_findings((public_half(key),), tmp_path / file)
    assert (finding.part, finding.state) == ("signing key", "broken")
    assert f"{tmp_path / file} cannot be read" in finding.why


async def test_no_tool(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OpenSSH's tool the owner is told what to install."""
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = await only(key)
    assert (finding.state, "sudo apt-get install openssh-client" in finding.why) == ("broken", True)


async def test_a_tool_that_is_too_old(key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that knows nothing of signatures is told, with the version that does."""
    tool = tmp_path / "ssh-keygen"
    tool.write_text(TOO_OLD, encoding="utf-8")
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
    finding = await only(key)
    assert (finding.state, "OpenSSH 8.2 or newer" in finding.why) == ("broken", True)

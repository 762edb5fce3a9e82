"""The locks belong to pyproject.toml, hold no address, and a package that differs from its lock is refused."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tools import lock

ROOT = Path(__file__).resolve().parents[2]
WHEEL = "orrery_example-1.0-py3-none-any.whl"


def test_the_locks_belong_to_pyproject() -> None:
    """Every lock was made from the dependencies that pyproject.toml names now."""
    assert lock.problems(lock.read_pyproject(), lock.read_locks(ROOT)) == []


def test_every_locked_package_has_a_hash() -> None:
    """No pin of any lock stands without at least one sha256."""
    for text in lock.read_locks(ROOT).values():
        blocks = [block for block in text.split("\n") if "==" in block]
        assert blocks
        assert all(block.endswith("\\") for block in blocks)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one small wheel, where pip finds packages there only and installs into `installed`."""
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as wheel:
        wheel.writestr("orrery_example.py", "")
        wheel.writestr(
            "orrery_example-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: orrery-example\nVersion: 1.0\n"
        )
        wheel.writestr(
            "orrery_example-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("orrery_example-1.0.dist-info/RECORD", "")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for name, value in {
        "NO_INDEX": "1",
        "FIND_LINKS": str(tmp_path),
        "TARGET": str(tmp_path / "installed"),
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return tmp_path


def install(checkout: Path, locked: str) -> subprocess.CompletedProcess[str]:
    """Install a lock of these lines with the very function that ./run uses."""
    (checkout / "requirements-dev.lock").write_text(locked)
    command = ["bash", "-c", f". '{ROOT}/tools/setup.sh'; install_locked dev"]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words


def test_a_tampered_hash_is_refused(checkout: Path) -> None:
    """A package whose content differs from the locked hash is not installed."""
    result = install(checkout, f"orrery-example==1.0 --hash=sha256:{'0' * 64}\n")
    assert result.returncode != 0
    assert "DO NOT MATCH THE HASHES" in result.stderr
    assert not (checkout / "installed").exists()

"""The script of commands, started as people start scripts."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def helped(script: str, folder: Path, **environment: str) -> str:
    """Return what `<script> help` prints, started in a folder."""
    done = subprocess.run(  # noqa: S603  our own script
        [script, "help"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("cdpath", ["", "/:/usr", ".."])
def test_however_it_is_started(tmp_path: Path, cdpath: str) -> None:
    """By its path, through a link elsewhere, and with `CDPATH` set, it works in its own folder."""
    link = tmp_path / "orrery-run"
    link.symlink_to(ROOT / "run")
    plain = helped(str(ROOT / "run"), ROOT)
    assert "every test suite" in plain
    assert helped("./run", ROOT, CDPATH=cdpath) == plain
    assert helped(str(link), tmp_path, CDPATH=cdpath) == plain
    assert helped(f"{ROOT.name}/run", ROOT.parent, CDPATH=cdpath) == plain

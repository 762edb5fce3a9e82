"""The image of deploy/container: what a builder does by its file is done in the root of a small Debian."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.rehearsal.going_live import offer_package
from tests.rehearsal.test_go_live import made_debian
from tests.support.soak import SOAKING
from tests.systemd.host import refused

CONTAINER = ROOT / "deploy/container"
INSTRUCTIONS = (CONTAINER / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")


@pytest.mark.skipif(not SOAKING, reason="takes minutes: ./run soak rehearsal")
def test_the_steps_of_the_image(tmp_path: Path) -> None:
    """They install the package; the service's user has its number and folders, and the service would start."""
    assert not refused(), refused()
    made_debian(root := tmp_path / "root", "--skip=cleanup/apt")
    offer_package(tmp_path)
    shutil.copy(next(tmp_path.glob("orrery_*.deb")), root / "tmp")
    for line in re.findall(r"(?m)^RUN (.+)$", INSTRUCTIONS):
        inside(root, "0", line)
    inside(
        root, "0", "orrery init /etc/orrery && chgrp orrery /etc/orrery/secrets && chmod 750 /etc/orrery/secrets"
    )
    assert inside(root, "orrery", "id --user").strip() == "990"
    assert "The service would start." in inside(root, "orrery", "cd && orrery store create && orrery config check")
    inside(root, "orrery", "test -w /var/lib/orrery-backups")


def inside(root: Path, user: str, line: str) -> str:
    """Run a line as a user in a root, and return what it prints; it must succeed."""
    command = ["/usr/sbin/chroot", f"--userspec={user}", str(root), "/bin/sh", "-ec", line]
    variables = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/var/lib/orrery",
        "DEBIAN_FRONTEND": "noninteractive",
    }
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)  # noqa: S603  our own
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr

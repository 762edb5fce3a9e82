"""The pages about going live, typed from top to bottom: all of their commands work as they stand.

`./run soak rehearsal` does so on a fresh Debian, which has nothing yet but what its installer puts there.
"""

import subprocess
from pathlib import Path

import pytest

from tests.rehearsal.afterwards import come_back, set_up_again
from tests.rehearsal.going_live import BY_HAND, PAGE, rehearsal
from tests.rehearsal.page import Typed, pieces
from tests.support.soak import SOAKING
from tests.systemd.host import refused

_NEEDED = "systemd-sysv,dbus,ca-certificates,iproute2,adduser,passwd,login"
"""What a server has, and the smallest Debian has not."""


def test_go_live_on_this_debian(tmp_path: Path) -> None:
    """With `orrery setup`, on a machine with this one's packages."""
    if why := refused():
        pytest.skip(why)
    with rehearsal(Path("/"), tmp_path / "offered", installed=True) as going_live:
        _ = going_live.set_up()
        set_up_again(going_live)
        come_back(going_live, whole=SOAKING)
        going_live.after_all()


@pytest.mark.skipif(not SOAKING, reason="takes minutes: ./run soak rehearsal")
@pytest.mark.parametrize("page", [PAGE, BY_HAND])
def test_go_live_on_a_fresh_debian(tmp_path: Path, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a machine with nothing; the packages that the page asks for were fetched before. Then other releases."""
    assert not refused(), refused()
    fresh_debian(root := tmp_path / "root", page)
    with rehearsal(root, tmp_path / "offered", installed=False) as going_live:
        took = ""
        if page == PAGE:
            took = going_live.set_up()
            set_up_again(going_live)
        else:
            going_live.to_the_end()
        come_back(going_live, whole=True)
        going_live.after_all()
        if page == PAGE:
            going_live.change_releases()
            with capsys.disabled():
                print(f"\nWithout the owner's own time: {took}.")  # noqa: T201  what is measured


def fresh_debian(root: Path, page: Path) -> None:
    """Make the root of a small Debian of this machine's release, with the page's packages in apt's cache."""
    apt = 'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get -y -o APT::Install-Recommends=true'
    fetched = f"{apt} install --download-only {' '.join(packages(page))}"
    made_debian(root, "--skip=cleanup/apt", f"--include={_NEEDED}", f"--customize-hook={fetched}")


def made_debian(root: Path, *options: str) -> None:
    """Make the root of the smallest Debian of this machine's release."""
    sources = sorted(map(str, Path("/etc/apt/sources.list.d").glob("debian.*"))) or ["/etc/apt/sources.list"]
    _, _, release = Path("/etc/os-release").read_text(encoding="utf-8").partition("VERSION_CODENAME=")
    made = ["mmdebstrap", "--mode=root", "--variant=minbase", *options, release.split()[0], str(root), *sources]
    subprocess.run(made, check=True)  # noqa: S603  our own arguments


def packages(page: Path) -> list[str]:
    """Return what the page has apt-get install."""
    lines = [line for piece in pieces(page) if isinstance(piece, Typed) for line in piece.lines]
    return [
        name
        for line in lines
        if line.startswith("apt-get install -y ")
        for name in line.split()[3:]
        if "/" not in name
    ]

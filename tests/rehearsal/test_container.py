"""The image of deploy/container, built on a small Debian; its page is typed with Podman, in both modes."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.rehearsal import vendors
from tests.rehearsal.going_live import PAGE as GO_LIVE
from tests.rehearsal.going_live import SHOP, GoingLive, offer_package, rehearsal
from tests.rehearsal.owner import edited
from tests.rehearsal.page import Typed, pieces, steps
from tests.rehearsal.test_go_live import made_debian
from tests.rehearsal.typist import Answer
from tests.support.soak import SOAKING
from tests.support.waiting import eventually
from tests.systemd.host import refused

PAGE = ROOT / "docs/how-to/run-in-a-container.md"
CONTAINER = ROOT / "deploy/container"
SETTINGS = "/srv/shop/etc/orrery.toml"

BUILT = r"""
set -e
tar --create --directory=root --file=base.tar .
base=$(sed -n 's/^FROM //p' context/Containerfile)
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/store"\nrunroot = "%s/run"\n' "$PWD" "$PWD" > storage.conf
export CONTAINERS_STORAGE_CONF=$PWD/storage.conf
podman import --quiet base.tar "$base" > imported
buildah bud --quiet --pull-never --network host --isolation chroot --tag orrery context > made
podman save --quiet --output image.tar localhost/orrery
podman rmi --all --force > removed
rm -rf root base.tar
"""
"""The smallest Debian has the name of the one that the image begins with: no registry is asked."""

PREPARED = rf"""
set -e
cat > /etc/containers/storage.conf <<'END'
[storage]
driver = "overlay"
graphroot = "/run/store"
runroot = "/run/containers"
END
cat > /etc/containers/containers.conf <<'END'
[containers]
pids_limit = 0
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
END
cat > /usr/local/bin/docker <<'END'
#!/bin/sh
shift
exec sudo env PYTHONPATH=/srv/offered/compose python3 -m podman_compose "$@"
END
chmod 0755 /usr/local/bin/docker
podman load --quiet --input /srv/offered/image.tar
cp -r /srv/offered/context /srv/shop
cd /srv/shop
chown me .
sed -i '/mem_limit/d; /pids_limit/d' compose.yaml
install -d etc
install -m 0644 /srv/offered/authority.pem /srv/offered/{vendors.ANALYTICS_KEY} etc
podman run --rm --user 0 --network host --volume ./etc:/etc/orrery localhost/orrery init /etc/orrery
sed 's/shop\.example/{SHOP}/g' /srv/offered/nginx.conf > /etc/nginx/sites-enabled/orrery
rm -f /etc/nginx/sites-enabled/default
systemctl reload nginx
"""
"""`docker` is Podman. No memory is limited: a machine in name spaces has no controller for that."""

TRUSTED = '[tls]\nca_file = "/etc/orrery/authority.pem"\n[server]\nclosing_seconds = 0\n'


@pytest.mark.skipif(not SOAKING, reason="takes minutes: ./run soak rehearsal")
def test_the_page_of_the_container(tmp_path: Path) -> None:
    """The shop sells out of the image, in test mode, and after the owner's signature in live mode."""
    assert not refused(), refused()
    if missing := [one for one in ("buildah", "podman", "runc") if not shutil.which(one)]:
        pytest.skip(f"no {missing[0]} here, so no image can be built")
    build(tmp_path)
    with rehearsal(Path("/"), offered := tmp_path / "offered", installed=True) as going_live:
        offer(offered)
        going_live.host.run(PREPARED)
        going_live.host.write(SETTINGS, edited(going_live.host.run(f"cat {SETTINGS}"), TRUSTED))
        follow(going_live)


def build(place: Path) -> None:
    """Build the image of this commit."""
    made_debian(place / "root")
    shutil.copytree(CONTAINER, place / "context", ignore=shutil.ignore_patterns("*.deb", "etc"))
    offer_package(place / "context")
    subprocess.run(["/bin/sh", "-c", BUILT], cwd=place, check=True)  # noqa: S603  our own


def offer(offered: Path) -> None:
    """Put the image, the files beside it, and podman-compose where the machine finds them."""
    (offered.parent / "image.tar").rename(offered / "image.tar")
    shutil.copytree(offered.parent / "context", offered / "context", ignore=shutil.ignore_patterns("*.deb"))
    shutil.copy(ROOT / "deploy/edge/nginx.conf", offered)
    (offered / "compose").mkdir()
    for name in ("podman_compose", "dotenv", "yaml"):
        found = find_spec(name)
        assert found
        assert found.origin
        origin = Path(found.origin)
        if origin.name == "__init__.py":
            shutil.copytree(origin.parent, offered / "compose" / name)
        else:
            shutil.copy(origin, offered / "compose")


def follow(going_live: GoingLive) -> None:
    """Type the page, and buy in both modes."""
    _building, first, live, signing, *commands = [one for one in pieces(PAGE) if isinstance(one, Typed)]
    owner, own = going_live.owner(going_live.root), going_live.owner(going_live.me)
    own.follow([*steps(GO_LIVE)["2. A key to sign with"], Typed(("cd /srv/shop",))])
    setting_up, going_live.seen_as = "docker compose --profile setup run", "/etc/orrery"
    owner.answers = {setting_up: going_live.dialogue("test")}
    # Nothing was counted yet; and what setup leaves is to start the service.
    owner.ends = {"docker compose run --rm orrery doctor": 1, setting_up: 1}
    owner.follow([Typed(("cd /srv/shop",)), first])
    eventually(lambda: is_up(going_live))
    going_live.buy("test")
    owner.follow(commands)

    def signed(shown: str) -> str:
        intent = re.search(r"approvals show (in-\w+)", shown)
        assert intent
        own.values = {"in-5d0c3e9a1f22": intent[1]}
        own.follow([signing])
        return ""

    key, price, webhook, _ = going_live.dialogue("live")
    owner.answers = {setting_up: (key, price, webhook, Answer(signed, "Press Enter once you have signed"))}
    owner.follow([live])
    eventually(lambda: is_up(going_live))
    going_live.buy("live")


def is_up(going_live: GoingLive) -> None:
    status = going_live.fetch(f"https://{SHOP}/healthz", "--output", "/dev/null", "--write-out", "%{http_code}")
    assert status == "200"

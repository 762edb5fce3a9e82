"""The report of the cloud goes from where its credentials are to the site, and the site's pings come back."""

import json
from collections.abc import Iterator

import pytest

from orrery.runtime.watch import EVERY, PUSHED_AFTER
from tests.support.deployment import Deployment, running
from tests.support.marked import ADMIN_PASSWORD, SECRETS
from tests.support.program import run_orrery
from tests.support.provisioning import Layer, layer_in
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A site whose sandbox plays the gateway's guest."""
    deployment = Deployment(tmp_path_factory.mktemp("site"), guest=True, more="[gateway]\npings = true", plain=1)
    with running(deployment) as site:
        yield site


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory, site: Deployment) -> Iterator[Layer]:
    """The layer in a sandbox's cloud, with the site as the place of its reports."""
    with layer_in(tmp_path_factory.mktemp("cloud"), factor=100) as layer:
        layer.config.write_text(f'{layer.config.read_text()}site_url = "{site.public}"\n')
        token = layer.uri_file.with_name("gateway_ping_token")
        token.touch(0o600)
        token.write_text(SECRETS["gateway_ping_token"])
        assert layer.provisioning.make().succeeded
        yield layer


def cloud(layer: Layer, *words: str) -> str:
    """Run a command of the role cloud that must succeed; return what it printed."""
    done = run_orrery("gateway", *words, "--config", str(layer.config))
    assert done.returncode == 0, done.stderr
    return done.stdout


def parts(site: Deployment) -> dict[str, tuple[str, str]]:
    """Return what doctor says of the gateway's parts: state and reason."""
    found = json.loads(site.orrery("doctor", "--json").stdout)
    return {one["part"]: (one["state"], one["why"]) for one in found if one["part"].startswith("gateway")}


def test_pings_go_to_doctor_and_timeline(site: Deployment, layer: Layer) -> None:
    """What the site printed about its pings is what the cloud's doctor judges the service by."""

    def expect_ping() -> None:
        assert parts(site)["gateway"][1].startswith("The gateway is active")

    eventually(expect_ping)
    printed = layer.folder / "pings.json"
    printed.write_text(site.orrery("gateway", "pings", "--json").stdout)
    told = json.loads(cloud(layer, "cloud", "doctor", "--pings", str(printed), "--json"))
    service = next(one for one in told if one["part"] == "service")
    assert (service["state"], service["why"]) == ("ok", "By the guest's last ping the service is active.")
    assert json.loads(cloud(layer, "timeline", "--pings", str(printed), "--json")) == []


def test_the_site_shows_the_cloud_and_pushes_what_is_wrong(site: Deployment, layer: Layer) -> None:
    """A good report is on the page and in doctor; an alert that is gone and an expired webhook are pushed."""
    layer.box.pull("shutdown", health=30, alert=90, start=90)
    layer.box.advance(3600)
    cloud(layer, "cloud", "report")
    assert parts(site)["gateway cloud"][0] == "ok"
    assert parts(site)["gateway webhook"][1].startswith("The webhook expires on")
    page = site.client.get(f"{site.private}/owner?open", auth=("owner", ADMIN_PASSWORD)).text
    assert "Both alerts are on" in page
    assert "ended by layer 1" in page

    layer.cloud.delete("health")
    layer.box.pull("expire")
    site.sandbox.advance(2 * 3600)  # the cloud's clock was moved by one hour, and by the waits of what was made
    cloud(layer, "cloud", "report")
    assert parts(site)["gateway cloud"] == ("broken", parts(site)["gateway cloud"][1])
    assert "The health alert is missing" in parts(site)["gateway cloud"][1]
    assert "expired" in parts(site)["gateway webhook"][1]
    site.sandbox.advance((PUSHED_AFTER + 2 * EVERY).total_seconds())

    def expect_push() -> None:
        told = json.dumps(site.sandbox.ask("GET", "/push"))
        assert "gateway webhook" in told
        assert "gateway cloud" in told

    eventually(expect_push)

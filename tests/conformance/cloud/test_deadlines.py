"""How long a command may wait for the cloud, and for its sign-in."""

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from orrery.adapters.azure.clients import Deadlines, Names
from orrery.adapters.azure.cloud import AzureCloud
from orrery.errors import Invalid
from orrery.gateway.cloud.provision import CloudNotReady
from orrery.ports.cloud.errors import CloudRefused, CloudUnreachable
from tests.support.provisioning import Layer


def cloud() -> AzureCloud:
    """A cloud where nothing listens, with short deadlines."""
    names = Names("1", "a", "a", "m", "here", "i", "b", "r", "g", {}, "owner@cosmos.example")
    return AzureCloud(names, "https://127.0.0.1:9", deadlines=Deadlines(connect=2, read=0.2, retries=0))


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a service that takes connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/token"


def test_a_token_that_never_comes_has_a_deadline(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sign-in keeps the deadlines of the calls: the libraries' own are 300 s."""
    monkeypatch.setenv("IDENTITY_ENDPOINT", silent)
    monkeypatch.setenv("IDENTITY_HEADER", "not-a-real-one")
    monkeypatch.setenv("PATH", "/nowhere")  # no `az` of this machine
    with closing(cloud()) as unsigned, pytest.raises((CloudRefused, CloudUnreachable)):
        unsigned.identity()


def test_a_long_wait_is_said_and_not_waited(layer: Layer) -> None:
    """429 with a Retry-After of an hour ends the command with a sentence, also where calls are repeated."""
    layer.box.fault("cloud_429", "GET identity", count=None, value=3600)
    with pytest.raises(CloudNotReady, match="Try again in 3600 s"):
        layer.provisioning.make()


def test_variables_that_cannot_be_used_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenant that is none is a wrong setting, in one sentence."""
    monkeypatch.setenv("AZURE_TENANT_ID", "the tenant")
    monkeypatch.setenv("AZURE_CLIENT_ID", "the-app")
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "not-a-real-one")
    with pytest.raises(Invalid, match="variables AZURE_… of the sign-in cannot be used"):
        cloud()


@pytest.mark.parametrize("operation", ["GET machine", "GET group", "GET account", "GET identity", "GET roles"])
def test_a_plan_registers_no_provider(made: Layer, operation: str) -> None:
    """The libraries would do that by themselves, and wait for its end without a limit: the owner decides it."""
    before = made.box.clock.now().timestamp()
    made.box.fault("cloud_unregistered", operation, count=None)
    with pytest.raises(CloudNotReady, match="az provider register"):
        made.provisioning.make()
    assert {one.partition(" ")[0] for one in made.box.asked_since(before)} == {"GET"}

"""The layer meets what others have changed, and what this machine cannot do."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from orrery.errors import Invalid
from orrery.gateway.cloud.provision import CloudNotReady
from tests.sandbox.cloud.official import Official
from tests.sandbox.cloud.test_provisioning import broken, plan
from tests.support.program import run_orrery
from tests.support.provisioning import Layer, layer_in


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[Layer]:
    """A sandbox's cloud with nothing of the layer in it."""
    with layer_in(tmp_path, factor=100) as layer:
        yield layer


@pytest.fixture
def made(layer: Layer) -> Layer:
    """The same with the layer made."""
    assert layer.provisioning.make().succeeded
    return layer


@pytest.fixture
def by_hand(layer: Layer) -> Iterator[Official]:
    """What somebody else does in the same cloud."""
    with closing(Official(layer.box)) as official:
        yield official


@pytest.fixture
def typed(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> "Typed":
    """The commands of this deployment."""
    monkeypatch.setenv("ORRERY_CONFIG", str(layer.config))
    return Typed()


class Typed:
    """`orrery gateway cloud …` as a process."""

    def __call__(self, *words: str) -> CompletedProcess[str]:
        return run_orrery("gateway", "cloud", *words)


@pytest.mark.parametrize("command", ["doctor", "status"])
def test_a_missing_account_is_a_finding(made: Layer, typed: Typed, command: str) -> None:
    """An account that somebody deleted ends neither the findings nor the rest of the status."""
    assert made.cloud.delete("account")
    done = typed(command)
    assert "The cloud refused" not in done.stderr
    assert "account" in broken(made)


def test_an_unseen_subscription_is_not_an_empty_one(made: Layer, typed: Typed) -> None:
    """Where the account sees no subscription, nothing counts as deleted, and the URI is kept."""
    subscription = made.box.config.subscription
    text = made.config.read_text().replace(subscription, f"aaaaaaaa{subscription[8:]}")
    made.config.write_text(text)
    done = typed("destroy", "--yes")
    assert done.returncode == 1
    assert "Correct `subscription`" in done.stderr
    assert made.uri_file.exists()


def test_without_a_folder_for_the_uri_nothing_is_made(layer: Layer, typed: Typed) -> None:
    """It is said before the first resource."""
    layer.config.write_text(layer.config.read_text().replace('directory = "secrets"', ""))
    done = typed("apply")
    assert done.returncode == 2
    assert done.stderr.startswith("Nothing was changed. A new secret needs a folder")
    assert layer.cloud.identity() is None


def test_a_uri_file_that_cannot_be_written_is_said_first(layer: Layer) -> None:
    """A file where the folder should be."""
    layer.uri_file.parent.rmdir()
    layer.uri_file.parent.touch()
    with pytest.raises(CloudNotReady, match=r"^Nothing was changed\."):
        layer.provisioning.make()
    assert layer.cloud.identity() is None


def test_two_at_once_are_one(layer: Layer) -> None:
    """While one command makes the layer, a second one on this machine changes nothing: it would lose a webhook."""
    first, second = layer.provisioning, layer.provisioning
    with first.uri.held(), pytest.raises(Invalid, match="Another command"):
        second.make()
    assert layer.cloud.identity() is None
    first.make()
    second.make()
    assert plan(layer).is_empty

"""The owner sends one message to see that push and mail arrive, before a buyer depends on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from orrery.app.cli.notifications import TITLE
from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.marked import assert_unmarked

EMAIL = ("email", "--to", "owner@northwind.example")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox beside settings; there is no service, and no store."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        deployment.store.unlink()
        yield deployment


def tried(shop: Deployment, *words: str) -> tuple[int, str]:
    """Return what the test of a channel exits with, and the one sentence that it says."""
    came = shop.orrery("notifications", "test", *words)
    assert_unmarked(came.stdout + came.stderr)
    assert came.stdout == ""
    return came.returncode, " ".join(came.stderr.split())


def test_each_message_arrives_at_once(shop: Deployment) -> None:
    """Push and mail come each time that they are tried, straight to the receiver: no store is made for them."""
    for number in (1, 2):
        assert tried(shop, "push") == (0, f"The push server took it: look for {TITLE!r}.")
        assert len(shop.sandbox.pushes_about(TITLE)) == number
        code, said = tried(shop, *EMAIL)
        assert (code, "among the spam" in said) == (0, True)
        assert len(shop.sandbox.mail_to(EMAIL[-1])) == number
    assert not shop.store.exists()


@pytest.mark.parametrize(
    ("words", "fault", "said"),
    [
        (
            ("push",),
            "push_403",
            "The push service answered 403. Check url and topic in [push]; after a 401 or 403,",
        ),
        (("push",), "push_500", "The push service answered 500. Check url"),
        (EMAIL, "mail_550", "The mail server answered 550. Check [mail]: port 465 goes with tls, 587 with"),
        (EMAIL, "mail_sender", "whether the server lets you send from sender."),
    ],
)
def test_what_is_not_taken(shop: Deployment, words: tuple[str, ...], fault: str, said: str) -> None:
    """A refusal is exit 1 with what was answered and what to check; nothing is left to be sent later."""
    shop.sandbox.fault(fault)
    code, sentence = tried(shop, *words)
    assert (code, said in sentence) == (1, True), sentence
    assert not shop.store.exists()


@pytest.mark.parametrize("words", [("push", "--to", EMAIL[-1]), ("email",), ("email", "--to", "a@b@c"), ("sms",)])
def test_a_wrong_call(shop: Deployment, words: tuple[str, ...]) -> None:
    """A mail to nobody, a push to an address and an unknown way are exit 2, and nothing is sent."""
    assert tried(shop, *words)[0] == 2
    assert shop.sandbox.pushes_about(TITLE) == []


@pytest.mark.parametrize(("words", "missing"), [(("push",), "[push]"), (EMAIL, "[mail]")])
def test_what_is_not_configured(shop: Deployment, words: tuple[str, ...], missing: str) -> None:
    """Without its section a channel cannot be tried: exit 2 names what to set."""
    settings = (
        shop.config.read_text(encoding="utf-8").replace('topic = "owner"', "").replace("sender =", "username =")
    )
    shop.config.write_text(settings, encoding="utf-8")
    code, said = tried(shop, *words)
    assert (code, missing in said) == (2, True), said

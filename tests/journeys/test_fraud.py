"""Three declines from one address, told once, blocked by the owner's signature, and let go again (decision 18)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.deployment import Deployment, running
from tests.support.ssh_keys import make_key, public_half
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

FIVE_MINUTES = 300
SOMEWHERE, ELSEWHERE = "9.9.9.9", "149.112.112.112"
ABOUT = "Broken: fraud clusters"


@dataclass(frozen=True)
class GuardedShop:
    """A deployment whose owner has a key."""

    shop: Deployment

    def decline(self, email: str) -> None:
        """Go through the shop to the payment page as somebody there, with a card that the bank declines."""
        session = Visitor(self.shop, address=SOMEWHERE).start()
        assert not self.shop.sandbox.try_to_pay(session, email, "declined", SOMEWHERE)

    def buys(self, address: str) -> bool:
        """Pay as somebody new at an address with a good card; tell whether it went through."""
        visitor = Visitor(self.shop, address=address)
        return self.shop.sandbox.try_to_pay(visitor.start(), visitor.email, address=address)

    def clusters(self) -> list[dict[str, object]]:
        """Return what the owner's command finds."""
        return json.loads(self.printed("clusters", "--json"))

    def printed(self, *words: str) -> str:
        """Return what a command prints that succeeds."""
        done = self.shop.orrery("fraud", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *words: str) -> str:
        """Return the sentence by which a command refuses bad input."""
        done = self.shop.orrery("fraud", *words)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        return done.stderr

    def signed(self, proposed: str) -> None:
        """Sign what was proposed, by the command that it printed."""
        command = proposed.splitlines()[-1].split()
        assert command[:3] == ["orrery", "approvals", "sign"]
        done = self.shop.orrery(*command[1:])
        assert done.returncode == 0, done.stderr

    def listed(self) -> list[str]:
        """Return the blocked client addresses, as the owner sees them."""
        shown = self.printed("lists", "--list", "client_ip_address_blocklist", "--json")
        return [entry["value"] for entry in json.loads(shown)]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedShop]:
    """Run a deployment whose owner has a key, made for this run."""
    folder = tmp_path_factory.mktemp("guarded")
    key = make_key(folder / "keys")
    more = f"[approvals]\nowner_keys = [{json.dumps(public_half(key))}]\nsigning_key = {json.dumps(str(key))}\n"
    with running(Deployment(folder, more=more)) as shop:
        yield GuardedShop(shop)


def test_a_cluster_is_told_blocked_and_let_go(guarded: GuardedShop, tmp_path: Path) -> None:
    """From the third decline to the blocked payment, and back, through the owner's commands and signatures."""
    shop = guarded.shop
    for number in range(2):
        guarded.decline(f"thief{number}@buyer.example.test")
    assert guarded.clusters() == []
    shop.sandbox.advance(FIVE_MINUTES / 2)
    guarded.decline("thief2@buyer.example.test")
    shop.sandbox.advance(FIVE_MINUTES)
    eventually(lambda: expect_equal(len(shop.sandbox.pushes_about(ABOUT)), 1))
    assert SOMEWHERE not in json.dumps(shop.sandbox.pushes_about(ABOUT))

    (cluster,) = guarded.clusters()
    assert (cluster["share_one"], cluster["value"], cluster["declines"]) == ("client address", SOMEWHERE, 3)
    picture = tmp_path / "clusters.svg"
    assert SOMEWHERE in guarded.printed("clusters", "--svg", str(picture))
    assert SOMEWHERE in picture.read_text(encoding="utf-8")

    proposed = guarded.printed("propose", str(cluster["id"]), "--reason", "card testing")
    assert guarded.buys(SOMEWHERE), "nothing is blocked before the owner has signed"
    guarded.signed(proposed)
    assert guarded.listed() == [SOMEWHERE]
    assert not guarded.buys(SOMEWHERE)
    assert guarded.buys(ELSEWHERE)

    log = guarded.printed("log")
    assert f"block {SOMEWHERE} (client_ip_address_blocklist)" in log
    assert "card testing" in log
    assert "done: Added to client_ip_address_blocklist." in log

    guarded.signed(guarded.printed("unblock", "--ip", SOMEWHERE, "--reason", "a shared address"))
    assert guarded.listed() == []
    assert guarded.buys(SOMEWHERE)
    shop.sandbox.advance(FIVE_MINUTES)
    assert len(shop.sandbox.pushes_about(ABOUT)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("block", "--ip", SOMEWHERE), "--reason"),
        (("block", "--ip", "127.0.0.1", "--reason", "own proxy"), "one of your own"),
        (("unblock", "--ip", ELSEWHERE, "--reason", "not there"), "not in client_ip_address_blocklist"),
        (("clusters", "--svg", "."), "exists already"),
    ],
)
def test_bad_input_writes_nothing(guarded: GuardedShop, words: tuple[str, ...], said: str) -> None:
    """What may not be is refused with a sentence and exit code 2, and no intent is left."""
    before = guarded.shop.records.keys("intent:")
    sentence = guarded.refused(*words)
    assert said in " ".join(sentence.replace("│", " ").split())
    assert "Traceback" not in sentence
    assert guarded.shop.records.keys("intent:") == before

"""The owner's word, as an owner gives it: the real commands, OpenSSH's tool, and a store that others look into."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from orrery.app.composition import opened
from orrery.app.settings.reader import load
from orrery.approvals.approvals import Approvals
from orrery.approvals.intents import NAMESPACE
from orrery.fraud.build import FraudDomain
from orrery.fraud.entries import BlocklistValue
from orrery.ports.clock import Clock
from tests.journeys.terminal import Terminal, terminal
from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.program import run_orrery
from tests.support.ssh_keys import fingerprint, make_key, public_half, ssh_signed

PASSPHRASE = "a passphrase of the tests"  # noqa: S105  of a key that is made for the run


@dataclass
class Desk:
    """An owner with two keys: one at hand, and one that asks for a passphrase."""

    shop: Deployment
    key: Path
    guarded_key: Path
    addresses: Iterator[int]

    def proposed(self, reason: str = "card testing") -> tuple[str, str]:
        """Propose to block an address that no other test has; return the intent's id and the address."""
        address = f"9.9.9.{next(self.addresses)}"
        return asyncio.run(self._propose(address, reason)), address

    async def _propose(self, address: str, reason: str) -> str:
        async with opened(*load(self.shop.config)) as orrery:
            return (await orrery[FraudDomain].screening.block([BlocklistValue("address", address)], reason)).id

    def blocked(self) -> list[str]:
        """Return the addresses on the processor's list."""
        fields = {"value_list": "rsl_sandbox_client_ip_address_blocklist", "limit": "100"}
        items = self.shop.sandbox.ask("GET", "/v1/radar/value_list_items", **fields)
        return [one["value"] for one in items["data"]]

    def does(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Type `orrery approvals …`, and see its exit code, without a traceback."""
        done = self.shop.orrery("approvals", *words)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def word(self, folder: Path, intent_id: str) -> list[str]:
        """Sign elsewhere what the command prints; return the options that bring it back."""
        statement = folder / "approval"
        statement.write_text(self.does("show", intent_id, "--statement").stdout, encoding="utf-8", newline="")
        return self.signed(statement)

    def signed(self, statement: Path, namespace: str = NAMESPACE) -> list[str]:
        """Sign a statement elsewhere; return the options that bring it back."""
        signature = statement.with_suffix(".sig")
        signature.write_bytes(ssh_signed(self.key, statement.read_bytes(), namespace))
        return ["--statement", str(statement), "--signature", str(signature)]

    def refuses(self, intent_id: str, word: list[str], why: str) -> None:
        """See an approval refused in a sentence, and the refusal in the log."""
        assert why in self.does("sign", intent_id, *word, code=2).stderr
        kind, note = asyncio.run(self._last_in_log())
        assert (kind, why in note) == ("refused", True), note

    async def _last_in_log(self) -> tuple[str, str]:
        async with opened(*load(self.shop.config)) as orrery:
            *_, entry = [entry async for entry in orrery[Approvals].log.entries()]
        assert entry is not None
        return entry.kind, entry.note

    def state(self, intent_id: str) -> str:
        """Return how far an intent has come."""
        return asyncio.run(self._state(intent_id))

    async def _state(self, intent_id: str) -> str:
        async with opened(*load(self.shop.config)) as orrery:
            return (await orrery[Approvals].proposal(intent_id)).in_words(orrery[Clock].now())


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """Run a sandbox, and the commands of an owner beside it."""
    folder = tmp_path_factory.mktemp("desk")
    key = make_key(folder / "keys")
    guarded = make_key(folder / "keys", "guarded", passphrase=PASSPHRASE)
    keys = json.dumps([public_half(key), public_half(guarded)])
    more = f"[approvals]\nowner_keys = {keys}\nsigning_key = {json.dumps(str(key))}\n"
    with beside_a_sandbox(Deployment(folder, more=more)) as shop:
        yield Desk(shop, key, guarded, iter(range(1, 255)))


def test_an_approval_from_proposal_to_log(desk: Desk) -> None:
    """What waits is listed, shown with what is sent, signed, done, and told in a log that holds."""
    intent_id, address = desk.proposed("[red]declines[/red]")
    assert desk.does("list").stdout.splitlines()[1].split()[:3] == [intent_id, "waiting", "block-entries"]
    shown = desk.does("show", intent_id).stdout
    for part in (f'+ entries[0].value: "{address}"', "[red]declines[/red]", f"orrery approvals sign {intent_id}"):
        assert part in shown
    assert desk.blocked() == []
    signed = desk.does("sign", intent_id)
    assert (signed.stdout, desk.blocked()) == ("Done. Added to client_ip_address_blocklist.\n", [address])
    assert f'+ entries[0].value: "{address}"' in signed.stderr
    log = desk.does("log").stdout
    assert fingerprint(desk.key) in log
    assert "[red]declines[/red]" in log
    assert address not in log
    assert "signatures and intents agree with it" in desk.does("verify").stdout


@pytest.mark.parametrize("given", ["", "no\n", "y\n", "yes please\n"])
def test_nobody_says_yes(desk: Desk, given: str) -> None:
    """Away from a terminal a key that wants no passphrase signs nothing either without a plain yes."""
    intent_id, address = desk.proposed()
    done = run_orrery("approvals", "sign", intent_id, "--config", str(desk.shop.config), given=given)
    assert (done.returncode, done.stdout, "Nothing was signed." in done.stderr) == (1, "", True)
    assert intent_id in desk.does("list").stdout
    assert address not in desk.blocked()


def test_signed_elsewhere_and_raced(desk: Desk, tmp_path: Path) -> None:
    """Of two processes with one approval that was signed elsewhere one carries it out; later it is used."""
    intent_id, address = desk.proposed()
    words = ["approvals", "sign", intent_id, *desk.word(tmp_path, intent_id), "--config", str(desk.shop.config)]
    with ThreadPoolExecutor(2) as pool:
        racers = [pool.submit(run_orrery, *words) for _ in range(2)]
    came = [racer.result() for racer in racers]
    assert sorted(one.returncode for one in came) == [0, 2], [one.stderr for one in came]
    assert desk.blocked().count(address) == 1
    desk.refuses(intent_id, words[3:-2], "The approval is used: the intent is done.")


def test_refused_and_logged(desk: Desk, tmp_path: Path) -> None:
    """Expired, foreign, wrongly signed and altered approvals are refused, and the intent can still be signed."""
    (intent_id, address), (other, _) = desk.proposed(), desk.proposed()
    word = desk.word(tmp_path, intent_id)
    statement = tmp_path / "approval"
    desk.refuses(other, word, "foreign")
    desk.refuses(intent_id, desk.signed(statement, "file"), "wrongly signed")
    desk.shop.sandbox.advance(601)
    desk.refuses(intent_id, desk.signed(statement), "expired")
    assert address not in desk.blocked()
    desk.does("sign", intent_id)
    assert address in desk.blocked()


BAD_INPUT = [
    ["sign", "in-000000000000"],
    ["sign", "in-000000000000", "--statement", "x"],
    ["withdraw", "\x1b[2J"],
    ["verify", "--head", "3"],
    ["verify", "--head", ""],
    ["verify", "--old-key", "gone.pub"],
]


def test_bad_input(desk: Desk) -> None:
    """Bad input is refused in a sentence, and nothing is written."""
    before = desk.shop.records.scan()
    with ThreadPoolExecutor(4) as pool:
        refusals = [pool.submit(desk.does, *words, code=2) for words in BAD_INPUT]
    for said in (refusal.result() for refusal in refusals):
        assert (said.stdout, said.stderr.count("\n"), "\x1b" in said.stderr) == ("", 1, False), said.stderr
        assert ".." not in said.stderr
    assert desk.shop.records.scan() == before


def test_what_is_missing(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without OpenSSH's tool the owner is told what to install; nothing is signed, and nothing is done."""
    intent_id, address = desk.proposed()
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("PATH", str(tmp_path))
        assert "sudo apt-get install openssh-client" in desk.does("sign", intent_id, code=1).stderr
    assert (desk.state(intent_id), address in desk.blocked()) == ("waiting", False)


@pytest.fixture
def signing(desk: Desk) -> Iterator[tuple[Terminal, str]]:
    """Sign an intent with the key that wants a passphrase, at a terminal; yield it and the blocked address."""
    intent_id, address = desk.proposed()
    key, config = str(desk.guarded_key), str(desk.shop.config)
    with terminal("approvals", "sign", intent_id, "--key", key, "--config", config) as at:
        yield at, address


def test_a_plain_yes_and_a_passphrase(desk: Desk, signing: tuple[Terminal, str]) -> None:
    """At a terminal the intent is shown, a plain yes is asked for, and then the key asks for its passphrase."""
    at, address = signing
    at.wait_for("Type yes to sign this")
    at.type("yes")
    assert address in at.shown
    at.wait_for("Enter passphrase")
    at.type(PASSPHRASE)
    assert at.end() == 0
    assert address in desk.blocked()


@pytest.mark.parametrize("answer", ["", "y"])
def test_anything_but_a_plain_yes(desk: Desk, signing: tuple[Terminal, str], answer: str) -> None:
    """Without a plain yes nothing is signed, and nothing is done."""
    at, address = signing
    at.wait_for("Type yes to sign this")
    at.type(answer)
    assert at.end() == 1
    assert address not in desk.blocked()

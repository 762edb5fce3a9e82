"""The owner's signatures, checked by OpenSSH's own tool (decision 15)."""

import base64
import os
import stat
from pathlib import Path

import pytest

from orrery.adapters.ssh_keygen import LONGEST, SshKeygen
from orrery.approvals.intents import NAMESPACE
from orrery.errors import ApprovalRefused, Invalid, NotConfigured
from tests.support.ssh_keys import fingerprint, make_key, public_half, ssh_signed

STATEMENT = b"orrery approval 1\n"
KINDS = ["ed25519", "ecdsa", "rsa"]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make a key of each kind, and a stranger's."""
    folder = tmp_path_factory.mktemp("keys")
    made = {kind: make_key(folder, kind, kind) for kind in KINDS}
    return made | {"stranger": make_key(folder, "stranger")}


@pytest.fixture
def owner(keys: dict[str, Path]) -> Path:
    """Return the owner's key."""
    return keys["ed25519"]


@pytest.fixture
def checks(owner: Path) -> SshKeygen:
    """Return what knows the owner's key."""
    return SshKeygen([public_half(owner)], NAMESPACE)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_owners_signature(keys: dict[str, Path], kind: str) -> None:
    """A signature by any key of the owner's counts, and names that key."""
    checks = SshKeygen([public_half(keys[each]) for each in KINDS], NAMESPACE)
    signature = ssh_signed(keys[kind], STATEMENT, NAMESPACE)
    assert await checks.check(STATEMENT, signature) == fingerprint(keys[kind])


async def test_our_own_signature(checks: SshKeygen, owner: Path) -> None:
    """What is signed here counts like what was signed elsewhere."""
    assert await checks.check(STATEMENT, checks.sign(STATEMENT, owner)) == fingerprint(owner)


async def test_a_strangers(checks: SshKeygen, keys: dict[str, Path]) -> None:
    """A signature by a key that is not the owner's does not count."""
    with pytest.raises(ApprovalRefused, match="wrongly signed"):
        await checks.check(STATEMENT, ssh_signed(keys["stranger"], STATEMENT, NAMESPACE))


@pytest.mark.parametrize("other", [b"", b"orrery approval 1", STATEMENT + b"\n", STATEMENT * 2, b"\xff\x00"])
async def test_over_another_text(checks: SshKeygen, owner: Path, other: bytes) -> None:
    """A signature counts for its text to the byte."""
    with pytest.raises(ApprovalRefused, match="wrongly signed"):
        await checks.check(other, ssh_signed(owner, STATEMENT, NAMESPACE))


@pytest.mark.parametrize("namespace", ["file", "git", "orrery-approval-2", "ORRERY-APPROVAL"])
async def test_for_something_else(checks: SshKeygen, owner: Path, namespace: str) -> None:
    """What the owner has signed for anything else, such as a commit or a file, is no approval."""
    with pytest.raises(ApprovalRefused, match="wrongly signed"):
        await checks.check(STATEMENT, ssh_signed(owner, STATEMENT, namespace))


def test_the_namespace_never_changes() -> None:
    """What was signed yesterday, and what was printed for signing elsewhere, counts today."""
    assert NAMESPACE == "orrery-approval"


async def test_not_one_signature(checks: SshKeygen, owner: Path) -> None:
    """Two signatures, something around one, none, or what is no text: refused before any program sees it."""
    one = ssh_signed(owner, STATEMENT, NAMESPACE)
    for other in (
        b"",
        b"x",
        one * 2,
        b"x\n" + one,
        one + b"x",
        one[:-30],
        b"\xff" + one,
        one.replace(b"U", b"\xfc"),
    ):
        with pytest.raises(ApprovalRefused, match="not one SSH signature"):
            await checks.check(STATEMENT, other)


async def test_too_long(checks: SshKeygen, owner: Path) -> None:
    """A huge statement and a huge signature are refused."""
    one = ssh_signed(owner, STATEMENT, NAMESPACE)
    huge = one.replace(b"\n-----END", b"\n" + b"A\n" * LONGEST + b"-----END")
    for statement, signature in ((STATEMENT, huge), (STATEMENT * LONGEST, one)):
        with pytest.raises(ApprovalRefused, match="not one SSH signature"):
            await checks.check(statement, signature)


async def test_every_changed_part_of_a_signature(checks: SshKeygen, owner: Path) -> None:
    """Whatever byte of a signature is changed, it does not count."""
    head, *body, tail = ssh_signed(owner, STATEMENT, NAMESPACE).decode().splitlines()
    signature = base64.b64decode("".join(body))
    for place in range(0, len(signature), 11):
        changed = signature[:place] + bytes([signature[place] ^ 1]) + signature[place + 1 :]
        text = f"{head}\n{base64.b64encode(changed).decode()}\n{tail}\n"
        with pytest.raises(ApprovalRefused):
            await checks.check(STATEMENT, text.encode())


async def test_from_windows(checks: SshKeygen, owner: Path) -> None:
    """Line ends of another system around the same signature do not matter."""
    signature = ssh_signed(owner, STATEMENT, NAMESPACE).replace(b"\n", b"\r\n")
    assert await checks.check(STATEMENT, signature) == fingerprint(owner)


async def test_without_a_key() -> None:
    """Without a key of the owner nothing is checked, whatever comes."""
    with pytest.raises(NotConfigured, match="owner_keys"):
        await SshKeygen([], NAMESPACE).check(STATEMENT, b"")


async def test_without_the_tool(
    checks: SshKeygen, owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without OpenSSH's tool the owner is told what to install, and nothing counts."""
    signature = ssh_signed(owner, STATEMENT, NAMESPACE)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotConfigured, match="sudo apt-get install openssh-client"):
        await checks.check(STATEMENT, signature)
    with pytest.raises(NotConfigured, match="sudo apt-get install openssh-client"):
        checks.sign(STATEMENT, owner)


def tool(folder: Path, text: str, interpreter: Path = Path("/bin/sh")) -> None:
    """Put another program in the place of OpenSSH's."""
    file = folder / "ssh-keygen"
    file.write_text(f"#!{interpreter}\n{text}\n", encoding="utf-8")
    file.chmod(stat.S_IRWXU)


@pytest.mark.parametrize("text", ["exit 1", "exit 0", "kill -9 $$", "echo nonsense"])
async def test_a_tool_that_cannot_check(
    checks: SshKeygen, owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """A tool that knows no signatures, is killed, or says nothing of a key, has found no signature good."""
    signature = ssh_signed(owner, STATEMENT, NAMESPACE)
    tool(tmp_path, text)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
    with pytest.raises(NotConfigured, match=r"cannot check signatures; OpenSSH 8\.2"):
        await checks.check(STATEMENT, signature)


async def test_a_tool_that_cannot_be_started(
    checks: SshKeygen, owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be started has not found a signature good."""
    signature = ssh_signed(owner, STATEMENT, NAMESPACE)
    tool(tmp_path, "", interpreter=tmp_path / "gone")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotConfigured, match=r"cannot be checked: no such file"):
        await checks.check(STATEMENT, signature)


async def test_what_the_tool_is_given(
    checks: SshKeygen, owner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool gets its files in a folder that nobody else can read and that is gone afterwards, and no secret."""
    signature, seen = ssh_signed(owner, STATEMENT, NAMESPACE), tmp_path / "seen"
    tool(tmp_path, f'for file; do last=$file; done\n(echo "$last"; stat -c %a "${{last%/*}}"; env) >{seen}')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
    monkeypatch.setenv("ORRERY_PROCESSOR_API_KEY", "a secret of the tests")
    with pytest.raises(NotConfigured):
        await checks.check(STATEMENT, signature)
    file, mode, *environment = seen.read_text(encoding="utf-8").splitlines()
    assert (Path(file).name, mode, Path(file).parent.exists()) == ("signature", "700", False)
    assert not any("secret" in each for each in environment)


def test_no_key_file(checks: SshKeygen, tmp_path: Path) -> None:
    """A key that is not there is told in a sentence."""
    with pytest.raises(Invalid, match="There is no key file"):
        checks.sign(STATEMENT, tmp_path / "gone")


def test_a_file_that_is_no_key(checks: SshKeygen, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What makes no signature is told, after the tool's own words about it."""
    (tmp_path / "key").write_text("no key", encoding="utf-8")
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(Invalid, match="made no signature; its own message is above"):
        checks.sign(STATEMENT, tmp_path / "key")
    assert capfd.readouterr().err


async def test_a_key_line_is_taken_apart(owner: Path) -> None:
    """Of a key's line only type and key count: what follows cannot add another signer."""
    checks = SshKeygen([f"{public_half(owner)}\n* {public_half(owner)}"], NAMESPACE)
    assert await checks.check(STATEMENT, ssh_signed(owner, STATEMENT, NAMESPACE)) == fingerprint(owner)

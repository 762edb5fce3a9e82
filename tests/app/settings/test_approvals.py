"""Whose signature counts: public keys only, said at the start (decision 15)."""

from pathlib import Path

import pytest

from orrery.app.settings.reader import load
from orrery.approvals.settings import ApprovalSettings
from tests.support.machine import Machine, machine_in
from tests.support.ssh_keys import make_key, public_half


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


@pytest.mark.parametrize(("kind", "bits"), [("ed25519", 0), ("ecdsa", 384), ("ecdsa", 521), ("rsa", 2048)])
def test_the_owners_keys(machine: Machine, kind: str, bits: int) -> None:
    """Public keys of OpenSSH are taken, without their comments."""
    line = public_half(make_key(machine.folder, kind=kind, bits=bits))
    machine.write(f'[approvals]\nowner_keys = ["{line}"]')
    settings, _ = load()
    assert settings[ApprovalSettings].owner_keys == (line.rpartition(" the owner's")[0],)


def test_a_private_key_is_never_shown(machine: Machine) -> None:
    """A private key in the settings stops the start, and nothing of it is said."""
    text = make_key(machine.folder).read_text(encoding="utf-8")
    machine.write(f"[approvals]\nowner_keys = ['''{text}''']")
    refusal = machine.refusal()
    assert "approvals.owner_keys: this is a private key" in refusal
    assert not any(line in refusal for line in text.splitlines())

"""The owner's signatures by OpenSSH's own tool, which supports hardware keys, too (decision 15)."""

import asyncio
import re
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from orrery.errors import ApprovalRefused, DependencyFailed, Invalid, NotConfigured, words_of
from orrery.ports.signatures import LONGEST

DEADLINE = 10.0
"""Seconds that a check may take."""

SIGNING_DEADLINE = 300.0
"""Seconds that a person may take for a passphrase or a touch."""

_OWNER = "owner"
_NOT_VALID = 255
_SIGNATURE = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\r?\n(?:[A-Za-z0-9+/=]+\r?\n)+-----END SSH SIGNATURE-----\s*"
)
_OF_NO_KEY = b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
_FINGERPRINT = re.compile(r" key (SHA256:[A-Za-z0-9+/]{43})$", re.MULTILINE)


class SshKeygen:
    """Checks signatures with `ssh-keygen -Y verify` against the owner's public keys, one line each."""

    def __init__(self, owner_keys: Sequence[str], namespace: str) -> None:
        self._owner_keys = owner_keys
        self._namespace = namespace

    async def check(self, statement: bytes, signature: bytes) -> str:
        """Return the fingerprint of the owner's key that signed `statement`; see the port."""
        return await asyncio.to_thread(self._checked, statement, signature)

    async def examine(self) -> None:
        """Check a signature that matches no key; raise `NotConfigured` when none can be checked here."""
        with suppress(ApprovalRefused):
            _ = await self.check(b"", _OF_NO_KEY)

    def sign(self, statement: bytes, key: Path) -> bytes:
        """Return a signature by this key; `ssh-keygen` may ask at the terminal for a passphrase or a touch.

        Raises `Invalid` when there is no key, or it made no signature; `ssh-keygen` has then printed the reason.
        """
        if not key.is_file():
            raise Invalid(f"There is no key file {key}.")
        command = [_program(), "-Y", "sign", "-n", self._namespace, "-f", str(key)]
        try:
            # Its questions and complaints go to the terminal; only the signature comes back.
            made = subprocess.run(  # noqa: S603  OpenSSH's own tool, without a shell
                command, input=statement, stdout=subprocess.PIPE, check=False, timeout=SIGNING_DEADLINE
            )
        except subprocess.TimeoutExpired:
            raise Invalid(f"ssh-keygen made no signature within {SIGNING_DEADLINE:g} s.") from None
        if made.returncode != 0 or not _SIGNATURE.fullmatch(made.stdout):
            raise Invalid("ssh-keygen made no signature; its own message is above.")
        return made.stdout

    def _checked(self, statement: bytes, signature: bytes) -> str:
        if not self._owner_keys:
            raise NotConfigured("No key of the owner is configured: see [approvals] owner_keys.")
        if max(len(statement), len(signature)) > LONGEST or not _SIGNATURE.fullmatch(signature):
            raise ApprovalRefused("The approval is wrongly signed: this is not one SSH signature.")
        came = self._verified(_program(), statement, signature)
        if came.returncode == _NOT_VALID:
            raise ApprovalRefused(
                "The approval is wrongly signed: not over this text, or not by a key of the owner."
            )
        fingerprint = _FINGERPRINT.search(came.stdout.decode("ascii", "replace"))
        if came.returncode != 0 or fingerprint is None:
            raise DependencyFailed("ssh-keygen on this machine cannot check signatures; OpenSSH 8.2 or newer can.")
        return fingerprint[1]

    def _verified(self, program: str, statement: bytes, signature: bytes) -> subprocess.CompletedProcess[bytes]:
        try:
            with TemporaryDirectory(prefix="orrery-") as folder:
                signers, signed = Path(folder, "allowed_signers"), Path(folder, "signature")
                _ = signers.write_text("".join(map(self._signer, self._owner_keys)), encoding="utf-8")
                _ = signed.write_bytes(signature.replace(b"\r\n", b"\n"))
                about = ["-n", self._namespace, "-I", _OWNER]
                return subprocess.run(  # noqa: S603  OpenSSH's own tool, without a shell
                    [program, "-Y", "verify", *about, "-f", str(signers), "-s", str(signed)],
                    input=statement,
                    capture_output=True,
                    check=False,
                    timeout=DEADLINE,
                    env={"LC_ALL": "C"},
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DependencyFailed(f"The signature cannot be checked: {words_of(error)}.") from None

    def _signer(self, key: str) -> str:
        kind, encoded = key.split()[:2]
        return f'{_OWNER} namespaces="{self._namespace}" {kind} {encoded}\n'


@dataclass(frozen=True, slots=True)
class SshKeys:
    """The owner's keys: `own` is the file of the one to sign with."""

    trusted: Sequence[str]
    own: Path | None
    namespace: str

    def signing_key(self, key: Path | None) -> Path:
        """Return the file of the key to sign with; see the port."""
        if not self.trusted:
            raise NotConfigured("No key of the owner is configured: see [approvals] owner_keys.")
        if (chosen := key or self.own) is None:
            raise NotConfigured("No key to sign with: give --key FILE, or set [approvals] signing_key.")
        return chosen.expanduser()

    def sign(self, statement: bytes, key: Path) -> bytes:
        return self.signatures(()).sign(statement, key)

    def signatures(self, further: Sequence[str]) -> SshKeygen:
        return SshKeygen([*self.trusted, *further], self.namespace)


def made_key(file: Path) -> str:
    """Return the public half of a key of one's own, made without a passphrase unless it is there: for the demo.

    Raises `NotConfigured` when there is no ssh-keygen.
    """
    public = file.with_name(f"{file.name}.pub")
    if not public.exists():
        file.unlink(missing_ok=True)
        _ = subprocess.run(  # noqa: S603  OpenSSH's own tool, without a shell
            [_program(), "-q", "-t", "ed25519", "-N", "", "-C", "the demo's owner", "-f", str(file)],
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=DEADLINE,
        )
    return public.read_text(encoding="utf-8").strip()


def _program() -> str:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise DependencyFailed("There is no ssh-keygen on this machine; type: sudo apt-get install openssh-client")
    return program

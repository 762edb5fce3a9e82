"""Only a public key, whole and plain, can be the owner's (decision 15)."""

import base64
import struct
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.approvals.public_keys import public_key
from orrery.errors import Invalid
from tests.support.tables import each_case


def line(kind: str, *parts: bytes, said: str | None = None) -> str:
    """Return a key of these parts as OpenSSH writes it; `said` is the type at the beginning of the line."""
    blob = b"".join(struct.pack(">I", len(part)) + part for part in (kind.encode(), *parts))
    return f"{said or kind} {base64.b64encode(blob).decode()}"


POINT = b"\x04" + b"x" * 64
ED25519 = line("ssh-ed25519", b"x" * 32)
GOOD = [
    ED25519,
    line("ssh-rsa", b"\x01\x00\x01", b"\x00" + b"\xff" * 256),
    line("ecdsa-sha2-nistp256", b"nistp256", POINT),
    line("sk-ssh-ed25519@openssh.com", b"x" * 32, b"ssh:"),
    line("sk-ecdsa-sha2-nistp256@openssh.com", b"nistp256", POINT, b"ssh:"),
]


@each_case("key", GOOD)
def test_a_public_key(key: str) -> None:
    """A key is taken without its comment and the white space around it."""
    assert public_key(key) == key
    assert public_key(f"  {key} the owner's laptop ") == key


@each_case("key", GOOD)
def test_blanks(key: str) -> None:
    """Any blanks separate the type, the key and the comment, as OpenSSH reads them; a file may end its line."""
    kind, encoded = key.split()
    ends = ("", " ", "\t", "\n", "\r\n", "\n\n")
    for blank, end, comment in product(("  ", "\t", " \t "), ends, ("", "the owner's laptop")):
        assert public_key(f"{blank}{kind}{blank}{encoded}{blank}{comment}{end}") == key


@each_case(
    ("text", "why"),
    [
        ("", "begins with its type"),
        ("~/.ssh/id_ed25519.pub", "begins with its type"),
        (f'command="true" {ED25519}', "no options"),
        (f"cert-authority {ED25519}", "no options"),
        (f"owner {ED25519}", "begins with its type"),
        (line("ssh-dss", b"x", b"x", b"x", b"x"), "begins with its type"),
        (line("ssh-ed25519-cert-v01@openssh.com", b"x"), "no certificates"),
        (line("ssh-ed25519", b"x" * 32, said="ssh-rsa"), "no such key"),
        (line("ssh-rsa", b"\x01\x00\x01", b"\xff" * 256, said="ssh-ed25519"), "no such key"),
        (line("ssh-ed25519"), "no such key"),
        (line("ssh-ed25519", b"x" * 32, b"more"), "no such key"),
        (ED25519[:-4], "no such key"),
        ("ssh-ed25519", "no such key"),
        ("ssh-ed25519 ", "no such key"),
        ("ssh-ed25519 AAAA!", "no such key"),
        ("ssh-ed25519 \N{GREEK SMALL LETTER ALPHA}", "no such key"),
        (line("ssh-rsa", b"\x01\x00\x01", b"\x00" + b"\xff" * 128), "at least 2048 bits"),
        (f"{ED25519}\n{ED25519}", "one line"),
        (f"{ED25519} \x1b[2J", "one line"),
        (f"{ED25519}\r\n{ED25519}\r\n", "one line"),
        (ED25519.replace(" ", "\r\n"), "one line"),
        (ED25519.replace(" ", "\N{NO-BREAK SPACE}"), "one line"),
    ],
)
def test_no_public_key(text: str, why: str) -> None:
    """What is no plain public key is refused with the reason."""
    with pytest.raises(Invalid, match=why):
        public_key(text)


def test_a_private_key_is_not_repeated() -> None:
    """A private key is refused by what it is, and nothing of it is said."""
    body = base64.b64encode(b"openssh-key-v1 of the tests").decode()
    marks = ("BEGIN", "END")
    text = f"\n{body}\n".join(f"-----{mark} OPENSSH PRIVATE KEY-----" for mark in marks)
    with pytest.raises(Invalid, match="this is a private key") as refused:
        public_key(text)
    assert body not in str(refused.value)


@given(st.text(max_size=80))
def test_nothing_is_repeated(text: str) -> None:
    """Whatever is refused is not in the refusal."""
    hidden = f"5ecret{text}5ecret"
    for tried in (hidden, f"ssh-ed25519 {hidden}", f"{ED25519}{hidden}"):
        with pytest.raises(Invalid) as refused:
            public_key(tried)
        assert "5ecret" not in str(refused.value)

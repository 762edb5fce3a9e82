"""Whose certificates the clients believe, seen by the contexts that they are given."""

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from orrery.errors import Invalid
from orrery.trust import WELL_KNOWN, Trust, certificates
from tests.support.certificates import Authority, make_authority, make_certificate, refused, server_context

CONTEXTS: dict[str, Callable[[Trust], ssl.SSLContext | None]] = {
    "web": lambda trust: trust.web,
    "mail": lambda trust: trust.mail,
    "session": Trust.of_session,
}


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """Return an authority that nobody knows."""
    return make_authority(tmp_path)


def context(kind: str, ca_file: Path) -> ssl.SSLContext:
    """Return one kind of context that believes a file."""
    found = CONTEXTS[kind](Trust(ca_file))
    assert found is not None
    return found


@pytest.mark.parametrize("kind", CONTEXTS)
def test_its_certificates_are_believed(authority: Authority, kind: str) -> None:
    """A server of the authority is believed under its own name, and under no other."""
    server = server_context(authority.certify())
    assert refused(server, context(kind, authority.file)) is None
    assert refused(server, context(kind, authority.file), "another.example") is not None


@pytest.mark.parametrize("kind", CONTEXTS)
def test_nobody_else_is(tmp_path: Path, authority: Authority, kind: str) -> None:
    """A server of another authority is refused, whichever one is named."""
    other = make_authority(tmp_path, "other")
    assert refused(server_context(other.certify()), context(kind, authority.file)) is not None


@pytest.mark.parametrize("kind", ["web", "mail"])
def test_it_is_believed_beside_the_well_known(authority: Authority, kind: str) -> None:
    """What is believed without the file is believed with it, too."""
    known = CONTEXTS[kind](WELL_KNOWN)
    assert known is not None
    with_file = context(kind, authority.file).get_ca_certs(binary_form=True)
    assert len(with_file) == len(known.get_ca_certs()) + 1


@pytest.mark.parametrize("kind", CONTEXTS)
def test_an_authority_below_another(authority: Authority, kind: str) -> None:
    """An authority that another one has signed is believed by itself, and the upper one is not."""
    below = authority.below()
    assert refused(server_context(below.certify()), context(kind, below.file)) is None
    assert refused(server_context(authority.certify()), context(kind, below.file)) is not None


def test_several_in_one_file(tmp_path: Path, authority: Authority) -> None:
    """Each certificate of a file is believed, whatever is written between them."""
    other = make_authority(tmp_path, "other")
    both = tmp_path / "both.pem"
    both.write_text(
        f"# Főtanúsítvány\n{authority.file.read_text()}\n# ½\n{other.file.read_text()}", encoding="utf-8"
    )
    for one in (authority, other):
        assert refused(server_context(one.certify()), Trust(both).web) is None


def test_contexts_are_made_once(authority: Authority) -> None:
    """The certificates are read once for all clients, but each session has a context to itself."""
    trust = Trust(authority.file)
    assert (trust.web, trust.mail) == (trust.web, trust.mail)
    assert trust.web is not trust.mail
    assert trust.of_session() is not trust.of_session()


def test_a_session_is_left_alone_without_a_file() -> None:
    """Without a further authority, sessions keep their library's own context."""
    assert WELL_KNOWN.of_session() is None


def test_the_environment_counts_where_it_does_today(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    """`SSL_CERT_FILE` takes the place of the well-known authorities."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    server, trust = server_context(authority.certify()), Trust()
    assert refused(server, trust.web) is None
    assert refused(server, trust.mail) is None


def cut(text: str) -> str:
    """Return a certificate whose end is missing."""
    return text[: len(text) // 2]


def garbled(text: str) -> str:
    """Return a certificate with a letter that base64 has not."""
    return text.replace("M", "é", 2)


@pytest.mark.parametrize("damage", [cut, garbled])
def test_a_broken_certificate(authority: Authority, damage: Callable[[str], str]) -> None:
    """A broken certificate is refused, alone and behind a whole one."""
    whole = authority.file.read_text()
    for text in (damage(whole), whole + damage(whole)):
        with pytest.raises(Invalid):
            certificates(text)


@pytest.mark.parametrize("text", ["", "nonsense\n", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"])
def test_a_text_without_a_certificate(text: str) -> None:
    """A text that holds none is refused."""
    with pytest.raises(Invalid):
        certificates(text)


def test_a_server_may_be_named_itself(tmp_path: Path) -> None:
    """A server that signed its own certificate is believed by that certificate."""
    own = make_certificate(tmp_path)
    assert refused(server_context(own), Trust(own).web) is None

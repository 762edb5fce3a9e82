"""The hash of the admin password (spec 2, Authentication 2)."""

import hashlib
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from orrery.app.cli.admin import group
from orrery.edge.auth import AdminBearer, GuessLimiter
from orrery.errors import Invalid
from tests.support.clock import ManualClock
from tests.support.requests import request
from tests.support.tables import each_case

PASSWORD = "open sesame, please!"  # noqa: S105  a password of the tests
HASH = hashlib.sha256(PASSWORD.encode()).hexdigest()


def hashed(given: bytes, *more: str) -> str:
    """Return what the command prints for a line of a pipe; raise its error."""
    result = CliRunner().invoke(group, ["hash", *more], input=given)
    if result.exception:
        assert result.stdout == ""
        raise result.exception
    return result.stdout


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "  \n"])
def test_a_line_is_hashed_without_its_end(end: str) -> None:
    """The line's end and the white space around the password are no part of it."""
    assert hashed(f"  {PASSWORD}{end}".encode()) == f"{HASH}\n"


async def test_the_service_admits_what_was_hashed() -> None:
    """The service admits a password by what the command printed for it, the printed line's end included."""
    bearer = AdminBearer(hashed(f" {PASSWORD}\n".encode()), GuessLimiter(ManualClock()))
    assert await bearer.admits(request(("authorization", f"Bearer {PASSWORD}")))


@each_case(
    ("given", "sentence"),
    [
        (b"", "printable ASCII"),
        (b"\n", "printable ASCII"),
        (b"eleven chrs\n", "at least 12 characters"),
        ("pässword-pässword\n".encode(), "printable ASCII"),
        (b"\xff" * 20, "printable ASCII"),
        (b"open\x00sesame, please", "printable ASCII"),
        (b"x" * 5000, "printable ASCII"),
        (b"x" * 100_000, "printable ASCII"),
        (b"open sesame, please\nand another line\n", "one line"),
    ],
)
def test_what_is_no_password_is_refused(given: bytes, sentence: str) -> None:
    """A password that is short or cannot travel in a header is refused in words that do not repeat it."""
    with pytest.raises(Invalid, match=sentence) as refused:
        hashed(given)
    assert not given.strip() or given.strip() not in str(refused.value).encode()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write settings with an empty folder of secrets."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "orrery.toml").write_text(f'[secrets]\ndirectory = "{tmp_path / "secrets"}"\n')
    return tmp_path / "orrery.toml"


def test_it_is_written_as_a_secret(config: Path) -> None:
    """The secret file holds the hash, is its owner's only, and takes the place of the one before."""
    for password in ("another password", PASSWORD):
        assert hashed(password.encode(), "--write", "--config", str(config)) == ""
    (secret,) = (config.parent / "secrets").iterdir()
    assert (secret.name, secret.read_text()) == ("admin_password_hash", f"{HASH}\n")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_refused_password_leaves_the_secret(config: Path) -> None:
    """When the password is refused, the secret file stays as it was."""
    secret = config.parent / "secrets" / "admin_password_hash"
    secret.write_text(HASH)
    with pytest.raises(Invalid):
        hashed(b"short", "--write", "--config", str(config))
    assert secret.read_text() == HASH


def test_a_write_that_fails_leaves_nothing(config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the file cannot take its place, that is said and no half of it is left."""
    (tmp_path / "credentials").mkdir()
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path / "credentials"))
    in_the_way = config.parent / "secrets" / "admin_password_hash"
    in_the_way.mkdir()
    with pytest.raises(Invalid, match="cannot be written"):
        hashed(PASSWORD.encode(), "--write", "--config", str(config))
    assert list(in_the_way.parent.iterdir()) == [in_the_way]


def test_there_must_be_a_place_to_write_to(tmp_path: Path) -> None:
    """Without a folder of secrets in the settings nothing is written."""
    (tmp_path / "orrery.toml").write_text("")
    with pytest.raises(Invalid, match="no place to write to"):
        hashed(PASSWORD.encode(), "--write", "--config", str(tmp_path / "orrery.toml"))

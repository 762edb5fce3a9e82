"""A start that fails ends with one sentence: 2 where its settings are wrong, 1 where something is broken."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from orrery.adapters.sqlite import create
from tests.support.ports import free_ports
from tests.support.program import run_orrery

SETTINGS = """\
mode = "sandbox"
[store]
path = "orrery.db"
[secrets]
directory = "secrets"
[checkout]
"""

Prepared = Callable[[Path], str]
"""Breaks something in the folder of a deployment, and returns more of its settings, the first for the checkout."""


def in_settings(more: str) -> Prepared:
    """Add to the settings."""
    return lambda _: more


def in_secret(name: str, text: str) -> Prepared:
    """Write a file of secrets."""

    def prepare(folder: Path) -> str:
        (folder / "secrets" / name).write_text(text)
        return ""

    return prepare


def without_store(folder: Path) -> str:
    """Remove the store."""
    (folder / "orrery.db").unlink()
    return ""


def with_odd_store(folder: Path) -> str:
    """Put something else in the place of the store."""
    (folder / "orrery.db").write_bytes(b"no store at all " * 512)
    return ""


def with_newer_store(folder: Path) -> str:
    """Let a newer release have opened the store."""
    with closing(sqlite3.connect(folder / "orrery.db", isolation_level=None)) as store:
        store.execute("PRAGMA user_version = 99")
    return ""


def without_secrets(folder: Path) -> str:
    """Remove the folder of the secrets."""
    (folder / "secrets").rmdir()
    return ""


STARTS: dict[str, tuple[Prepared, int, str]] = {
    "unknown key": (in_settings('three_d_sekure = "automatic"'), 2, "three_d_sekure"),
    "forbidden value": (in_settings('three_d_secure = "any"'), 2, "Automatic 3-D Secure must stay on"),
    "not TOML": (in_settings("x = ["), 2, "is not valid TOML"),
    "unknown secret": (in_secret("processor_api_kee", "sk_test_orrery_sandbox"), 2, "processor_api_kee"),
    "secret of two lines": (
        in_secret("push_token", "sk_one\nsk_two\n"),
        2,
        "push_token has more than one line",
    ),
    "live key": (in_secret("processor_api_key", "sk_live_orrery_sandbox"), 2, "processor_api_key is a live key"),
    "no folder of secrets": (without_secrets, 2, "secrets cannot be read"),
    "no certificates": (in_settings('[tls]\nca_file = "gone.pem"'), 2, "gone.pem is not there"),
    "no store": (without_store, 2, "There is no store at"),
    "another file": (with_odd_store, 1, "orrery.db is damaged or no store at all"),
    "store of a newer release": (with_newer_store, 1, "has schema version 99, and this release reads 1"),
    "address of another machine": (in_settings('[server]\nhost = "203.0.113.9"'), 1, "cannot be listened on"),
}


@pytest.mark.parametrize("start", STARTS)
def test_a_start_that_fails_ends_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    """Nothing else is printed, no secret among it, and the exit code is that of the kind of fault."""
    prepare, code, sentence = STARTS[start]
    for name, port in zip(("PORT", "PRIVATE_PORT"), free_ports(2), strict=True):
        monkeypatch.setenv(f"ORRERY_SERVER__{name}", str(port))
    (tmp_path / "secrets").mkdir(mode=0o700)
    create(tmp_path / "orrery.db")
    more = prepare(tmp_path)
    (tmp_path / "orrery.toml").write_text(SETTINGS + more)
    came = run_orrery("serve", "--config", str(tmp_path / "orrery.toml"))
    assert (came.returncode, came.stdout) == (code, ""), came.stderr
    assert sentence in came.stderr
    assert len(came.stderr.splitlines()) == 1, came.stderr
    assert "sk_" not in came.stderr

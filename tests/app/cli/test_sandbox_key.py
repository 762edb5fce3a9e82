"""The service-account key that `orrery sandbox` makes, keeps, or is given."""

import stat
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from orrery.app.cli.sandbox import command, stored_key
from orrery.sandbox.analytics.access import CLIENT_EMAIL, config_of, service_account_key, token_url_of


def test_a_key_is_made_for_its_owner_only(tmp_path: Path) -> None:
    """A key that is missing is made, where its owner alone can read it."""
    file = tmp_path / "data" / "key.json"
    assert token_url_of(stored_key(file, 8090)) == "http://127.0.0.1:8090/analytics/token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_key_is_kept(tmp_path: Path) -> None:
    """A key for the same port is the same at the next start; another port has another one."""
    file = tmp_path / "key.json"
    first = stored_key(file, 8090)
    assert stored_key(file, 8090) == first
    assert stored_key(file, 8091) != first
    assert file.read_text() == stored_key(file, 8091)


def test_what_is_no_key_is_replaced(tmp_path: Path) -> None:
    """A file of ours that holds no key any more is written anew."""
    file = tmp_path / "key.json"
    file.write_text("{")
    assert token_url_of(stored_key(file, 1)) is not None


def test_every_key_is_another_one() -> None:
    """No two keys are the same, and the provider knows the public half only."""
    one, other = service_account_key("http://127.0.0.1:1/"), service_account_key("http://127.0.0.1:1/")
    assert one != other
    config = config_of(one, "5")
    assert (config.property_id, config.client_email) == ("5", CLIENT_EMAIL)
    assert "PUBLIC KEY" in config.public_key
    assert config.public_key not in repr(config)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"private_key": "x", "client_email": "a"}'])
def test_a_file_that_holds_no_key(tmp_path: Path, text: str) -> None:
    """A file that holds no service account's key is refused in one sentence."""
    file = tmp_path / "given.json"
    file.write_text(text)
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, ["--webhook-url", "http://127.0.0.1:1/", "--analytics-key", str(file)])
    assert result.exit_code == 2
    assert "service account" in " ".join(result.output.replace("│", " ").split())

"""Secrets are files or variables, read once, and never shown (decisions 7, 40 and 41)."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from orrery.app.settings.reader import load
from orrery.app.settings.secrets import secret_kinds
from orrery.checkout.build import plan
from orrery.checkout.module import MODULE
from tests.support.machine import MARK, SECRETS, Machine, machine_in
from tests.support.runtimes import runtime_of


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "name", ["surprise", "processor_api_key.txt", "PROCESSOR_API_KEY", "webhook_signing_secret~"]
)
def test_an_unknown_secret_file(machine: Machine, name: str) -> None:
    """A secret file that no field is named after is refused by its name."""
    machine.write(SECRETS)
    machine.secret(name, MARK)
    message = machine.refusal()
    assert name in message
    assert "webhook_signing_secret" in message


def test_hidden_files_are_no_secrets(machine: Machine) -> None:
    """Files whose names begin with a dot, as service managers and editors leave them, are passed over."""
    machine.write(SECRETS)
    machine.secret(".gitignore", "*")
    (machine.folder / "secrets" / "..data").mkdir()
    assert load()[1].values() == []


def test_a_secret_is_one_file(machine: Machine) -> None:
    """Each secret is the content of the file with its name, without the blanks around it."""
    machine.write(SECRETS)
    machine.secret("processor_api_key", " sk_live_orrery_tests\n")
    machine.secret("push_token", "push-token-of-the-tests")
    secrets = load()[1]
    assert secrets.reveal("processor_api_key") == "sk_live_orrery_tests"
    assert secrets.reveal("push_token") == "push-token-of-the-tests"
    assert secrets.reveal("mail_password") is None


@pytest.mark.parametrize("empty", ["", " ", "\n", "\n \t\n"])
def test_an_empty_secret_is_missing(machine: Machine, empty: str) -> None:
    """A secret without a value is missing, from a file and from the environment."""
    machine.write(SECRETS)
    machine.secret("processor_api_key", empty)
    machine.set(ORRERY_PUSH_TOKEN=empty)
    secrets = load()[1]
    assert (secrets.reveal("processor_api_key"), secrets.reveal("push_token"), secrets.values()) == (
        None,
        None,
        [],
    )


def test_the_environment_goes_before_the_secret_file(machine: Machine) -> None:
    """A secret in a variable replaces the file's."""
    machine.write(SECRETS)
    machine.secret("push_token", "from-the-file")
    machine.set(ORRERY_PUSH_TOKEN="from-the-environment")  # noqa: S106  a test's own text
    assert load()[1].reveal("push_token") == "from-the-environment"


def test_the_credentials_directory_is_found(machine: Machine) -> None:
    """What the service manager hands over is found without a setting."""
    machine.write("")
    place = machine.secret("push_token", "from-the-manager", "credentials")
    machine.set(CREDENTIALS_DIRECTORY=str(place))
    assert load()[1].reveal("push_token") == "from-the-manager"


def test_the_credentials_directory_wins(machine: Machine) -> None:
    """What the service manager hands over goes before the configured folder, which is not looked at."""
    machine.write(SECRETS)
    machine.secret("push_token", "from-the-folder")
    machine.secret("surprise", MARK)
    place = machine.secret("push_token", "from-the-manager", "credentials")
    machine.set(CREDENTIALS_DIRECTORY=str(place))
    assert load()[1].values() == ["from-the-manager"]


@pytest.mark.parametrize("credentials", [True, False])
def test_a_missing_secrets_folder(machine: Machine, credentials: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A folder of secrets that is named must be there."""
    machine.write(SECRETS)
    if credentials:
        machine.set(CREDENTIALS_DIRECTORY="elsewhere")
    place = "elsewhere" if credentials else machine.folder / "secrets"
    assert f"secrets directory {place} cannot be read: no such file or directory" in machine.refusal()


def test_a_secret_that_is_a_folder(machine: Machine) -> None:
    """A secret that cannot be read is refused by its name."""
    machine.write(SECRETS)
    (machine.secret("mail_password", "x") / "push_token").mkdir()
    assert "push_token cannot be read: is a directory" in machine.refusal()


def test_a_secret_that_is_no_text(machine: Machine) -> None:
    """A secret that is not UTF-8 is refused by its name, in a file and in a variable."""
    machine.write(SECRETS)
    place = machine.secret("push_token", b"\xff\xfe" + MARK.encode())
    assert "push_token cannot be read: it is not text in UTF-8" in machine.refusal()
    (place / "push_token").unlink()
    machine.set(ORRERY_PUSH_TOKEN=f"\udcff{MARK}")
    assert "push_token" in machine.refusal()


@pytest.mark.parametrize("short", ["a", "1234567", "whsec_long_enough\nshort"])
def test_a_short_secret(machine: Machine, short: str) -> None:
    """A secret that is guessed, and could not be hidden in a log, is refused by its name."""
    machine.write(SECRETS)
    machine.secret("webhook_signing_secret", short)
    message = machine.refusal()
    assert "webhook_signing_secret is shorter than 8 characters" in message
    assert "whsec" not in message


def test_a_password_of_several_words(machine: Machine) -> None:
    """A password may hold blanks, as the groups of four that mail services hand out."""
    machine.write(SECRETS)
    machine.secret("mail_password", "abcd efgh ijkl mnop\n")
    assert load()[1].reveal("mail_password") == "abcd efgh ijkl mnop"


def test_several_service_tokens(machine: Machine) -> None:
    """During a rotation there is one token a line; each holds, and each is hidden in logs."""
    machine.write(SECRETS)
    machine.secret("access_service_token", "\nold-token-of-tests \n\n  new-token-of-tests\n")
    settings, secrets = load()
    assert plan(runtime_of(MODULE, settings, secrets)).service_tokens == [
        b"old-token-of-tests",
        b"new-token-of-tests",
    ]
    assert {"old-token-of-tests", "new-token-of-tests"} <= {*secrets.values()}


def test_several_signing_secrets(machine: Machine) -> None:
    """During a rotation there is one signing secret a line; each is checked with, and each is hidden in logs."""
    machine.write(SECRETS)
    machine.secret("webhook_signing_secret", "\nwhsec_old_of_tests \n\n  whsec_new_of_tests\n")
    settings, secrets = load()
    assert plan(runtime_of(MODULE, settings, secrets)).signing_secrets == [
        b"whsec_old_of_tests",
        b"whsec_new_of_tests",
    ]
    assert secrets.values() == ["whsec_old_of_tests", "whsec_new_of_tests"]


@pytest.mark.parametrize(
    ("mode", "key", "refused"),
    [
        ("live", "sk_test_orrery", "a test key, but the mode is live"),
        ("live", "rk_test_orrery", "a test key, but the mode is live"),
        ("sandbox", "sk_live_orrery", "a live key, but the mode is sandbox"),
        ("test", "rk_live_orrery", "a live key, but the mode is test"),
    ],
)
def test_the_key_fits_the_mode(machine: Machine, mode: str, key: str, refused: str) -> None:
    """A test key in live mode and a live key elsewhere stop the start (decision 41)."""
    machine.write(f'mode = "{mode}"\n{SECRETS}')
    machine.secret("processor_api_key", f"{key}_{MARK}")
    assert refused in machine.refusal()


@pytest.mark.parametrize(("mode", "key"), [("live", "rk_live_"), ("test", "sk_test_"), ("sandbox", "sk_test_")])
def test_a_key_of_the_mode(machine: Machine, mode: str, key: str) -> None:
    """A live key sells in live mode, a test key elsewhere."""
    machine.write(f'mode = "{mode}"')
    machine.set(ORRERY_PROCESSOR_API_KEY=f"{key}orrery")
    assert load()[0].mode == mode


def test_no_secret_is_printed(machine: Machine) -> None:
    """No way of printing settings or secrets shows a secret's value."""
    machine.write("")
    for name in secret_kinds("site"):
        begins = {"processor_api_key": "sk_live_", "webhook_signing_secret": "whsec_"}.get(name, "")
        machine.environment.setenv(f"ORRERY_{name.upper()}", f"{begins}{MARK}-{name}")
    settings, secrets = load()
    for shown in (settings, secrets):
        for text in (repr(shown), str(shown), f"{shown}"):
            assert MARK not in text
    assert MARK not in repr(asdict(settings))
    assert MARK not in repr(asdict(secrets))
    assert len(secrets.values()) == len(secret_kinds("site"))


def test_a_json_key_file_is_one_secret_with_many_parts(machine: Machine) -> None:
    """A service account's key file counts as one secret, and each line of its key is hidden in logs."""
    machine.write(SECRETS)
    lines = ["line-one-of-the-key", "QUJDREVGR0hJSktMTU5PUA", "c2hvcnQ="]
    pem = "\n".join(["-----BEGIN KEY-----", *lines, "-----END KEY-----", ""])
    machine.secret("analytics_service_account_key", json.dumps({"private_key": pem}, indent=2))
    secrets = load()[1]
    assert json.loads(secrets.reveal("analytics_service_account_key") or "") == {"private_key": pem}
    assert "QUJDREVGR0hJSktMTU5PUA" in secrets.values()


def test_a_file_that_cannot_be_read_is_fatal_behind_a_variable_too(machine: Machine) -> None:
    """It counts at the next start without the variable: nothing of it is passed over."""
    machine.write(SECRETS)
    machine.secret("push_token", b"\xff")
    machine.set(ORRERY_PUSH_TOKEN="from-the-environment")  # noqa: S106  a test's own text
    assert "push_token cannot be read: it is not text in UTF-8" in machine.refusal()


def test_each_secret_that_leads_to_nowhere_is_named(machine: Machine) -> None:
    """A link without a target is a secret that cannot be read, beside all else that is wrong."""
    machine.write(SECRETS)
    place = machine.secret("mail_password", "short")
    (place / "push_token").symlink_to("gone")
    said = machine.refusal()
    assert "push_token cannot be read: no such file or directory" in said
    assert "mail_password is shorter" in said


def test_the_managers_copy_goes_before_a_file_of_the_same_secret(machine: Machine) -> None:
    """In one folder, the name with the role before it counts, whichever comes first in the alphabet."""
    machine.write(SECRETS)
    for name, begins in (("access_service_token", ""), ("webhook_signing_secret", "whsec_")):
        machine.secret(name, f"{begins}of-the-file")
        machine.secret(f"site_{name}", f"{begins}of-the-copy")
    assert load()[1].values() == ["whsec_of-the-copy", "of-the-copy"]

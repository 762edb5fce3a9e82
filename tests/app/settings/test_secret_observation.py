"""How the secrets lie there now: read again, as fingerprints, after the start."""

from pathlib import Path

import pytest

from orrery.app.settings.reader import load, load_settings, load_usable
from orrery.app.settings.secret_observation import HeldSecretFiles, observe
from orrery.app.settings.secrets import secret_kinds
from orrery.secrets.fingerprints import DIRECTORY, Fingerprints, SecretObservation
from tests.support.machine import MARK, SECRETS, Machine, machine_in

KEY = "processor_api_key"
VALUE = f"sk_test_{MARK}"
FINGERPRINTS = Fingerprints.of_store(b"the tests' own store key")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine in test mode whose settings name an empty folder of secrets."""
    machine = machine_in(tmp_path, monkeypatch)
    machine.write(f'mode = "test"\n{SECRETS}')
    (tmp_path / "secrets").mkdir(mode=0o700)
    return machine


def sight() -> dict[str, SecretObservation]:
    """Return what lies there now, and see that no value of it shows."""
    found = observe(load_settings(), FINGERPRINTS)
    assert MARK not in repr(found)
    return found


def test_what_lies_there_is_what_is_held(machine: Machine) -> None:
    """A secret that was read at the start has the same fingerprint when it is looked at again."""
    for name in secret_kinds("site"):
        begins = {KEY: "sk_test_", "webhook_signing_secret": "whsec_"}.get(name, "")
        machine.secret(name, f" {begins}{MARK}-{name}\n")
    held = HeldSecretFiles(*load()).held(FINGERPRINTS)
    found = sight()
    assert {name: found[name].fingerprint for name in held} == held
    assert {found[name].state for name in held} == {"present"}


def test_nothing_is_there(machine: Machine) -> None:
    """Secrets that are nowhere are missing, and the empty folder is there."""
    del machine
    found = sight()
    assert {found[name].state for name in secret_kinds("site")} == {"missing"}
    assert (found[DIRECTORY].state, found[DIRECTORY].mode) == ("present", 0o700)


@pytest.mark.parametrize("empty", ["", " \n"])
def test_an_empty_file(machine: Machine, empty: str) -> None:
    """An empty file is told from a missing one."""
    machine.secret(KEY, empty)
    assert sight()[KEY].state == "empty"


def test_a_file_that_cannot_be_read(machine: Machine) -> None:
    """What is no readable text is a finding of its own, and the other secrets are read."""
    (machine.secret("push_token", VALUE) / KEY).mkdir()
    machine.secret("mail_password", b"\xff\xfe")
    found = sight()
    assert (found[KEY].state, found["mail_password"].state) == ("unreadable", "unreadable")
    assert found["push_token"].state == "present"
    assert found[DIRECTORY].state == "present"


def test_the_folder_is_gone(machine: Machine) -> None:
    """Without the folder nothing can be said about the secrets in it."""
    (machine.folder / "secrets").rmdir()
    found = sight()
    assert (found[KEY].state, found[DIRECTORY].state) == ("unknown", "unreadable")


def test_a_variable_goes_first(machine: Machine) -> None:
    """A variable is seen before the file, as at the start; an empty one is an empty secret."""
    machine.secret(KEY, VALUE)
    machine.set(ORRERY_PROCESSOR_API_KEY="", ORRERY_PUSH_TOKEN=f"\udcff{MARK}")
    found = sight()
    assert found[KEY] == SecretObservation("empty", "", "environment")
    assert found["push_token"].state == "unreadable"


def test_the_mode_of_a_file(machine: Machine) -> None:
    """A file's rights are seen."""
    (machine.secret(KEY, VALUE) / KEY).chmod(0o640)
    assert sight()[KEY].mode == 0o640


def test_the_folder_behind_the_managers_copies(machine: Machine) -> None:
    """Where a service manager hands over copies, the folder tells what the next start will get."""
    copies = machine.secret(KEY, VALUE, "credentials")
    machine.set(CREDENTIALS_DIRECTORY=str(copies))
    assert sight()[KEY].place == "copy"
    machine.secret(KEY, f"{VALUE}-next")
    found = sight()[KEY]
    assert (found.place, found.fingerprint) == ("directory", FINGERPRINTS(KEY, f"{VALUE}-next"))
    assert load()[1].reveal(KEY) == VALUE


def test_the_managers_copies_alone(machine: Machine) -> None:
    """Where only the copies can be read, they are what is looked at, and the folder is said to be unreadable."""
    (machine.folder / "secrets").rmdir()
    machine.set(CREDENTIALS_DIRECTORY=str(machine.secret(KEY, VALUE, "credentials")))
    found = sight()
    assert (found[KEY].place, found[DIRECTORY].state) == ("credentials", "unreadable")


@pytest.mark.parametrize("value", [f"pk_test_{MARK}", f"{VALUE}\n{VALUE}"])
def test_what_the_next_copies_stop_at(machine: Machine, value: str) -> None:
    """A folder whose copies would stop the next start is seen while the old copies are well."""
    machine.set(CREDENTIALS_DIRECTORY=str(machine.secret(KEY, VALUE, "credentials")))
    machine.secret("surprise", "of no copy")
    assert sight()[DIRECTORY].state == "present"
    machine.secret(KEY, value)
    assert sight()[DIRECTORY].state == "refused"


@pytest.mark.parametrize(("name", "value"), [("surprise", "x"), (KEY, f"sk_live_{MARK}"), ("push_token", "short")])
def test_what_the_next_start_stops_at(machine: Machine, name: str, value: str) -> None:
    """What would stop the next start is seen while the service still runs."""
    machine.secret(name, value)
    assert sight()[DIRECTORY].state == "refused"


def test_the_order_of_blanks_does_not_count(machine: Machine) -> None:
    """Signing secrets have the same fingerprint however their lines are set apart."""
    machine.secret("webhook_signing_secret", "whsec_orrery_one\n\n  whsec_orrery_two\n")
    one = sight()["webhook_signing_secret"]
    machine.secret("webhook_signing_secret", "whsec_orrery_one whsec_orrery_two")
    assert sight()["webhook_signing_secret"] == one


def test_what_can_be_used_is_used(machine: Machine) -> None:
    """For an examination, secrets that cannot be used are named with the reason, and the others are read."""
    machine.secret(KEY, f"sk_live_{MARK}")
    machine.secret("push_token", "short")
    (machine.secret("tracker_token", MARK) / "mail_password").mkdir()
    machine.secret("surprise", MARK)
    settings, secrets = load_usable()
    troubles = secrets.troubles
    assert (settings.mode, secrets.reveal("tracker_token"), secrets.reveal(KEY)) == ("test", MARK, None)
    assert sorted(troubles) == ["", "mail_password", KEY, "push_token"]
    assert "surprise" in troubles[""]
    assert "live key" in troubles[KEY]
    assert "shorter than 8" in troubles["push_token"]
    assert "cannot be read" in troubles["mail_password"]
    assert MARK not in repr(troubles)


def test_all_can_be_used(machine: Machine) -> None:
    """Where nothing is wrong, the examined secrets are those of the start."""
    machine.secret(KEY, VALUE)
    machine.set(ORRERY_PUSH_TOKEN=MARK)
    _, secrets = load_usable()
    assert (secrets.troubles, secrets) == ({}, load()[1])

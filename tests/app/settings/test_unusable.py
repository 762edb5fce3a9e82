"""What a person puts into the wrong place is refused at the start, by the secret's name."""

from pathlib import Path

import pytest

from orrery.app.settings.reader import load, load_usable
from tests.support.machine import MARK, SECRETS, Machine, machine_in
from tests.support.tables import each_case

LETTERS = "0x5eedmarked"
LIVE_KEY = f"sk_live_{LETTERS}"
SIGNING = f"whsec_{LETTERS}"
TOKENS = ("access_service_token", "push_token", "tracker_token", "admin_password_hash")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine in live mode, with a folder of secrets."""
    machine = machine_in(tmp_path, monkeypatch)
    machine.write(SECRETS)
    return machine


def see_refused(machine: Machine, name: str, value: str, sentence: str) -> None:
    """See start and examination refuse the secret in the same sentence, which holds no value."""
    machine.secret(name, value)
    said = machine.refusal()
    assert sentence in said
    assert name in said
    assert LETTERS not in said
    _, usable = load_usable()
    assert (usable.troubles, usable.reveal(name)) == ({name: said}, None)


@each_case(
    ("value", "sentence"),
    [
        (f"pk_live_{LETTERS}", "is a publishable key (pk_…): put a secret key (sk_…) or a restricted one"),
        (f"pk_test_{LETTERS}", "is a publishable key"),
        (SIGNING, "is a webhook signing secret (whsec_…)"),
        (f"sk_test_{LETTERS}", "is a test key, but the mode is live"),
        (f"sk_org_test_{LETTERS}", "is a test key, but the mode is live"),
        (f"{LIVE_KEY}\n{LIVE_KEY}", "more than one line"),
        (f"# ours\n{LIVE_KEY}", "more than one line"),
        (f"{LIVE_KEY}\r{LIVE_KEY}", "more than one line"),
        (f"{LIVE_KEY} {LIVE_KEY}", "white space inside"),
        (f"Bearer {LIVE_KEY}", "white space inside"),
        (f'"{LIVE_KEY}"', "is in quotes"),
        (f"'{LIVE_KEY}", "is in quotes"),
        (f"\u201c{LIVE_KEY}\u201d", "is in quotes"),
        (f"\ufeff{LIVE_KEY}", "an invisible character"),
        (f"{LIVE_KEY}\u200b", "an invisible character"),
        (f"KEY={LIVE_KEY}", "is no API key of the processor"),
        (f"acct_{LETTERS}", "is no API key of the processor"),
    ],
)
def test_what_is_no_api_key(machine: Machine, value: str, sentence: str) -> None:
    """What is no secret key of the mode, alone and whole, is refused."""
    see_refused(machine, "processor_api_key", value, sentence)


@each_case(
    ("value", "sentence"),
    [
        (LIVE_KEY, "holds an API key of the processor: put the endpoint's signing secret (whsec_…) there"),
        (f"{SIGNING}\nrk_live_{LETTERS}", "holds an API key of the processor"),
        (f"pk_live_{LETTERS}", "holds a publishable key"),
        (f"we_{LETTERS}", "A line of webhook_signing_secret is no signing secret"),
        (f"{SIGNING}\n{LETTERS}", "A line of webhook_signing_secret is no signing secret"),
        (f'{SIGNING}\n"{SIGNING}"', "is in quotes"),
        (f"\ufeff{SIGNING}", "an invisible character"),
    ],
)
def test_what_is_no_signing_secret(machine: Machine, value: str, sentence: str) -> None:
    """Each signing secret, of which there may be several, is one."""
    see_refused(machine, "webhook_signing_secret", value, sentence)


@pytest.mark.parametrize("name", [name for name in TOKENS if name != "access_service_token"])
@pytest.mark.parametrize("value", [f"{LETTERS}\n{LETTERS}", f"{LETTERS}\n-"])
def test_what_has_more_than_one_line(machine: Machine, name: str, value: str) -> None:
    """A token that we send is one; of those that we take, several may hold."""
    see_refused(machine, name, value, "more than one line")


def test_each_service_token_is_one(machine: Machine) -> None:
    """Each line is held to what one token is held to."""
    see_refused(machine, "access_service_token", f"{LETTERS}\n{LIVE_KEY}", "is an API key of the processor")


@pytest.mark.parametrize("name", TOKENS)
@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (f"{LETTERS}  -", "white space inside"),
        (f"{LETTERS}\u00a0{LETTERS}", "white space inside"),
        (f'"{LETTERS}"', "is in quotes"),
        (f"\ufeff{LETTERS}", "an invisible character"),
        (LIVE_KEY, "is an API key of the processor: put the right value there"),
        (SIGNING, "is a webhook signing secret"),
    ],
)
def test_what_is_no_single_value(machine: Machine, name: str, value: str, sentence: str) -> None:
    """A token is one value, and none that belongs elsewhere: it would be sent to somebody else."""
    see_refused(machine, name, value, sentence)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (f"{LETTERS}\n{LETTERS}", "more than one line"),
        (f"\ufeff{LETTERS}", "an invisible character"),
        (LIVE_KEY, "is an API key of the processor"),
    ],
)
def test_what_is_no_mail_password(machine: Machine, value: str, sentence: str) -> None:
    """A mail password is one line that belongs nowhere else."""
    see_refused(machine, "mail_password", value, sentence)


@each_case(
    ("name", "value"),
    [
        ("processor_api_key", f"\n {LIVE_KEY}\r\n\n"),
        ("processor_api_key", f"rk_live_{LETTERS}"),
        ("processor_api_key", f"sk_org_live_{LETTERS}"),
        ("webhook_signing_secret", f"{SIGNING}/+= {SIGNING}2\n{SIGNING}3"),
        ("push_token", f"tk_{LETTERS}-._~+/="),
        ("access_service_token", f"{LETTERS}'\"{LETTERS}"),
        ("access_service_token", f"pässwort_{LETTERS}"),
        ("mail_password", f'"{LETTERS} {LETTERS}"'),
    ],
)
def test_what_is_taken(machine: Machine, name: str, value: str) -> None:
    """Blanks around a secret do not count, and what may be meant is not refused."""
    machine.secret(name, value)
    assert load()[1].reveal(name) == value.strip()


def test_a_variable_is_refused_as_a_file_is(machine: Machine) -> None:
    """What comes from the environment is held to the same."""
    machine.write("")
    machine.set(ORRERY_PROCESSOR_API_KEY=f"pk_live_{MARK}")
    assert "processor_api_key is a publishable key" in machine.refusal()

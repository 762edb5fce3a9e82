"""The former names of this release's settings and secrets, and the name nearest to a mistyped one."""

from pathlib import Path

import pytest

from orrery.app.settings.former_names import Renaming
from orrery.app.settings.reader import settings_from
from orrery.app.settings.variables import SettingsError
from orrery.runtime.module import Role
from tests.support import former_names as walk
from tests.support.machine import Machine, machine_in


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


@pytest.mark.parametrize(("role", "release"), walk.RELEASE_CASES)
def test_what_a_release_wrote_is_read(machine: Machine, role: Role, release: str) -> None:
    """In the file, in a variable for each key and for each section; each name of before is told, and no other."""
    walk.check_release(machine.folder, role, release)


@pytest.mark.parametrize(("role", "one"), walk.SETTINGS)
def test_a_former_name_leads_to_the_name_of_today(role: Role, one: Renaming) -> None:
    """A wrong value is refused, two names at once in one sentence; what is gone is passed over."""
    walk.check_setting(role, one)


@pytest.mark.parametrize(("role", "one", "source"), walk.SECRET_CASES)
def test_a_secret_of_before_is_read(machine: Machine, role: Role, one: Renaming, source: str) -> None:
    """From a file, from a service manager's copy and from a variable; twice at once it is refused by its name."""
    walk.check_secret(machine.folder, role, one, source)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\nprot = 1\n", "server.prot: there is no such key; the nearest is port."),
        ("[sever]\n", "sever: there is no such key; the nearest is server."),
        ("[server]\nqqq = 1\n", "server.qqq: there is no such key."),
        (
            "[[checkout.products]]\nvendor_slag = 1\n",
            "vendor_slag: there is no such key; the nearest is vendor_slug",
        ),
    ],
)
def test_the_nearest_key_is_named(machine: Machine, text: str, said: str) -> None:
    """A key that is none is refused with the one that may be meant, of the same table."""
    machine.write(text)
    assert said in machine.refusal()


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("ORRERY_SERVER__PROT", "; the nearest is ORRERY_SERVER__PORT."),
        ("ORRERY_PUSH_TOKN", "; the nearest is ORRERY_PUSH_TOKEN."),
        ("ORRERY_QQQQQQQQ", "secret."),
    ],
)
def test_the_nearest_variable_is_named(machine: Machine, variable: str, nearest: str) -> None:
    """The same of a variable."""
    machine.write("")
    machine.set(**{variable: "x"})
    assert machine.refusal().endswith(nearest)


def test_the_nearest_secret_is_named(machine: Machine) -> None:
    """The same of a secret's file."""
    machine.write('[secrets]\ndirectory = "secrets"\n')
    machine.secret("push_tokn", "x")
    assert machine.refusal().endswith("; the nearest is push_token.")


def test_a_mailbox_of_another_kind_has_other_keys(machine: Machine) -> None:
    """Inside a table of several kinds, too."""
    table = {"cockpit": {"mailboxes": [{"kind": "imap", "track": "B", "account": "a@b.example", "hots": "x"}]}}
    with pytest.raises(SettingsError, match="hots: there is no such key; the nearest is host"):
        settings_from(table, machine.folder, "cockpit")

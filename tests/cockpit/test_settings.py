"""The section `[cockpit]`: how a row becomes a task, and which mailboxes are listed."""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

import pytest

from orrery.app.settings.reader import SettingsError, load_settings
from orrery.cockpit.settings import CockpitSettings, ImapMailboxSettings, SampleMailboxSettings
from orrery.ports.comms.messages import Priority, Source
from tests.support.machine import MARK, Machine, machine_in
from tests.support.tables import each_case

MAILBOX = """
[[cockpit.mailboxes]]
kind = "sample"
account = "ann@corp.example"
track = "A"
folder = "drafts"
"""
IMAP = """
[[cockpit.mailboxes]]
kind = "imap"
account = "ann@lab.example"
track = "B"
host = "imap.lab.example"
"""
TABLES = [("scores", Priority), ("kinds", Source), ("buckets", Source)]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


def loaded(machine: Machine, text: str = "") -> CockpitSettings:
    """Return the section of a file with this text."""
    machine.write(text)
    return load_settings(machine.file, "cockpit")[CockpitSettings]


def refusal(machine: Machine, text: str = "") -> str:
    """Return the sentence in which a file is refused; it does not repeat the marked value."""
    with pytest.raises(SettingsError) as refused:
        loaded(machine, text)
    assert MARK not in str(refused.value)
    assert str(refused.value).endswith(".")
    return str(refused.value)


def table(settings: CockpitSettings, name: str) -> Mapping[str, object]:
    """Return one of the mappings."""
    found: Mapping[str, object] = getattr(settings, name)
    return found


@pytest.mark.parametrize(("name", "keys"), TABLES)
def test_every_key_has_a_default(name: str, keys: object, machine: Machine) -> None:
    """Whatever a row can be has a score, a kind and a bucket without any settings."""
    assert {*table(loaded(machine), name)} == {*get_args(keys)}


def test_the_more_urgent_has_the_higher_score(machine: Machine) -> None:
    """By default a high priority goes before a normal one, and that before a low one."""
    scores = loaded(machine).scores
    assert scores["high"] > scores["normal"] > scores["low"]


@each_case(("name", "keys"), TABLES)
@each_case("given", [{}, {0}, {0, 1}])
def test_what_is_left_out_has_its_default(name: str, keys: object, given: set[int], machine: Machine) -> None:
    """Each key of a table is replaced alone; the other keys, and the other tables, stay as they are."""
    default = loaded(machine)
    value: object = 7 if name == "scores" else "Other"
    changed = {key: value for place, key in enumerate(get_args(keys)) if place in given}
    lines = [f"{key} = {value!r}" for key in changed]
    settings = loaded(machine, "\n".join([f"[cockpit.{name}]", *lines]))
    assert table(settings, name) == {**table(default, name), **changed}
    for other in {"scores", "kinds", "buckets"} - {name}:
        assert table(settings, other) == table(default, other)


@each_case("name", [name for name, _ in TABLES])
@each_case("key", ["urgent", "High", "MAIL", ""])
def test_an_unknown_key_of_a_table(name: str, key: str, machine: Machine) -> None:
    """What no row can be is refused by the table's name."""
    value = 7 if name == "scores" else "'Other'"
    assert f"cockpit.{name}" in refusal(machine, f'[cockpit.{name}]\n"{key}" = {value}\n')


@each_case(
    ("name", "line", "key"),
    [
        *(("scores", f"high = {value}", "high") for value in ("-1", "101", "50.5", "'high'", f"'{MARK}'", "[]")),
        *(("kinds", f"mail = {value}", "mail") for value in ("''", "7", '"a\\n"', "' a'", "'<b>'")),
        *(("buckets", f"meeting = {value}", "meeting") for value in ('"Inbox\\n"', f"'{'x' * 41}'", "'a/b'")),
    ],
)
def test_a_value_that_a_table_cannot_have(name: str, line: str, key: str, machine: Machine) -> None:
    """A score beyond 0 to 100, and a word that is none, are refused by the full name of the key."""
    assert f"cockpit.{name}.{key}" in refusal(machine, f"[cockpit.{name}]\n{line}\n")


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("scores", "low", 0),
        ("scores", "high", 100),
        ("kinds", "mail", "Größe 2.b-c"),
        ("buckets", "mail", "x" * 40),
    ],
)
def test_values_at_the_edge(name: str, key: str, value: object, machine: Machine) -> None:
    """The least and the highest score and the longest word are taken."""
    assert table(loaded(machine, f"[cockpit.{name}]\n{key} = {value!r}\n"), name)[key] == value


def test_a_table_from_the_environment(machine: Machine) -> None:
    """A table is written as JSON, and keeps the defaults of what it leaves out, too."""
    machine.set(ORRERY_COCKPIT__SCORES='{"low": 5}', ORRERY_COCKPIT__PORT="9001")
    settings = loaded(machine)
    assert (settings.port, settings.scores) == (9001, {"high": 80, "normal": 50, "low": 5})


@pytest.mark.parametrize("value", ['{"urgent": 5}', '{"low": 101}', "[5]", ""])
def test_a_table_from_the_environment_that_is_none(value: str, machine: Machine) -> None:
    """It is held to the same, and refused by its name."""
    machine.set(ORRERY_COCKPIT__SCORES=value)
    assert "cockpit.scores" in refusal(machine)


def test_a_table_from_the_environment_that_is_no_json(machine: Machine) -> None:
    """What cannot be read is refused, saying where and how."""
    machine.set(ORRERY_COCKPIT__SCORES=MARK)
    said = refusal(machine)
    assert "ORRERY_COCKPIT" in said
    assert "JSON" in said


def test_a_mailbox(machine: Machine) -> None:
    """A relative folder begins where the settings are; the number of messages has a default."""
    (one,) = loaded(machine, MAILBOX).mailboxes
    assert isinstance(one, SampleMailboxSettings)
    assert (one.account, one.track, one.folder, one.messages) == (
        "ann@corp.example",
        "A",
        machine.folder / "drafts",
        0,
    )


@each_case(
    ("key", "value"),
    [
        ("kind", f"'{MARK}'"),
        ("track", "'C'"),
        ("account", "'ann'"),
        ("account", "'ann@'"),
        ("account", '"ann@corp.example\\n"'),
        ("account", "'a b@corp.example'"),
        ("messages", "-1"),
        ("messages", "100001"),
        ("password", f"'{MARK}'"),
    ],
)
def test_a_mailbox_that_is_none(key: str, value: str, machine: Machine) -> None:
    """What a mailbox cannot have is refused by the mailbox's place and the key."""
    lines = [line for line in MAILBOX.splitlines() if not line.startswith(f"{key} ")]
    said = refusal(machine, "\n".join([*lines, f"{key} = {value}"]))
    assert "cockpit.mailboxes.0" in said
    assert key in said


@each_case(
    ("key", "value"),
    [
        ("host", f"'{MARK}/x'"),
        ("host", "''"),
        ("port", "0"),
        ("security", "'none'"),
        ("security", "'plain'"),
        ("folders", "[]"),
        ("folders", '["IN\\nBOX"]'),
        ("drafts_folder", "''"),
        ("drafts_folder", "'INBOX.Outbox'"),
        ("days", "0"),
        ("password", f"'{MARK}'"),
    ],
)
def test_an_imap_mailbox_that_is_none(key: str, value: str, machine: Machine) -> None:
    """What a mailbox by IMAP cannot have is refused: a connection in clear to another machine, a password, …"""
    lines = [line for line in IMAP.splitlines() if not line.startswith(f"{key} ")]
    assert key in refusal(machine, "\n".join([*lines, f"{key} = {value}"]))


def test_an_imap_mailbox(machine: Machine) -> None:
    """Account, track and host are enough; without TLS it may be on this machine."""
    (one,) = loaded(machine, IMAP).mailboxes
    assert isinstance(one, ImapMailboxSettings)
    assert (one.security, one.folders, one.days) == ("tls", ("INBOX",), 30)
    assert loaded(machine, IMAP.replace("imap.lab.example", "127.0.0.1") + 'security = "none"\n').mailboxes


def test_imap_is_not_for_track_a(machine: Machine) -> None:
    """Its password has no scopes that could be refused, so it may not read what is internal (decision 36)."""
    assert "IMAP is for track B only" in refusal(machine, IMAP.replace('"B"', '"A"'))


def test_an_account_is_named_once(machine: Machine) -> None:
    """Two mailboxes of one track and account are refused, in whatever letters; on two tracks they are two."""
    twice = MAILBOX + MAILBOX.replace("ann@", "ANN@")
    assert "two mailboxes have the same track and account" in refusal(machine, twice)
    assert len(loaded(machine, twice.replace('"A"', '"B"', 1)).mailboxes) == 2
    assert len(loaded(machine, MAILBOX + MAILBOX.replace("ann@", "ben@")).mailboxes) == 2


def test_tasks_stay_here_by_default(machine: Machine) -> None:
    """No track has its tasks in To Do unless it is named with an account; the list has a name without one."""
    assert not loaded(machine).to_do.accounts
    named = loaded(machine, '[cockpit.to_do]\nB = "ann@lab.example"\n').to_do
    assert (named.accounts, named.list_name) == ({"B": "ann@lab.example"}, "Orrery")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("A", "'ann'"),
        ("A", f"'{MARK}'"),
        ("C", "'ann@corp.example'"),
        ("list_name", "''"),
        ("list_name", '"a\\nb"'),
    ],
)
def test_a_to_do_that_is_none(key: str, value: str, machine: Machine) -> None:
    """A track that there is not, an account that is no address, and a list without a name are refused."""
    assert f"cockpit.to_do.{key}" in refusal(machine, f"[cockpit.to_do]\n{key} = {value}\n")


def test_one_account_for_both_tracks(machine: Machine) -> None:
    """It would take the tasks of one track to the other: refused, in whatever letters."""
    said = refusal(machine, '[cockpit.to_do]\nA = "ann@corp.example"\nB = "Ann@corp.example"\n')
    assert "an account belongs to one track only" in said


@pytest.mark.parametrize("port", [1023, 65_536])
def test_a_port_that_is_none(port: int, machine: Machine) -> None:
    """The port is one that anybody may listen on."""
    assert "cockpit.port" in refusal(machine, f"[cockpit]\nport = {port}\n")

"""Settings in variables: how names are nested, what is JSON, and which goes first (decision record 81)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel, RootModel

from orrery.app.settings.reader import load, load_settings
from orrery.app.settings.sections import file_model, sections_of
from orrery.app.settings.tables import table_of_variables
from orrery.cockpit.settings import CockpitSettings
from orrery.errors import Invalid
from orrery.runtime.module import Role
from orrery.runtime.settings import PushSettings, ServerSettings
from tests.support.machine import MARK, SECRETS, Machine, machine_in
from tests.support.tables import each_case


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


def keys_in(section: BaseModel, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the path of every key, and its value as it stands in a file."""
    if isinstance(section, RootModel):
        yield above, section.model_dump(mode="json")
        return
    for name, value in section.model_dump(mode="json").items():
        inner = getattr(section, name)
        if isinstance(inner, BaseModel):
            yield from keys_in(inner, (*above, name))
        elif name == name.lower():  # what is in capitals is no variable's
            yield (*above, name), value


EVERY_KEY = [
    (role, path, value)
    for role in get_args(Role)
    for name, kind in sections_of(role).items()
    for path, value in keys_in(kind(), (name,))
    if value is not None
]


@each_case(("role", "path", "value"), EVERY_KEY)
def test_each_key_is_a_variable(role: Role, path: tuple[str, ...], value: object) -> None:
    """Section and key with two underscores between; a text as it is, and what is no text as JSON."""
    variable = "ORRERY_" + "__".join(path).upper()
    text = value if isinstance(value, str) else json.dumps(value)
    model = file_model(role)
    found = table_of_variables({variable: text}, role, model)
    given: object = found
    for key in path:
        assert isinstance(given, dict)
        assert list(given) == [key]
        given = given[key]
    assert given == (value if isinstance(value, list | dict) else text)
    assert model.model_validate(found) == model()


FILE = '[server]\nport = 9000\ntrusted_proxies = ["10.0.0.0/8"]\n'


@pytest.mark.parametrize(
    ("variables", "port", "private_port", "proxies"),
    [
        ({}, 9000, 8081, ("10.0.0.0/8",)),
        ({"ORRERY_SERVER__PORT": "9001"}, 9001, 8081, ("10.0.0.0/8",)),
        ({"ORRERY_SERVER__PORT": " 9001 "}, 9001, 8081, ("10.0.0.0/8",)),
        ({"ORRERY_SERVER__TRUSTED_PROXIES": "[]"}, 9000, 8081, ()),
        ({"ORRERY_SERVER": '{"private_port": 9002}'}, 9000, 9002, ("10.0.0.0/8",)),
        ({"ORRERY_SERVER": '{"port": 1}', "ORRERY_SERVER__PORT": "9001"}, 9001, 8081, ("10.0.0.0/8",)),
    ],
)
def test_what_goes_first(
    machine: Machine, variables: dict[str, str], port: int, private_port: int, proxies: tuple[str, ...]
) -> None:
    """A variable goes before the file, one key before a whole section; a list is replaced as a whole."""
    machine.write(FILE)
    machine.set(**variables)
    server = load_settings()[ServerSettings]
    assert (server.port, server.private_port, server.trusted_proxies) == (port, private_port, proxies)


def test_a_table_in_a_variable_replaces_the_keys_that_it_names(machine: Machine) -> None:
    """The others stay those of the file, as with a section."""
    machine.write("[cockpit.scores]\nhigh = 90\nlow = 10\n")
    machine.set(ORRERY_COCKPIT__SCORES='{"low": 20}')
    scores = load_settings(role="cockpit")[CockpitSettings].scores
    assert (scores["high"], scores["low"]) == (90, 20)


@pytest.mark.parametrize("text", ["", "[1]", "null", "5", '"x"', " x"])
def test_a_text_is_taken_as_it_is(machine: Machine, text: str) -> None:
    """What a text looks like does not make it something else; an empty one is a value, too."""
    machine.write('[push]\ntopic = "of-the-file"\n')
    machine.set(ORRERY_PUSH__TOPIC=text)
    assert load_settings()[PushSettings].topic == text


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("ORRERY_SERVER__PORT", "", "server.port: "),
        ("ORRERY_SERVER__PORT", "null", "server.port: "),
        ("ORRERY_SERVER__TRUSTED_PROXIES", "", "server.trusted_proxies: "),
        ("ORRERY_SERVER__TRUSTED_PROXIES", "5", "server.trusted_proxies: "),
        ("ORRERY_SERVER__TRUSTED_PROXIES", MARK, "The ORRERY_SERVER variables cannot be read: "),
        ("ORRERY_SERVER__TRUSTED_PROXIES", "10.0.0.0/8", "The ORRERY_SERVER variables cannot be read: "),
        ("ORRERY_SERVER", "", "server: "),
        ("ORRERY_SERVER", "[]", "server: "),
        ("ORRERY_SERVER", f"{{{MARK}", "The ORRERY_SERVER variables cannot be read: "),
        ("ORRERY_SERVER", f'{{"prot": "{MARK}"}}', "server.prot: "),
        ("ORRERY_MODE", "", "mode: "),
    ],
)
def test_what_cannot_be_read(machine: Machine, name: str, text: str, said: str) -> None:
    """It is refused by the key's name, or its section's, and never repeated."""
    machine.write(FILE)
    machine.set(**{name: text})
    assert said in machine.refusal()


def test_a_file_of_variables_is_not_read(machine: Machine) -> None:
    """What other programs look for as `.env` is no source of settings."""
    machine.write("")
    (machine.folder / ".env").write_text("ORRERY_SERVER__PORT=9000\nORRERY_SURPRISE=1\n")
    assert load_settings()[ServerSettings].port == 8080


@pytest.mark.parametrize("text", ["[ServerSettings]\nport = 9000\n", "MODE = 'test'\n", "[server]\nPort = 9000\n"])
def test_keys_of_the_file_are_in_small_letters(machine: Machine, text: str) -> None:
    """A name in other letters is unknown: beside the right one, one of both would be lost in silence."""
    machine.write(text)
    assert "there is no such key" in machine.refusal()


def variables_of_others(role: Role) -> dict[str, str]:
    """Return a variable for each section that a role does not have, as a whole and for a key in it."""
    own = set(sections_of(role))
    foreign = {name for other in get_args(Role) for name in sections_of(other)} - own
    return {f"ORRERY_{name.upper()}{inside}": MARK for name in foreign for inside in ("", "__NO_SUCH_KEY")}


SERVING: tuple[Role, ...] = ("site", "cockpit", "cloud")
FOREIGN: dict[Role, str] = {"site": "cockpit", "cockpit": "live", "cloud": "live"}
"""A section of another role."""


@pytest.mark.parametrize("role", SERVING)
def test_what_is_of_another_role_is_not_looked_at(machine: Machine, role: Role) -> None:
    """A variable, a section and a secret of it are passed by, whatever is in them."""
    machine.write(f"{SECRETS}[{FOREIGN[role]}]\nno_such_key = 1\n")
    foreign = "imap_passwords" if role == "site" else "webhook_signing_secret"
    machine.secret(foreign, "two\nlines")
    machine.set(**variables_of_others(role))
    settings, secrets = load(role=role)
    assert (settings.mode, secrets.troubles) == ("live", {})
    machine.set(ORRERY_SCNA="x")
    with pytest.raises(Invalid, match="ORRERY_SCNA is neither"):
        load_settings(role=role)


@pytest.mark.parametrize("role", SERVING)
@pytest.mark.parametrize(
    ("text", "secret", "said"),
    [
        ("[tls]\nca_fiel = 1\n", "", "tls.ca_fiel: there is no such key; the nearest is ca_file"),
        ("[tlsx]\n", "", "tlsx: there is no such key; the nearest is tls"),
        ("", "push_tokn", "The secret file push_tokn is none of "),
    ],
)
def test_what_is_unknown_is_refused_in_every_role(
    machine: Machine, role: Role, text: str, secret: str, said: str
) -> None:
    """An unknown key, section or secret file."""
    machine.write(f"{SECRETS}{text}")
    if secret:
        machine.secret(secret, "12345678")
    assert said in machine.refusal(role)

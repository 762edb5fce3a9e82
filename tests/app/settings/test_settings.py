"""What a deployment says, and what is refused at the start (decisions 6, 40 and 41)."""

import os
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, RootModel

from orrery.app.cli import init
from orrery.app.settings.reader import Settings, load, load_settings, settings_from
from orrery.app.settings.secrets import secret_kinds
from orrery.app.settings.sections import Unread, file_model, sections_of
from orrery.checkout.catalogue import CHANGE_RULE_3
from orrery.checkout.settings import CheckoutSettings, ProductSettings, SiteSettings, SitesSettings
from orrery.errors import Invalid
from orrery.live.settings import MonitorSettings, PageSettings
from orrery.runtime.settings import LogSettings, PushSettings, SecretFiles, ServerSettings, StoreSettings
from orrery.scanner.settings import ScanSettings
from tests.support.certificates import make_authority
from tests.support.machine import MARK, Machine, machine_in
from tests.support.tables import each_case


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return an empty folder that is the working directory."""
    return machine_in(tmp_path, monkeypatch)


PRODUCT = """
[[checkout.products]]
vendor_slug = "isc2"
cert_code = "cissp"
title = "CISSP"
price_id = "price_cissp"
"""


def test_no_key_is_needed(machine: Machine) -> None:
    """With an empty file and no secret everything has its default, and nothing is sold."""
    machine.write("")
    settings, secrets = load()
    assert (settings.mode, settings[ServerSettings].port, list(settings[CheckoutSettings].catalogue())) == (
        "live",
        8080,
        [],
    )
    assert secrets.values() == []
    assert list(machine.folder.iterdir()) == [machine.file]


def test_the_file(machine: Machine) -> None:
    """orrery.toml in the working directory is read."""
    machine.write(f'mode = "test"\n[server]\nport = 9000\n{PRODUCT}')
    settings, _ = load()
    assert (settings.mode, settings[ServerSettings].port) == ("test", 9000)
    assert [product.title for product in settings[CheckoutSettings].catalogue()] == ["CISSP"]


def test_the_environment_goes_before_the_file(machine: Machine) -> None:
    """A variable replaces the one key that it names, and leaves the rest of its section."""
    machine.write('mode = "test"\n[server]\nport = 9000\nprivate_port = 9001\n')
    machine.set(ORRERY_SERVER__PORT="9002", ORRERY_MODE="sandbox", ORRERY_LOG__LEVEL="debug")
    settings, _ = load()
    assert (settings[ServerSettings].port, settings[ServerSettings].private_port) == (9002, 9001)
    assert (settings.mode, settings[LogSettings].level) == ("sandbox", "debug")


def test_a_list_from_the_environment(machine: Machine) -> None:
    """A list is written as JSON."""
    machine.write("")
    machine.set(ORRERY_SERVER__TRUSTED_PROXIES='["10.0.0.0/8", "fd00::/8"]')
    assert load()[0][ServerSettings].trusted_proxies == ("10.0.0.0/8", "fd00::/8")


def test_a_list_that_is_no_json(machine: Machine) -> None:
    """A list that cannot be read is refused, saying where and how."""
    machine.write("")
    machine.set(ORRERY_SERVER__TRUSTED_PROXIES=MARK)
    message = machine.refusal()
    assert "ORRERY_SERVER" in message
    assert "JSON" in message


UNKNOWN_KEYS = [
    ("surprise = 1", "surprise"),
    (f'surprise = "{MARK}"', "surprise"),
    (f'[server]\nprot = "{MARK}"', "server.prot"),
    (f'[sever]\nport = "{MARK}"', "sever"),
    (f'[secrets]\nprocessor_api_key = "{MARK}"', "secrets.processor_api_key"),
    (f'processor_api_key = "{MARK}"', "processor_api_key"),
    (f'{PRODUCT}colour = "{MARK}"', "checkout.products.0.colour"),
]


@each_case(("text", "name"), UNKNOWN_KEYS)
def test_an_unknown_key(machine: Machine, text: str, name: str) -> None:
    """A key that is none is refused with its full name, and never its value."""
    machine.write(text)
    assert name in machine.refusal()


@each_case(
    "name",
    [
        "ORRERY_SURPRISE",
        "ORRERY_SERVER__PROT",
        "ORRERY_SEVER__PORT",
        "ORRERY_SERVER_PORT",
        "ORRERY_SERVER__PORT__X",
        "ORRERY_",
        "ORRERY___",
        "ORRERY_SERVER__",
        "ORRERY_PROCESSOR_API_KEYS",
        "ORRERY_CHECKOUT__PRODUCTS__0__TITLE",
        "ORRERY_CONFIGS",
        "orrery_server__port",
        "Orrery_Mode",
        "ORRERY_push_token",
    ],
)
def test_an_unknown_variable(machine: Machine, name: str) -> None:
    """A variable with our prefix that is no setting and no secret, or not in capitals, is refused by its name."""
    machine.environment.setenv(name, MARK)
    assert name in machine.refusal()


def test_other_variables_are_none_of_ours(machine: Machine) -> None:
    """Variables without our prefix are left alone."""
    machine.write("")
    machine.set(ORRERYX_PORT=MARK, SERVER__PORT=MARK, MODE=MARK)
    assert load()[0][ServerSettings].port == 8080


def leaves(model: type[BaseModel], prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key of the settings, but for the products' tables and other roles' sections."""
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel) and not issubclass(kind, RootModel):
            yield from leaves(kind, (*prefix, name))
        elif kind != Unread:
            yield (*prefix, name)


def dumped(settings: Settings) -> dict[str, Any]:
    """Return the mode and every section by its name."""
    names = {kind: name for name, kind in sections_of("site").items()}
    return {"mode": settings.mode} | {names[kind]: one.model_dump() for kind, one in settings.sections.items()}


KEYS = list(leaves(file_model("site")))
TAKES_ANY_TEXT = {
    "approvals.signing_key",
    "store.path",
    "server.host",
    "server.node",
    "server.private_host",
    "secrets.directory",
    "checkout.api_version",
    "checkout.cancel_url",
    "checkout.practice_url",
    "checkout.seller",
    "backup.directory",
    "push.topic",
    "mail.host",
    "mail.sender",
    "mail.username",
    "sandbox.clock_file",
    "monitor.file",
    "tls.ca_file",
}


@each_case("key", [".".join(key) for key in KEYS if ".".join(key) not in TAKES_ANY_TEXT])
def test_a_wrong_value_is_never_repeated(machine: Machine, key: str) -> None:
    """A value that a key cannot have is refused by the key's name, from the file and from the environment."""
    *section, name = key.split(".")
    header = f"[{'.'.join(section)}]\n" if section else ""
    machine.write(f'{header}{name} = "{MARK}"\n')
    assert (section or [name])[0] in machine.refusal()
    machine.write("")
    variable = "ORRERY_" + "__".join(key.split(".")).upper()
    machine.environment.setenv(variable, MARK)
    assert (section or [name])[0] in machine.refusal().lower()
    machine.environment.delenv(variable)


@each_case("key", [".".join(key) for key in KEYS])
def test_no_key_takes_a_table_for_a_value(machine: Machine, key: str) -> None:
    """A table where a single value belongs is refused by the key's name."""
    machine.write(f'[{key}]\nx = "{MARK}"\n')
    assert key in machine.refusal()


@each_case(
    "text",
    [
        f'[checkout]\nthree_d_secure = "{MARK}"',
        f'[checkout]\nsuccess_url = "https://{MARK}"',
        "[checkout]\npayment_method_types = []",
        f'[server]\ntrusted_proxies = ["{MARK}"]',
        f'[server]\nport = "{MARK}"',
        f'[push]\nurl = "http://{MARK}"',
        f'[push]\nurl = "http://[{MARK}"',
        f'[heartbeat]\nurl = "ftp://{MARK}"',
        f'[mail]\nhost = "{MARK}"\nsecurity = "none"',
    ],
)
def test_a_value_with_a_meaning_is_never_repeated(machine: Machine, text: str) -> None:
    """Neither our own checks nor the library's repeat what was written."""
    machine.write(text)
    assert machine.refusal()


@pytest.mark.parametrize("value", ["any", "challenge", "", "off"])
def test_3d_secure_stops_the_start(machine: Machine, value: str) -> None:
    """A forbidden value of 3-D Secure stops the start, quoting change rule 3 (decision 6)."""
    machine.write(f'[checkout]\nthree_d_secure = "{value}"')
    assert CHANGE_RULE_3.rstrip(".") in machine.refusal()


@pytest.mark.parametrize(
    "url",
    ["http://api.example", "https://", "api.example", "file:///x", "http://127.0.0.1.attacker.example", "http://"],
)
def test_secrets_travel_encrypted(machine: Machine, url: str) -> None:
    """An address that a secret is sent to is https, or on this machine."""
    machine.write(f'[checkout]\nprocessor_url = "{url}"')
    assert "https://" in machine.refusal()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8090", "http://localhost", "http://[::1]:1", "https://x.example/y"]
)
def test_encrypted_or_here(machine: Machine, url: str) -> None:
    """Any https address is taken, and http on this machine."""
    machine.write(f'[checkout]\nprocessor_url = "{url}"')
    assert load()[0][CheckoutSettings].processor_url == url


@each_case(
    "text",
    ["x", "= 1", "[server", 'mode = "live', f'mode = "{MARK}" "', "mode = live", "[a]\n[a]", "a = 1\na = 2"],
)
def test_what_is_no_toml(machine: Machine, text: str) -> None:
    """A file that is no TOML is refused with line and column, and none of its text."""
    machine.write(text)
    assert "orrery.toml is not valid TOML (at " in machine.refusal()


def test_a_file_that_is_no_text(machine: Machine) -> None:
    """A file that is not UTF-8 is refused."""
    machine.file.write_bytes(b'mode = "\xff"')
    assert "cannot be read: it is not text in UTF-8" in machine.refusal()


def test_a_file_that_is_a_folder(machine: Machine) -> None:
    """A file that cannot be read is refused with the reason."""
    machine.file.mkdir()
    assert "cannot be read: is a directory" in machine.refusal()


def test_settings_are_frozen(machine: Machine) -> None:
    """What was read once cannot be changed."""
    machine.write("")
    settings, secrets = load()
    for target, name in ((settings, "mode"), (settings, "sections"), (secrets, "_texts")):
        with pytest.raises(FrozenInstanceError):
            setattr(target, name, "x")
    with pytest.raises(ValueError, match="frozen"):
        setattr(settings[ServerSettings], "port", "x")  # noqa: B010  the type checker knows that it is frozen


def test_what_init_writes_loads_as_it_is(machine: Machine) -> None:
    """`orrery init` writes a file and a folder that load, with every default in that folder, in test mode."""
    before = os.umask(0)
    try:
        init.command(machine.folder)
    finally:
        os.umask(before)
    settings, secrets = load()
    defaults = dumped(settings_from({}, Path("/")))
    defaults["mode"] = "test"
    defaults["secrets"]["directory"] = machine.folder / "secrets"
    defaults["store"]["path"] = machine.folder / ".orrery" / "orrery.db"
    defaults["monitor"]["file"] = machine.folder / ".orrery" / "realtime-degraded.json"
    assert dumped(settings) == defaults
    assert secrets.values() == []
    assert (machine.folder / "secrets").stat().st_mode & 0o777 == 0o700


def test_what_init_writes_for_the_system_has_absolute_paths(machine: Machine) -> None:
    """In /etc/orrery, store and monitor file lie where the service may write, and the secrets beside the file."""
    machine.write(init.settings_text(Path("/etc/orrery")))
    settings = load_settings()
    assert settings[StoreSettings].path == Path("/var/lib/orrery/orrery.db")
    assert settings[MonitorSettings].file == Path("/var/lib/orrery/realtime-degraded.json")
    assert settings[SecretFiles].directory == Path("/etc/orrery/secrets")


def test_init_overwrites_nothing(machine: Machine) -> None:
    """A file that is there stays as it is."""
    machine.write("# mine")
    with pytest.raises(Invalid, match="exists already"):
        init.command(machine.folder)
    assert machine.file.read_text() == "# mine"


def told_keys(text: str) -> set[str]:
    """Return every key that the text sets or shows in a comment, with its section."""
    found: set[str] = set()
    section = ""
    for line in text.splitlines():
        bare = line.removeprefix("# ").strip()
        if bare.startswith("[") and bare.endswith("]"):
            section = bare.strip("[]") + "."
        elif " = " in bare and bare.partition(" = ")[0].isidentifier():
            found.add(section + bare.partition(" = ")[0])
    return found


def test_init_explains_every_key() -> None:
    """The file that init writes names every setting, in its section, and nothing that is none."""
    text = init.settings_text(Path("elsewhere"))
    keys = {".".join(key) for key in KEYS} - {"checkout.products", "live.pages", "sites"}
    listed = {"checkout.products": ProductSettings, "live.pages": PageSettings, "sites": SiteSettings}
    inner = {f"{name}.{key}" for name, kind in listed.items() for key in kind.model_fields}
    assert told_keys(text) == keys | inner
    for secret in secret_kinds("site"):
        assert secret in text


def test_init_explains_every_key_of_the_cloud() -> None:
    """For the role cloud, the file names its settings and its secrets, and those of no other role."""
    text = init.settings_text(Path("elsewhere"), "cloud")
    assert told_keys(text) == {".".join(key) for key in leaves(file_model("cloud"))}
    assert set(secret_kinds("cloud")) == {"gateway_ping_token", "gateway_webhook_uri"}
    for secret in secret_kinds("cloud"):
        assert secret in text


def test_init_explains_every_key_of_the_scanner() -> None:
    """For the role scan, the file names its settings and its secrets, and those of no other role."""
    text = init.settings_text(Path("elsewhere"), "scan")
    tracks = {key for key in told_keys(text) if key.startswith("tenants.")}
    assert told_keys(text) - tracks == {
        *("mode", "secrets.directory", "tls.ca_file"),
        *(f"push.{key}" for key in PushSettings.model_fields),
        *(f"scan.{key}" for key in ScanSettings.model_fields),
    }
    assert set(secret_kinds("scan")) == {"watch_list_key", "push_token"}
    for secret in secret_kinds("scan"):
        assert secret in text


def test_what_init_shows_in_comments_loads(machine: Machine) -> None:
    """With every commented line put in force the file still loads."""
    text = init.settings_text(Path("elsewhere"))
    lines = text.splitlines()
    in_force = [
        line[2:] if line.startswith("# ") and (" = " in line or line.startswith("# [[")) else line
        for line in lines
    ]
    machine.write("\n".join(line for line in in_force if line.startswith(("#", "[")) or " = " in line))
    (machine.folder / "secrets").mkdir()
    make_authority(machine.folder)
    settings, _ = load()
    assert list(settings[CheckoutSettings].catalogue(settings[SitesSettings].sites()))
    assert settings[CheckoutSettings].terms() is not None

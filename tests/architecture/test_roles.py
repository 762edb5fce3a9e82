"""Each role loads its own sections, secrets and code only (decision 40)."""

from pathlib import Path
from typing import get_args

import pytest

from orrery.adapters.sqlite import create
from orrery.app.modules import MODULES
from orrery.runtime.module import Role
from orrery.runtime.modules import RUNTIME
from orrery.scanner.watch_list import WatchList, WatchListEntry, WatchListKeys, sealed
from tests.support.package_copy import LISTING, ROOT, loaded, package_with, run_python

PLAIN = {"typer", "pydantic", "asyncio", "structlog", "importlib.metadata"}
"""What takes longer than a hook may."""

NO_SCAN = {
    *(
        "typer",
        "rich",
        "asyncio",
        "structlog",
        "stamina",
        "httpx2",
        "pydantic_settings",
        "fastapi",
        "apsw",
        "msal",
    ),
    *("orrery.app.composition", "orrery.checkout.secrets", "orrery.adapters.ntfy", "orrery.trust"),
}
KEY = "A" * 43
"""A key of a watch-list."""

NO_GUEST = {
    *(
        "fastapi",
        "starlette",
        "uvicorn",
        "pydantic_settings",
        "stripe",
        "google",
        "apsw",
        "sqlite3",
        "cryptography",
    ),
    *("orrery.app.settings", "orrery.app.composition", "orrery.app.runner"),
}
NO_COCKPIT = {"stripe", "google", "orrery.checkout.secrets", "orrery.live.secrets", "orrery.fraud.settings"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds a copy of the package with a module of each further role."""
    return package_with(tmp_path_factory.mktemp("copy"), "desk", "caller", "sieve")


@pytest.fixture
def deployment(tmp_path: Path) -> Path:
    """Return a folder with a store, and with settings and secrets of two roles."""
    create(tmp_path / "orrery.db")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "desk_token").write_text("12345678\n")
    (tmp_path / "secrets" / "webhook_signing_secret").write_text("unusable: it is not read\n")
    (tmp_path / "orrery.toml").write_text(
        '[cockpit]\nstore = "orrery.db"\n[secrets]\ndirectory = "secrets"\n'
        '[desk]\nlamp = "on"\n[live]\nno_such_key = "it is not looked at"\n'
    )
    return tmp_path


def test_a_scan_is_plain(copy: Path, tmp_path: Path) -> None:
    """A command of the role scan needs no settings, and loads the table of the modules and itself."""
    came = run_python(copy, "-c", LISTING, "sieve", "one", "forbidden", folder=tmp_path)
    assert (came.returncode, came.stdout) == (1, "2 words\n")
    assert not loaded(came) & PLAIN


def test_a_scan_with_settings_and_a_list_waits_for_little(tmp_path: Path) -> None:
    """With settings it needs pydantic, and with a list a cipher; no client, framework, event loop or store."""
    config = tmp_path / "orrery.toml"
    config.write_text('[scan]\nwatch_list = "list"\n[tenants]\n')
    (tmp_path / "list").write_bytes(
        sealed(WatchList((WatchListEntry("customer", "Northwind", "d"),)), WatchListKeys.of(KEY))
    )
    (tmp_path / "list").chmod(0o600)
    (tmp_path / "a.md").write_text("Northwind\n")
    typed = ("tenants", "scan", "a.md", "--config", str(config))
    came = run_python(ROOT / "src", "-c", LISTING, *typed, folder=tmp_path, ORRERY_WATCH_LIST_KEY=KEY)
    assert came.returncode == 1, came.stderr
    assert came.stdout.startswith("customer ")
    found = loaded(came)
    assert {"pydantic", "cryptography"} <= found
    assert not found & NO_SCAN


def test_every_command_of_the_role_scan_is_plain() -> None:
    """None of our own meets typer, either."""
    assert [
        one.name for module in MODULES for one in module.commands if one.role == "scan" and not one.plain
    ] == []


def test_a_guest_loads_no_service(copy: Path, tmp_path: Path) -> None:
    """A command of the role guest needs no settings file, and loads no settings, store, framework or vendor."""
    came = run_python(copy, "-c", LISTING, "caller", "Ann", folder=tmp_path)
    assert (came.returncode, came.stdout) == (0, "Ann calls.\n")
    assert not loaded(came) & NO_GUEST


def test_the_gateways_guest_loads_no_service(tmp_path: Path) -> None:
    """The same is true of a command that stands below a group of another role."""
    typed = ("gateway", "guest", "plan", "--unit", "gateway", "--root", str(tmp_path))
    came = run_python(ROOT / "src", "-c", LISTING, *typed, folder=tmp_path)
    assert came.returncode == 1
    assert "/usr/local/sbin/gateway-recover.sh" in came.stdout
    assert "orrery.gateway.guest.host" in loaded(came)
    assert not loaded(came) & NO_GUEST


def test_a_cockpit_loads_its_own_sections_and_secrets(copy: Path, deployment: Path) -> None:
    """Another role's section and secret are known by their names, not looked at and not loaded."""
    came = run_python(copy, "-c", LISTING, "desk", folder=deployment)
    assert came.stderr.startswith("The lamp is on; 8 characters of a token."), came.stderr
    found = loaded(came)
    assert not found & NO_COCKPIT
    foreign = {one for one in found for room in ("checkout", "live") if one.startswith(f"orrery.{room}.")}
    assert foreign == {"orrery.checkout.module", "orrery.live.module"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("orrery.toml", "[desk]\nlamb = 1\n", "desk.lamb: there is no such key; the nearest is lamp"),
        ("orrery.toml", "[desc]\n", "desc: there is no such key; the nearest is desk"),
        ("secrets/desk_tokn", "12345678", "The secret file desk_tokn is none of "),
    ],
)
def test_what_is_unknown_stays_fatal(copy: Path, deployment: Path, name: str, text: str, said: str) -> None:
    """An unknown key, section or secret file is refused in every role."""
    (deployment / name).write_text(text if "secrets" in name else f'{text}[secrets]\ndirectory = "secrets"\n')
    came = run_python(copy, "-m", "orrery", "desk", folder=deployment)
    assert came.returncode == 2
    assert said in came.stderr


def test_a_unit_of_a_role_hands_over_its_secrets(copy: Path, deployment: Path) -> None:
    """The files of a cockpit's credentials have that role's name before their own."""
    credentials = deployment / "credentials"
    credentials.mkdir()
    (credentials / "cockpit_desk_token").write_text("123456789\n")
    came = run_python(copy, "-m", "orrery", "desk", folder=deployment, CREDENTIALS_DIRECTORY=str(credentials))
    assert came.stderr == "The lamp is on; 9 characters of a token.\n"


def test_what_each_role_reads_of_the_runtime() -> None:
    """The site reads every section; the cockpit says itself where its store is; guests read none."""
    shared = {"log", "secrets", "tls"}
    read = {role: {one.name for one in RUNTIME.sections if role in one.roles} for role in get_args(Role)}
    assert read == {
        "site": {*shared, "store", "sandbox", "server"},
        "cockpit": {*shared, "sandbox"},
        "cloud": {*shared, "sandbox"},
        "guest": set(),
        "scan": {"secrets", "tls"},
    }


def test_they_keep_the_import_rules(copy: Path) -> None:
    """The further modules are domains like any other."""
    found = run_python(copy, ROOT / "tools" / "import_rules.py", copy)
    assert " 0 broken" in found.stdout, found.stdout + found.stderr

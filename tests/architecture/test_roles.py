"""Each role loads its own sections, secrets and code only (decision 40)."""

from pathlib import Path
from typing import get_args

from orrery.app.modules import MODULES
from orrery.runtime.module import Role
from orrery.runtime.modules import RUNTIME
from orrery.scanner.watch_list import WatchList, WatchListEntry, WatchListKeys, sealed
from tests.support.package_copy import LISTING, ROOT, loaded, run_python

PLAIN = {"typer", "pydantic", "asyncio", "orrery.logs", "importlib.metadata"}
"""What takes longer than a hook may."""

NO_SCAN = {
    *(
        "typer",
        "rich",
        "asyncio",
        "orrery.logs",
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


def test_a_scan_is_plain(tmp_path: Path) -> None:
    """A command of the role scan needs no settings, and loads the table of the modules and itself."""
    (tmp_path / "a.md").write_text("Nothing.\n")
    came = run_python(ROOT / "src", "-c", LISTING, "tenants", "scan", "a.md", folder=tmp_path, HOME=str(tmp_path))
    assert came.returncode == 0, came.stderr
    found = loaded(came)
    assert "orrery.scanner.scanning" in found
    assert not found & PLAIN


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


def test_a_guest_loads_no_service(tmp_path: Path) -> None:
    """A command of the role guest needs no settings file, and loads no settings, store, framework or vendor."""
    typed = ("gateway", "guest", "plan", "--unit", "gateway", "--root", str(tmp_path))
    came = run_python(ROOT / "src", "-c", LISTING, *typed, folder=tmp_path)
    assert came.returncode == 1
    assert "/usr/local/sbin/gateway-recover.sh" in came.stdout
    assert "orrery.gateway.guest.host" in loaded(came)
    assert not loaded(came) & NO_GUEST


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

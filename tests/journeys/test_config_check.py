"""`orrery config check` says before a restart what the start would say."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.app.cli.config import group
from orrery.app.cli.listening import listen
from orrery.app.composition import opened
from orrery.app.settings.reader import load
from orrery.errors import OrreryError
from orrery.ports.store import Put
from orrery.runtime.settings import ServerSettings
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]

SETTINGS = """\
mode = "test"

[server]
port = {port}
private_port = {private}

[store]
path = "orrery.db"

[secrets]
directory = "secrets"

[checkout]
success_url = "https://shop.example/success?session_id={{CHECKOUT_SESSION_ID}}"
cancel_url = "https://shop.example/cancelled"

[[checkout.products]]
vendor_slug = "northwind"
cert_code = "cloud-navigator"
title = "Cloud Navigator"
price_id = "price_1"
"""

SECRETS = {
    "processor_api_key": "sk_test_of_the_tests",
    "webhook_signing_secret": "whsec_of_the_tests",
    "access_service_token": "a token of the tests for the access check".replace(" ", "-"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a deployment with which nothing is wrong."""
    port, private = free_ports(2)
    (tmp_path / "orrery.toml").write_text(SETTINGS.format(port=port, private=private))
    (tmp_path / "secrets").mkdir(mode=0o700)
    for name, value in SECRETS.items():
        (tmp_path / "secrets" / name).write_text(value)
    create(tmp_path / "orrery.db")
    return tmp_path


@dataclass(frozen=True)
class Checked:
    """What the command says."""

    code: int
    rows: dict[str, dict[str, Any]]
    whys: str
    """The sentences of what is broken."""


def check(folder: Path, *options: str) -> Result:
    """Type the command."""
    return CliRunner().invoke(group, ["check", "--config", str(folder / "orrery.toml"), *options])


def checked(folder: Path) -> Checked:
    """Return what the command says to a program."""
    done = check(folder, "--json")
    rows = json.loads(done.stdout)
    broken = " ".join(one["why"] for one in rows if one["state"] == "broken")
    return Checked(done.exit_code, {one["part"]: one for one in rows}, broken)


async def start(folder: Path) -> None:
    """Do what `orrery serve` does until it serves."""
    settings, secrets = load(folder / "orrery.toml")
    server = settings[ServerSettings]
    for place in ((server.host, server.port), (server.private_host, server.private_port)):
        listen(*place).close()
    async with opened(settings, secrets):
        pass


def replace(old: str, new: str) -> Callable[[Path], object]:
    """Return a change of the settings."""

    def change(folder: Path) -> None:
        file = folder / "orrery.toml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    return change


def secret(name: str, value: str) -> Callable[[Path], object]:
    """Return a change of a secret."""
    return lambda folder: (folder / "secrets" / name).write_text(value)


async def empty(file: Path) -> None:
    """Leave a store that gave out versions and has no key, as deleting its rows by hand does."""
    store = await SqliteStore.open(file, SystemClock())
    await store.commit([Put("any", b"")])
    await store.close()


REFUSED: dict[str, Callable[[Path], object]] = {
    "an unknown key": replace("[checkout]\n", '[checkout]\ncolour = "red"\n'),
    "an unknown section": replace("[checkout]\n", "[chekcout]\n[checkout]\n"),
    "another type": replace('title = "Cloud Navigator"', "title = 5"),
    "a forbidden value": replace("[checkout]\n", '[checkout]\nthree_d_secure = "any"\n'),
    "no placeholder": replace("{CHECKOUT_SESSION_ID}", ""),
    "no methods": replace("[checkout]\n", "[checkout]\npayment_method_types = []\n"),
    "no TOML": replace("[checkout]\n", "[checkout\n"),
    "no such user": replace('path = "orrery.db"', 'path = "~nobody-of-that-name/orrery.db"'),
    "no certificates": replace("[checkout]\n", '[tls]\nca_file = "missing.pem"\n[checkout]\n'),
    "no file": lambda folder: (folder / "orrery.toml").unlink(),
    "anybody's file": lambda folder: (folder / "orrery.toml").chmod(0o666),
    "anybody's secrets": lambda folder: (folder / "secrets").chmod(0o777),
    "anybody's secret": lambda folder: (folder / "secrets" / "processor_api_key").chmod(0o666),
    "an unknown secret": secret("procesor_api_key", "sk_test_x"),
    "a key of the other mode": secret("processor_api_key", "sk_live_x"),
    "a publishable key": secret("processor_api_key", "pk_test_x"),
    "a secret in quotes": secret("webhook_signing_secret", '"whsec_x"'),
    "a host of another machine": replace("[server]\n", '[server]\nhost = "203.0.113.1"\n'),
    "no store": lambda folder: (folder / "orrery.db").unlink(),
    "an emptied store": lambda folder: asyncio.run(empty(folder / "orrery.db")),
    "another file": lambda folder: (folder / "orrery.db").write_bytes(b"no store" * 1000),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_refuses_the_start_is_said_before(folder: Path, case: str) -> None:
    """The check exits 2 and has the sentence of the start."""
    REFUSED[case](folder)
    with pytest.raises(OrreryError) as refused:
        asyncio.run(start(folder))
    found = checked(folder)
    assert (found.code, str(refused.value) in found.whys) == (2, True), found


def test_everything_is_named(folder: Path) -> None:
    """Of several mistakes each is named, by the check and by the start."""
    cases = (
        "an unknown key",
        "another type",
        "an unknown secret",
        "a key of the other mode",
        "a secret in quotes",
    )
    for case in cases:
        REFUSED[case](folder)
    with pytest.raises(OrreryError) as refused:
        asyncio.run(start(folder))
    found = checked(folder)
    for words in ("checkout.colour", "products.0.title", "procesor_api_key", "live key", "in quotes"):
        assert words in found.whys
        assert words in str(refused.value)
    assert "The service would not start." in check(folder).output


def test_what_starts(folder: Path) -> None:
    """It starts as the check says, which writes nothing; a port in use is the running service's."""
    before = (folder / "orrery.db").read_bytes()
    settings, _ = load(folder / "orrery.toml")
    with listen("127.0.0.1", settings[ServerSettings].port):
        done = check(folder)
    assert (done.exit_code, "The service would start." in done.output) == (0, True), done.output
    assert (folder / "orrery.db").read_bytes() == before
    asyncio.run(start(folder))


NOT_AS_WRITTEN: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a slip": (
        replace('price_id = "price_1"', 'trust_copy = "Questions.No more."'),
        "product northwind",
        "is not",
    ),
    "no price": (replace('price_id = "price_1"', ""), "checkout prices", "Without a price"),
    "no addresses": (replace("cancel_url", "# cancel_url"), "checkout addresses", "is missing. Nothing is sold."),
    "no key": (lambda folder: (folder / "secrets" / "processor_api_key").unlink(), "processor key", "missing"),
}


@pytest.mark.parametrize("case", NOT_AS_WRITTEN)
def test_what_would_not_be_sold(folder: Path, case: str) -> None:
    """The check exits 1 and names it; the service would start."""
    change, part, why = NOT_AS_WRITTEN[case]
    change(folder)
    asyncio.run(start(folder))
    found = checked(folder)
    (row,) = [one for name, one in found.rows.items() if name.startswith(part)]
    assert (found.code, row["state"], why in row["why"]) == (1, "broken", True)


def test_what_is_only_said(folder: Path) -> None:
    """A code that two vendors share is said, and is no mistake."""
    other = (
        '[[checkout.products]]\nvendor_slug = "isc2"\ncert_code = "cloud-navigator"\ntitle = "B"\nprice_id = "p"\n'
    )
    with (folder / "orrery.toml").open("a") as file:
        file.write(other)
    found = checked(folder)
    assert found.code == 0
    assert found.rows["catalogue"]["why"] == "cloud-navigator is sold by northwind and isc2."


def test_mistakes_are_named_without_a_store(folder: Path) -> None:
    """Without a store the products' mistakes are named all the same, and that receipts are not known."""
    NOT_AS_WRITTEN["a slip"][0](folder)
    REFUSED["no store"](folder)
    found = checked(folder)
    assert found.code == 2
    assert "Which parameters were accepted is not known." in found.whys
    assert "trust_copy holds 'Questions.No'" in found.whys


def test_no_unit_waits_for_the_check() -> None:
    """A unit starts the service whatever the check says: what is well enough to start must start."""
    units = [*(ROOT / "deploy" / "systemd").iterdir()]
    assert units
    assert [unit.name for unit in units if "config check" in unit.read_text()] == []

"""What each command and each role loads of other people's packages and of the domains (decision 57).

To import the web framework is half of what a command does, and a vendor's library a tenth.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel

from orrery.adapters.sqlite import create
from orrery.adapters.stripe.objects import Lenient
from orrery.app.modules import MODULES
from orrery.record import Record
from orrery.runtime.runtime import needed_by
from tests.support.package_copy import ROOT, SOURCE, run_python
from tools.import_rules import domains

DOMAINS = {*domains(SOURCE)}
DATA = {name for one in DOMAINS for name in (f"orrery.{one}", f"orrery.{one}.module")}
"""What each domain is known by, without its code."""

BY_THE_ROOT = {"cockpit": {"tenants"}}
"""What a domain's adapters take from another: which accounts a track has decides whose mailboxes there are."""

FRAMEWORK = {"fastapi", "starlette", "uvicorn", "prometheus_client"}
STORE = {"apsw", "httpx2"}
"""What is needed to open a store and to compose modules over it."""

DEAR = {
    *(*FRAMEWORK, *STORE, "pydantic", "rich", "typer", "uvloop", "httptools", "jinja2", "stamina"),
    *("stripe", "requests", "urllib3", "google", "msal", "jwt", "cryptography", "azure", "aiosmtplib", "aiosmtpd"),
    *("publicsuffixlist", "selectolax", "pypdf"),
}
"""The packages that take longest to import, our own dependencies among them."""

CONSOLE = {"typer", "rich", "pydantic"}
"""What any command has that shows a table of what it has read."""

SERVICES = CONSOLE | STORE
SITE = SERVICES | {"publicsuffixlist"}

COMMANDS = {
    **dict.fromkeys(("gateway guest", "gateway drill", "gateway simulate"), CONSOLE),
    **dict.fromkeys(("gateway cloud", "gateway start", "gateway timeline"), CONSOLE),
    "cockpit": {"typer"},
    "init": CONSOLE | {"apsw"},
    **dict.fromkeys(("setup", "secrets reload"), SERVICES | {"stamina"}),
    **dict.fromkeys(("ack", "admin", "nodes", "pause"), CONSOLE),
    **dict.fromkeys(("store", "cockpit store", "privacy", "cockpit privacy"), CONSOLE | {"apsw"}),
    **dict.fromkeys(("config", "doctor", "notifications", "restore"), SERVICES),
    **dict.fromkeys(("backup", "cockpit backup"), CONSOLE | {"apsw"}),
    "cockpit restore": SERVICES,
    "role site": SITE,
    **dict.fromkeys(
        ("access", "checkout", "sales", "site", "processor", "fraud", "gateway", "gateway pings"),
        SERVICES | {"publicsuffixlist"},
    ),
    **dict.fromkeys(("today", "live", "approvals", "secrets"), SITE | {"stamina"}),
    "role cockpit": SERVICES,
    **dict.fromkeys(("tenants", "tenants run", "tenants journal", "tenants publish", "tenants doctor"), SERVICES),
    **dict.fromkeys(("cockpit ledger", "cockpit doctor"), SERVICES | {"publicsuffixlist", "selectolax"}),
    "listening": SITE - {"rich"} | FRAMEWORK | {"stamina", "uvloop", "httptools"},
}
"""What each loads of the dear ones, before it does anything. A new command is added here, with what it costs."""


_LOOKS = """\
import atexit, gc, sys
from orrery.app.main import main
count = lambda: sum(one["collections"] for one in gc.get_stats())
before = count()
atexit.register(lambda: print(f"{count() - before} looks", file=sys.stderr))
main()
"""
"""Runs `orrery`, and prints how often Python looked for garbage meanwhile."""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[str]]:
    """Return every module that each loads."""
    folder = tmp_path_factory.mktemp("loaded")
    for name, key in (("store", "path"), ("cockpit", "store")):
        create(folder / f"{name}.db")
        (folder / f"{name}.toml").write_text(f'[{name}]\n{key} = "{name}.db"\n')
    files = folder / "store.toml", folder / "cockpit.toml"
    found: dict[str, Sequence[str]] = {}
    for part in ("site", "cockpit", "others", "listening"):  # a process each, within the patience for one
        came = run_python(ROOT / "src", "-m", "tests.architecture.loading", part, *files, folder=folder)
        assert came.returncode == 0, came.stderr
        found |= {name: modules for name, *modules in map(json.loads, came.stdout.splitlines())}
    return found


def test_a_command_loads_what_it_costs(loaded: Mapping[str, Sequence[str]]) -> None:
    """Each loads the packages that its line names: only what listens loads the framework, and none a vendor's."""
    dear = {name: {one.partition(".")[0] for one in modules} & DEAR for name, modules in loaded.items()}
    assert dear == COMMANDS


def test_a_command_loads_its_domain(loaded: Mapping[str, Sequence[str]]) -> None:
    """Beyond what reads the settings of its role, it loads its own domain and those that this one needs."""
    wrong: list[str] = []
    for module, command in ((one, command) for one in MODULES for command in one.commands):
        if command.whole or command.name not in loaded:
            continue
        of_role = [one for one in MODULES if module.roles & one.roles]
        own = {room(one.build or one.name) for one in needed_by([module.name], of_role)} | {room(command.target)}
        before = {*loaded.get(f"role {command.role}", ()), *DATA}
        added = {room(one) for one in {*loaded[command.name]} - before if one.startswith("orrery.")}
        wrong += [
            f"{command.name} loads {one}"
            for one in sorted(added & DOMAINS - own - BY_THE_ROOT.get(module.name, set()))
        ]
    assert wrong == []


def room(name: str) -> str:
    """Return the folder below `orrery` that a module of the package is in."""
    return name.removeprefix("orrery.").partition(".")[0]


def test_a_start_looks_for_no_garbage(tmp_path: Path) -> None:
    """While a command is loaded Python does not look for garbage; by itself it would some fifty times."""
    came = run_python(ROOT / "src", "-c", _LOOKS, "approvals", "--help", folder=tmp_path)
    assert (came.returncode, came.stderr) == (0, "0 looks\n")


@pytest.mark.parametrize("kind", [Record, Lenient])
def test_a_model_is_built_at_its_first_use(kind: type[BaseModel]) -> None:
    """What is stored, and what the processor sends, has a model once something of it is read."""

    class Read(kind):  # pyright: ignore[reportGeneralTypeIssues, reportUntypedBaseClass]  one of the two
        """One of this kind."""

    assert not Read.__pydantic_complete__
    _ = Read.model_validate({})
    assert Read.__pydantic_complete__

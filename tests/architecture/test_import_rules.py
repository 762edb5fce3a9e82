"""The import rules of pyproject.toml hold, and each is seen to catch what it is for."""

import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from orrery.app.modules import MODULES
from tools.import_rules import contracts, domains

ROOT = Path(__file__).resolve().parents[2]
LINTER = ROOT / "tools" / "import_rules.py"
RULES: dict[str, Any] = tomllib.loads(contracts(ROOT / "src" / "orrery"))
CONTRACTS: dict[str, dict[str, Any]] = {each["id"]: each for each in RULES["tool"]["importlinter"]["contracts"]}


@dataclass(frozen=True, slots=True)
class Planted:
    """A line put into a module of the copy, the contract that must break, and what its report must say."""

    contract: str
    module: str
    line: str
    said: str


PLANTED = [
    Planted("one-way-down", "ports/clock.py", "import orrery.edge", "orrery.ports.clock -> orrery.edge"),
    Planted("one-way-down", "errors.py", "import orrery.ports.clock", "orrery.errors -> orrery.ports.clock"),
    Planted(
        "one-way-down", "runtime/outbox.py", "import orrery.checkout", "orrery.runtime.outbox -> orrery.checkout"
    ),
    Planted("one-way-down", "fraud/__init__.py", "import orrery.checkout", "orrery.fraud -> orrery.checkout"),
    Planted("one-way-down", "extras/__init__.py", "", "- orrery.extras"),
    Planted(
        "inside-account", "account/account.py", "import orrery.account.build", "account -> orrery.account.build"
    ),
    Planted("inside-account", "account/extras.py", "", "- orrery.account.extras"),
    Planted("inside-scanner", "scanner/findings.py", "import orrery.scanner.scanning", "orrery.scanner.scanning"),
    Planted("pure-scanner", "scanner/detectors/terms.py", "import pathlib", "terms -> pathlib"),
    Planted("inside-checkout", "checkout/keys.py", "import orrery.checkout.selling.service", "selling.service"),
    Planted(
        "inside-checkout",
        "checkout/access/desk.py",
        "import orrery.checkout.selling.service",
        "access.desk -> orrery.checkout.selling.service",
    ),
    Planted(
        "inside-access",
        "checkout/access/webhook.py",
        "import orrery.checkout.access.desk",
        "webhook -> orrery.checkout.access.desk",
    ),
    Planted(
        "inside-selling",
        "checkout/selling/receipts.py",
        "import orrery.checkout.selling.trials",
        "receipts -> orrery.checkout.selling.trials",
    ),
    Planted("inside-checkout", "checkout/extras.py", "", "- orrery.checkout.extras"),
    Planted("inside-fraud", "fraud/reading.py", "import orrery.fraud.watch", "reading -> orrery.fraud.watch"),
    Planted("inside-fraud", "fraud/watch.py", "import orrery.fraud.screening", "watch -> orrery.fraud.screening"),
    Planted("inside-fraud", "fraud/extras.py", "", "- orrery.fraud.extras"),
    Planted(
        "inside-gateway", "gateway/pings.py", "import orrery.gateway.health", "pings -> orrery.gateway.health"
    ),
    Planted("pure-gateway", "gateway/causes.py", "import pydantic", "orrery.gateway.causes -> pydantic"),
    Planted("inside-live", "live/reads.py", "import orrery.live.refresh", "live.reads -> orrery.live.refresh"),
    Planted("inside-gateway", "gateway/guest/host.py", "import orrery.gateway.cli.guest", "-> orrery.gateway.cli"),
    Planted(
        "inside-gateway-guest",
        "gateway/guest/options.py",
        "import orrery.gateway.guest.files",
        "guest.options -> orrery.gateway.guest.files",
    ),
    Planted("inside-gateway-guest", "gateway/guest/extras.py", "", "- orrery.gateway.guest.extras"),
    Planted("pure-gateway-guest", "gateway/guest/verify.py", "import subprocess", "subprocess"),
    Planted(
        "inside-gateway-cloud",
        "gateway/cloud/plan.py",
        "import orrery.gateway.cloud.provision",
        "plan -> orrery.gateway.cloud.provision",
    ),
    Planted("inside-gateway-cloud", "gateway/cloud/extras.py", "", "- orrery.gateway.cloud.extras"),
    Planted(
        "inside-gateway-timeline",
        "gateway/timeline/events.py",
        "import orrery.gateway.timeline.outages",
        "events -> orrery.gateway.timeline.outages",
    ),
    Planted("inside-gateway-timeline", "gateway/timeline/extras.py", "", "- orrery.gateway.timeline.extras"),
    Planted("pure-gateway-cloud", "gateway/cloud/restart.py", "import asyncio", "cloud.restart -> asyncio"),
    Planted("below-the-edge", "gateway/guest/options.py", "import os", "orrery.gateway.guest.options -> os"),
    Planted(
        "inside-cockpit", "cockpit/rows.py", "import orrery.cockpit.comms", "cockpit.rows -> orrery.cockpit.comms"
    ),
    Planted("inside-cockpit", "cockpit/extras.py", "", "- orrery.cockpit.extras"),
    Planted("pure-cockpit", "cockpit/rows.py", "import asyncio", "cockpit.rows -> asyncio"),
    Planted("inside-tenants", "tenants/tool.py", "import orrery.tenants.journal", "-> orrery.tenants.journal"),
    Planted("inside-tenants", "tenants/extras.py", "", "- orrery.tenants.extras"),
    Planted("pure-tenants", "tenants/tool.py", "import asyncio", "tenants.tool -> asyncio"),
    Planted("no-sending", "cockpit/actions.py", "import smtplib", "cockpit.actions -> smtplib"),
    Planted("no-sending", "ports/comms/tasks.py", "import orrery.ports.notifier", "ports.notifier"),
    Planted(
        "no-sending", "adapters/microsoft_mailbox/mail.py", "import smtplib", "microsoft_mailbox.mail -> smtplib"
    ),
    Planted("public-reads", "live/reads.py", "import orrery.ports.analytics", "orrery.ports.analytics"),
    Planted("public-reads", "live/keys.py", "import orrery.ports.analytics", "orrery.live.keys"),
    Planted("public-reads", "edge/fast.py", "import orrery.live.budget", "orrery.edge.fast"),
    Planted("pure-live", "live/answers.py", "import orrery.ports.store", "orrery.ports.store"),
    Planted("pure-fraud", "fraud/clusters.py", "import orrery.ports.store", "orrery.ports.store"),
    Planted("pure-checkout", "checkout/selling/params.py", "import orrery.ports.store", "orrery.ports.store"),
    Planted("no-circle", "app/scan/found.py", "import orrery.app.scan.files", "- .found -> .files (1 import)"),
    Planted(
        "no-circle", "app/modules.py", "import orrery.app.settings.places", "- .modules -> .settings (1 import)"
    ),
    Planted("pure-rules", "syntax/lines.py", "import asyncio", "asyncio"),
    Planted("adapters-alone", "adapters/ntfy.py", "import orrery.adapters.memory", "orrery.adapters.memory"),
    Planted("ports-alone", "ports/clock.py", "import orrery.ports.notifier", "orrery.ports.notifier"),
    Planted(
        "composition-root",
        "checkout/selling/service.py",
        "import orrery.app.settings",
        "selling.service -> orrery.app.settings",
    ),
    Planted(
        "composition-root", "edge/body.py", "import orrery.adapters.memory", "edge.body -> orrery.adapters.memory"
    ),
    Planted(
        "composition-root", "live/cli/live.py", "import orrery.app.settings", "cli.live -> orrery.app.settings"
    ),
    Planted(
        "composition-root", "approvals/cli/signing.py", "import orrery.adapters.ntfy", "-> orrery.adapters.ntfy"
    ),
    Planted("one-way-down", "fraud/cli/fraud.py", "import orrery.app", "orrery.fraud.cli.fraud -> orrery.app"),
    Planted("one-way-down", "checkout/cli/access.py", "import orrery.app.runner", "access -> orrery.app.runner"),
    Planted(
        "no-sandbox", "app/__init__.py", "import orrery.sandbox.ground", "orrery.app -> orrery.sandbox.ground"
    ),
    Planted("no-sandbox", "adapters/ntfy.py", "import orrery.sandbox", "orrery.adapters.ntfy -> orrery.sandbox"),
    Planted(
        "below-the-edge",
        "checkout/selling/service.py",
        "import fastapi",
        "orrery.checkout.selling.service -> fastapi",
    ),
    Planted(
        "below-the-edge",
        "checkout/selling/service.py",
        "from os import environ",
        "orrery.checkout.selling.service -> os",
    ),
    Planted("below-the-edge", "fraud/reading.py", "import httpx2", "orrery.fraud.reading -> httpx2"),
    Planted("below-the-edge", "ports/store.py", "from time import monotonic", "orrery.ports.store -> time"),
    Planted("below-the-edge", "runtime/lease.py", "import socket", "orrery.runtime.lease -> socket"),
    Planted("below-the-edge", "fraud/reading.py", "import typer", "orrery.fraud.reading -> typer"),
    Planted("below-the-edge", "live/cli/refresh.py", "import httpx2", "orrery.live.cli.refresh -> httpx2"),
    Planted(
        "below-the-edge", "checkout/selling/service.py", "import orrery.edge.body", "service -> orrery.edge.body"
    ),
    Planted(
        "vendors-at-home",
        "checkout/access/webhook.py",
        "import stripe",
        "orrery.checkout.access.webhook -> stripe",
    ),
    Planted("vendors-at-home", "live/admin_reads.py", "import google.auth", "orrery.live.admin_reads -> google"),
    Planted("vendors-at-home", "sandbox/ground.py", "import apsw", "orrery.sandbox.ground -> apsw"),
]


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that holds a copy of the package; lines of reports are not wrapped."""
    monkeypatch.setenv("COLUMNS", "200")
    ignored = shutil.ignore_patterns("__pycache__", "web")
    shutil.copytree(ROOT / "src" / "orrery", tmp_path / "orrery", ignore=ignored)
    return tmp_path


def plant(copy: Path, module: str, line: str) -> None:
    """Add a line to a module of the copy, making the module and its package where they do not exist."""
    path = copy / "orrery" / module
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as text:
        text.write(f"\n{line}\n")


def lint(copy: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run import-linter over the copy."""
    command = [sys.executable, LINTER, copy, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words, no shell


def test_the_source_keeps_every_rule(copy: Path) -> None:
    """The package as it stands breaks no import rule."""
    result = lint(copy)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: f"{each.contract}:{each.module}:{each.line}")
def test_a_planted_violation_is_caught_by_name(copy: Path, planted: Planted) -> None:
    """A violation breaks the rule that is there for it, and the report names both ends."""
    plant(copy, planted.module, planted.line)
    result = lint(copy, "--contract", planted.contract)
    assert result.returncode == 1
    assert f"{CONTRACTS[planted.contract]['name']} BROKEN" in result.stdout
    assert planted.said in result.stdout


@pytest.mark.parametrize(
    ("contract", "module", "line"),
    [
        ("below-the-edge", "checkout/routes.py", "import fastapi"),
        ("below-the-edge", "checkout/routes.py", "import orrery.edge.body"),
        ("below-the-edge", "fraud/cli/fraud.py", "import typer"),
        ("no-sandbox", "app/cli/__init__.py", "import orrery.sandbox"),
        ("composition-root", "app/__init__.py", "import orrery.adapters.memory"),
        ("composition-root", "app/cli/__init__.py", "import orrery.app.settings"),
    ],
)
def test_what_is_allowed_stays_allowed(copy: Path, contract: str, module: str, line: str) -> None:
    """Routes use the framework, commands typer, the root's commands the sandbox, and the root the adapters."""
    plant(copy, module, line)
    result = lint(copy, "--contract", contract)
    assert result.returncode == 0, result.stdout


def test_every_rule_has_a_planted_violation() -> None:
    """No import rule is written down that nothing here has seen break."""
    assert {each.contract for each in PLANTED} == set(CONTRACTS)


def test_every_domain_is_held_to_the_rules() -> None:
    """Each module that has a folder beside the others' brings the contracts of its folder, and no other does."""
    targets = [
        target for one in MODULES for target in (one.build, *(each.target for each in one.commands)) if target
    ]
    folders = {target.split(".")[1] for target in targets}
    assert set(domains(ROOT / "src" / "orrery")) == folders - {"app", "approvals", "runtime", "secrets"}

"""The import rules of pyproject.toml hold, and each is seen to catch what it is for."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orrery.app.modules import MODULES
from tools.import_rules import contracts, domains

ROOT = Path(__file__).resolve().parents[2]
LINTER = ROOT / "tools" / "import_rules.py"
RULES: dict[str, Any] = tomllib.loads(contracts(ROOT / "src" / "orrery"))
CONTRACTS: dict[str, dict[str, Any]] = {each["id"]: each for each in RULES["tool"]["importlinter"]["contracts"]}
REPORT = re.compile(r"^(\S[^\n]*)\n-+\n(.*?)(?=^\S[^\n]*\n-+$|\Z)", re.MULTILINE | re.DOTALL)
"""One broken rule in the report: its name, and what breaks it."""


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
    Planted("one-way-to-ask", "adapters/github.py", "import httpx2", "adapters.github -> httpx2"),
    Planted("inside-account", "account/extras.py", "", "- orrery.account.extras"),
    Planted("inside-scanner", "scanner/findings.py", "import orrery.scanner.scanning", "orrery.scanner.scanning"),
    Planted("pure-scanner", "scanner/detectors/all.py", "import pathlib", "all -> pathlib"),
    Planted(
        "inside-checkout", "checkout/collections.py", "import orrery.checkout.selling.service", "selling.service"
    ),
    Planted(
        "inside-checkout",
        "checkout/access/desk.py",
        "import orrery.checkout.selling.service",
        "access.desk -> orrery.checkout.selling.service",
    ),
    Planted(
        "inside-access",
        "checkout/access/fulfilment.py",
        "import orrery.checkout.access.desk",
        "fulfilment -> orrery.checkout.access.desk",
    ),
    Planted(
        "inside-selling",
        "checkout/selling/receipts.py",
        "import orrery.checkout.selling.trials",
        "receipts -> orrery.checkout.selling.trials",
    ),
    Planted(
        "inside-site",
        "checkout/site/cookie.py",
        "import orrery.checkout.site.gate",
        "cookie -> orrery.checkout.site.gate",
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
    Planted("public-reads", "edge/public_reads.py", "import orrery.live.budget", "orrery.edge.public_reads"),
    Planted("pure-live", "live/answers.py", "import orrery.ports.store", "orrery.ports.store"),
    Planted("pure-fraud", "fraud/clusters.py", "import orrery.ports.store", "orrery.ports.store"),
    Planted("pure-checkout", "checkout/catalogue.py", "import orrery.ports.store", "orrery.ports.store"),
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
    Planted("vendors-at-home", "owner_page/page.py", "import jinja2", "orrery.owner_page.page -> jinja2"),
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
        "checkout/access/fulfilment.py",
        "import stripe",
        "orrery.checkout.access.fulfilment -> stripe",
    ),
    Planted("vendors-at-home", "live/admin_reads.py", "import google.auth", "orrery.live.admin_reads -> google"),
    Planted("vendors-at-home", "sandbox/ground.py", "import apsw", "orrery.sandbox.ground -> apsw"),
]


ALLOWED = [
    ("below-the-edge", "checkout/routes.py", "import fastapi"),
    ("below-the-edge", "checkout/routes.py", "import orrery.edge.body"),
    ("below-the-edge", "fraud/cli/fraud.py", "import typer"),
    ("no-sandbox", "app/cli/__init__.py", "import orrery.sandbox"),
    ("composition-root", "app/__init__.py", "import orrery.adapters.memory"),
    ("composition-root", "app/cli/__init__.py", "import orrery.app.settings"),
]
"""Routes use the framework, commands typer, the root's commands the sandbox, and the root the adapters."""


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter over the package in a folder; it does not wrap the lines of its report."""
    command = [sys.executable, LINTER, root]
    environment = os.environ | {"COLUMNS": "200"}  # noqa: TID251  for a child
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words


def planted(folder: Path, lines: Iterable[tuple[str, str]]) -> Path:
    """Copy the package, add a line to each module, and make the modules and packages that do not exist."""
    ignored = shutil.ignore_patterns("__pycache__", "web")
    shutil.copytree(ROOT / "src" / "orrery", folder / "orrery", ignore=ignored)
    for module, line in lines:
        path = folder / "orrery" / module
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as text:
            text.write(f"\n{line}\n")
    return folder


def test_the_source_keeps_every_rule(tmp_path: Path) -> None:
    """The package breaks no import rule, and they forbid no more than they are there for."""
    result = lint(planted(tmp_path, ((module, line) for _, module, line in ALLOWED)))
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_planted_violation_is_caught_by_name(tmp_path: Path) -> None:
    """Each violation breaks the rule that is there for it, and that rule's report names both ends."""
    result = lint(planted(tmp_path, {(one.module, one.line): None for one in PLANTED}))
    assert result.returncode == 1
    reports = dict(REPORT.findall(result.stdout.partition("Broken contracts")[2]))
    found = {contract: reports.get(rule["name"], "") for contract, rule in CONTRACTS.items()}
    assert [one for one in PLANTED if one.said not in found[one.contract]] == []


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

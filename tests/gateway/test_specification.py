"""Every row of the specification that is about the gateway has a test that proves it.

The rows are read from the specification, which lies beside a full checkout.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.support.tables import each_case

SPECIFICATION = ROOT.parent / "shared" / "spec" / "3-operations.md"
TABLES = ("Resources and their fields", "States and transitions", "Endpoints", "Errors", "Limits")

ROWS = "tests/conformance/cloud/test_specified_rows.py"
PAYLOAD = (f"{ROWS}::test_payload_field",)
FINDINGS = "tests/gateway/cloud/test_findings.py"
INSTALLED = (
    "tests/systemd/test_install.py::test_the_specified_values_are_effective_and_a_second_run_changes_nothing"
)
CREDENTIALS = "tests/systemd/test_credentials.py"

PROVEN: dict[str, tuple[str, ...]] = {
    # Cloud resources
    "user-assigned identity <restarter_identity>": (f"{ROWS}::test_resource_user_assigned_identity",),
    "role assignment": (
        f"{ROWS}::test_resource_role_assignment",
        "tests/gateway/cloud/test_plan.py::test_role_assignment_is_on_the_one_machine_only",
    ),
    "automation account <automation_account> (Basic tier)": (f"{ROWS}::test_resource_automation_account",),
    "runbook <runbook_name>": (
        f"{ROWS}::test_resource_runbook",
        "tests/gateway/cloud/test_restart.py::test_the_runbook_holds_the_case",
    ),
    "webhook <webhook_name>": (f"{ROWS}::test_resource_webhook",),
    "activity-log alert <alert_name>": (
        f"{ROWS}::test_resource_activity_log_alert",
        "tests/gateway/cloud/test_plan.py::test_alert_condition_and_scope_are_those_of_the_specification",
    ),
    "action group <action_group>": (f"{ROWS}::test_resource_action_group",),
    # Alert payload posted to the webhook
    "schemaId": PAYLOAD,
    "data.status": PAYLOAD,
    "data.context.activityLog.category": PAYLOAD,
    "data.context.activityLog.resourceId": PAYLOAD,
    "data.context.activityLog.properties.currentHealthStatus": PAYLOAD,
    "data.context.activityLog.properties.cause": PAYLOAD,
    # In-guest files
    "/etc/systemd/system/<gateway_unit>.service.d/cold-boot-retry.conf": (
        "tests/gateway/guest/test_files.py::test_the_drop_in_has_the_values_of_the_specification",
        INSTALLED,
    ),
    "/usr/local/sbin/<gateway_unit>-recover.sh": (
        "tests/gateway/guest/test_files.py::test_the_files_of_the_specification_are_there",
        INSTALLED,
    ),
    "/etc/systemd/system/<gateway_unit>-recover.service": (
        "tests/gateway/guest/test_files.py::test_the_files_of_the_specification_are_there",
        "tests/systemd/test_install.py::test_the_timer_alone_recovers_the_unit",
    ),
    "/etc/systemd/system/<gateway_unit>-recover.timer": (
        "tests/gateway/guest/test_files.py::test_the_timer_has_the_values_of_the_specification",
        INSTALLED,
    ),
    "a failure hook on the gateway unit": (
        "tests/gateway/guest/test_files.py::test_the_drop_in_has_the_values_of_the_specification",
        f"{CREDENTIALS}::test_an_exhausted_budget_is_pushed_once_and_the_unit_starts_when_the_credential_is_there",
    ),
    # States and transitions
    "VM running: host graceful shutdown": (f"{ROWS}::test_state_vm_running_is_shut_down_by_the_host",),
    "VM Unavailable: alert fires": (f"{ROWS}::test_state_vm_unavailable_and_an_alert_fires",),
    "VM stopped or deallocated: runbook start call": (
        f"{ROWS}::test_state_vm_stopped_or_deallocated_is_started",
        f"{ROWS}::test_limit_runbook_poll",
    ),
    "VM running: runbook invoked": (f"{ROWS}::test_state_vm_running_stays_as_it_is",),
    "gateway unit failed at boot: service manager retry": (
        f"{CREDENTIALS}::test_a_missing_credential_is_waited_for_and_the_unit_starts_once_it_is_there",
        f"{CREDENTIALS}::test_a_credential_that_stays_missing_exhausts_the_budget_at_its_own_pace",
    ),
    "gateway unit not active: recovery timer fires (30 s after boot, then every 15 min)": (
        "tests/systemd/test_install.py::test_the_timer_alone_recovers_the_unit",
        INSTALLED,
    ),
    "recovery: recovery fails, or 3 or more fires within 1 hour": (
        "tests/systemd/test_flap.py::test_a_flap_is_pushed_once",
        "tests/systemd/test_flap.py::test_a_recovery_that_fails_is_pushed_once_and_so_is_its_end",
    ),
    # Endpoints
    "POST: {automation_webhook_url}": (f"{ROWS}::test_endpoint_webhook",),
    "GET: …/virtualMachines/<vm>/instanceView": (f"{ROWS}::test_endpoint_instance_view",),
    "POST: …/virtualMachines/<vm>/start": (f"{ROWS}::test_endpoint_start",),
    "GET: …/automationAccounts/<automation_account>/jobs": (f"{ROWS}::test_endpoint_jobs",),
    # Errors
    "gateway status 243/CREDENTIALS": (
        f"{FINDINGS}::test_error_243_credentials_is_named_from_the_guests_ping",
        "tests/gateway/guest/test_verify.py::test_missing_credentials_after_a_boot",
        f"{CREDENTIALS}::test_a_missing_credential_is_waited_for_and_the_unit_starts_once_it_is_there",
    ),
    "alert fires, runbook does not": (
        f"{FINDINGS}::test_error_alert_fires_runbook_does_not_is_an_expired_webhook",
        "tests/conformance/cloud/test_provisioning.py::test_an_expired_webhook_is_named_and_rotated",
    ),
    "runbook start returns Forbidden": (
        f"{FINDINGS}::test_error_start_is_forbidden_is_a_revoked_role",
        f"{FINDINGS}::test_error_start_is_forbidden_is_a_deleted_identity",
        "tests/conformance/cloud/test_provisioning.py::test_a_revoked_role_fails_the_job_with_the_fix",
    ),
    "health status Unknown instead of Unavailable": (
        f"{FINDINGS}::test_error_health_unknown_instead_of_unavailable",
        f"{ROWS}::test_error_health_status_unknown_instead_of_unavailable",
    ),
    "gateway dead over 30 min on a running VM": (
        f"{FINDINGS}::test_error_gateway_dead_on_a_running_machine_is_a_broken_credential_chain",
        "tests/gateway/guest/test_verify.py::test_a_broken_credential_chain_names_the_token_script",
    ),
    "tunnel returns 502 on every request": (
        f"{FINDINGS}::test_error_tunnel_answers_502",
        "tests/systemd/test_probe.py::test_a_tunnel_that_answers_502_makes_the_service_dead",
    ),
    # Limits
    "alert delay": (f"{ROWS}::test_limit_alert_delay",),
    "total VM recovery": (f"{ROWS}::test_limit_total_vm_recovery",),
    "runbook poll": (f"{ROWS}::test_limit_runbook_poll",),
    "service start budget": (
        INSTALLED,
        f"{CREDENTIALS}::test_a_credential_that_stays_missing_exhausts_the_budget_at_its_own_pace",
    ),
    "recovery timer": (
        INSTALLED,
        "tests/systemd/test_install.py::test_the_timer_alone_recovers_the_unit",
    ),
    "worst-case gateway outage after Layer 3": (
        INSTALLED,
        "tests/systemd/test_install.py::test_the_timer_alone_recovers_the_unit",
    ),
    "measured recovery": (
        "tests/systemd/test_drill.py::test_a_drill_breaks_the_service_and_compares_with_the_last_one",
    ),
    "flap threshold": ("tests/systemd/test_flap.py::test_a_flap_is_pushed_once",),
    "runbook cost": (
        f"{ROWS}::test_limit_runbook_cost",
        f"{FINDINGS}::test_limit_of_500_free_job_minutes",
    ),
    "webhook lifetime": (f"{ROWS}::test_limit_webhook_lifetime",),
    "webhook calls": (f"{ROWS}::test_limit_webhook_calls",),
}
"""The tests of each row, by its first cells."""

OF_THE_COCKPIT = re.compile(r"\{base_url\}|message-body cache")
"""Rows that are not about the gateway."""


def rows() -> list[str]:
    """Return the gateway's rows by what tells them apart."""
    if not SPECIFICATION.exists():
        pytest.skip(f"the specification is not here: {SPECIFICATION}")
    found = list[str]()
    text = SPECIFICATION.read_text(encoding="utf-8")
    for title, body in re.findall(r"(?ms)^## ([^\n]+)\n(.*?)(?=^## |\Z)", text):
        for table in re.findall(r"(?m)^\|[^\n]*\n\|[-|]+\|\n((?:\|[^\n]*\n)+)", body) if title in TABLES else ():
            found += [_name(title, line) for line in table.splitlines()]
    return [row for row in found if not OF_THE_COCKPIT.search(row)]


def _name(title: str, line: str) -> str:
    """Return the first cell of a row, and the second one too where the first is not its own."""
    first, second, *_ = (cell.strip() for cell in line.strip("|").split("|"))
    if title not in {"States and transitions", "Endpoints"}:
        return first
    return f"{first}: {re.sub(r'^{management_url}.*(?=/virtualMachines|/automationAccounts)', '…', second)}"


@cache
def names_in(file: Path) -> frozenset[str]:
    """Return the names of the tests of a file, which may need more than this machine has to be run."""
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(one.name for one in nodes if isinstance(one, kinds) and one.name.startswith("test_"))


def test_every_row_of_the_gateway_has_a_test() -> None:
    """No row of Resources, States, Endpoints, Errors and Limits is without one, and none is made up."""
    assert sorted(rows()) == sorted(PROVEN)


@each_case("test", sorted({test for tests in PROVEN.values() for test in tests}))
def test_the_test_of_a_row_is_there(test: str) -> None:
    """A row is proven by tests that there are."""
    file, _, name = test.partition("::")
    assert name in names_in(ROOT / file)

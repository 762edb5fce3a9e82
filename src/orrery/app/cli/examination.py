"""Every finding, as `orrery doctor` shows them and `orrery ack` takes them: with those that ask the vendors."""

from collections.abc import Sequence
from functools import partial

from orrery.app.cli.doctor_approvals import approval_findings
from orrery.approvals.settings import ApprovalSettings
from orrery.ports.health import Finding
from orrery.runtime.findings import Findings
from orrery.runtime.health import run_check
from orrery.runtime.parts import Parts
from orrery.runtime.store_probe import DATABASE, DISK, STORE
from orrery.runtime.tasks import together

UNREADABLE = "records"
"""The part that is broken while a record cannot be read."""

MOST_NAMED = 10


async def examined(findings: Findings, approvals: ApprovalSettings) -> list[Finding]:
    """Return every finding, with those that ask the vendors."""
    found = await findings.all()
    store = [one for one in found if one.plain in (STORE, DISK) or one.part.startswith(DATABASE)]
    checks = [check for parts in findings.modules for check in parts.remote_checks]
    # What is asked now replaces what was found before.
    local = [one for one in found if one not in store and one.part not in {part for part, _ in checks}]
    damaged, *asked = await together(
        run_check(UNREADABLE, partial(_unreadable, findings.modules)),
        *(run_check(part, check) for part, check in checks),
    )
    of_keys = await approval_findings(approvals.owner_keys, approvals.signing_key)
    return [*store, damaged, *local, *asked, *await findings.health.remote(), *of_keys]


async def _unreadable(modules: Sequence[Parts]) -> Finding:
    """Read every record, and name those that cannot be read."""
    found = [one.name for parts in modules for read in parts.unreadable for one in await read()]
    if not found:
        return Finding(UNREADABLE, "ok", "every record can be read", essential=False)
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    todo = "A newer version wrote them, or the file is damaged: run that one, or `orrery restore` a backup."
    why = f"Cannot be read: {', '.join(found[:MOST_NAMED])}{more}."
    return Finding(UNREADABLE, "broken", why, todo, essential=False)

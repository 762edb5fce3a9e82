"""The service loads its code when it is built: a late import would hold the event loop, or fail in the night."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.deployment import CounterSettings, Deployment
from tests.support.marked import ADMIN_PASSWORD
from tests.support.package_copy import ROOT
from tests.support.reading import DECLARED
from tests.support.waiting import PATIENCE

EVERYTHING = """\
[heartbeat]
url = "http://127.0.0.1:{sandbox}/heartbeat"
[backup]
directory = "backups"
"""


def test_nothing_of_ours_is_loaded_while_serving(tmp_path: Path) -> None:
    """Every route of both listeners is asked, and every job runs once; what they store has a module's prefix."""
    deployment = Deployment(tmp_path, counter=CounterSettings(refresh=True), more=EVERYTHING, plain=1)
    deployment.more = EVERYTHING.format(sandbox=deployment.ports[2])
    deployment.configure()
    try:
        deployment.start_sandbox()
        command = [sys.executable, "-m", "tests.journeys.served_once", str(deployment.config), ADMIN_PASSWORD]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603  our own code
    finally:
        deployment.clear_away()
    assert run.returncode == 0, run.stderr
    came = json.loads(run.stdout.splitlines()[-1])
    public, private = came["answers"]
    assert (public["GET /healthz"], private["GET /owner"], private["GET /docs"]) == (200, 200, 200), came
    assert len(came["jobs"]) > 10, came
    assert came["loaded"] == []
    stored = deployment.records.keys()
    assert len(stored) > 10, stored
    assert [key for key in stored if not key.startswith(DECLARED)] == []

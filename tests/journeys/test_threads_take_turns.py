"""What the service computes in a thread holds up its answers and its messages for moments only."""

import subprocess
import sys
from pathlib import Path

from orrery.app.cli.serve import TURN
from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.waiting import PATIENCE

_SERVE = """
import os, signal, sys
from pathlib import Path
import uvloop
from orrery.app.cli.serve import serve
from orrery.app.cli.services import configured

def ready():
    print("turn", sys.getswitchinterval())
    os.kill(os.getpid(), signal.SIGTERM)

uvloop.run(serve(*configured(Path(sys.argv[1])), ready=ready))
"""


def test_the_service_shortens_the_turns(tmp_path: Path) -> None:
    """Each statement of the store waits for a turn while the processor's answers are read: the turns are short."""
    with beside_a_sandbox(Deployment(tmp_path)) as shop:
        command = [sys.executable, "-c", _SERVE, str(shop.config)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)  # noqa: S603  our own program
    assert f"turn {TURN}" in ended.stdout, ended.stderr
    assert sys.getswitchinterval() > TURN

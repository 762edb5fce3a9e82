"""The stand-in of a vendor is one file and one line: one that is added to a copy of the package answers."""

import json
import shutil
from pathlib import Path

from tests.support.package_copy import FURTHER, package_with, run_python

FIRST = '    "orrery.sandbox.mail:mail_routes",\n'
LINE = '    "orrery.sandbox.partner:partner_routes",\n'
ASKED = """\
import asyncio, json, httpx2
from orrery.adapters.clock import SystemClock
from orrery.sandbox.app import SandboxConfig, create_app

async def main():
    config = SandboxConfig(base_url="http://127.0.0.1", api_keys={}, prices=(), smtp_port=None)
    app = create_app(config, SystemClock(), lambda seconds: seconds)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        print(json.dumps([(await client.get("/partner")).json() for _ in range(2)]))

asyncio.run(main())
"""


def test_a_vendor_is_a_file_and_one_line(tmp_path: Path) -> None:
    """The stand-in keeps its state beside the others', and answers on the sandbox's port."""
    copy = package_with(tmp_path)
    shutil.copy(FURTHER / "partner.py", copy / "orrery" / "sandbox")
    table = copy / "orrery" / "sandbox" / "app.py"
    text = table.read_text()
    assert text.count(FIRST) == 1
    table.write_text(text.replace(FIRST, FIRST + LINE))
    came = run_python(copy, "-c", ASKED)
    assert came.returncode == 0, came.stderr
    assert json.loads(came.stdout) == [{"asked": 1}, {"asked": 2}]

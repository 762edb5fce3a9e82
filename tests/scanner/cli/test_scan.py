"""`orrery tenants scan` as a whole."""

import json
import os

from tests.support.plain_commands import plain
from tests.support.scan_user import ScanUser


def test_what_cannot_be_searched_is_a_finding(user: ScanUser) -> None:
    """A pipe in a folder is named, and the scan ends with 1 although nothing else was found."""
    os.mkfifo(user.here / "pipe")
    code, out, _ = user.types(plain("scan"), "--json", ".")
    found, summary = map(json.loads, out.splitlines())
    assert (code, found["kind"], found["place"], summary["findings"]) == (1, "unreadable", "pipe", 1)
    assert found["why"]

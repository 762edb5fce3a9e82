"""`orrery tenants scan` as a whole."""

import json
import os

from orrery.scanner.batches import LARGEST
from tests.support.plain_commands import plain
from tests.support.scan_user import TRACKS, ScanUser


def test_what_cannot_be_searched_is_a_finding(user: ScanUser) -> None:
    """A pipe in a folder is named, and the scan ends with 1 although nothing else was found."""
    os.mkfifo(user.here / "pipe")
    code, out, _ = user.types(plain("scan"), "--json", ".")
    found, summary = map(json.loads, out.splitlines())
    assert (code, found["kind"], found["place"], summary["findings"]) == (1, "unreadable", "pipe", 1)
    assert found["why"]


def test_what_was_unpacked_first_is_reported_first(user: ScanUser) -> None:
    """Files that the second thread searches one after another come in their order, and the last one, too."""
    user.write(TRACKS)
    lines = {"a": LARGEST // 20, "b": LARGEST // 20, "c": LARGEST // 20, "d": 1}
    for name, many in lines.items():
        text = f"{name} is a line of text\n" * many + "write to ann@corp.example\n"
        (user.here / name).write_text(text, encoding="utf-8")
    code, out, _ = user.types(plain("scan"), "--json", ".")
    found = [(one["place"], one["line"]) for one in map(json.loads, out.splitlines()[:-1])]
    assert (code, found) == (1, [(name, many + 1) for name, many in lines.items()])

"""Dated snapshots, and what is told when there is none."""

import json
from pathlib import Path

from tests.support.deployment import Deployment

GRANT = ("access", "grant", "ann@example.org", "--vendor", "northwind", "--cert", "cert-1", "--reason", "a try")


def test_dated_snapshots_are_kept_and_missed(tmp_path: Path) -> None:
    """Without FILE a snapshot goes into the folder, the oldest goes away, and doctor says whether one is there."""
    shop = Deployment(tmp_path, more='[backup]\ndirectory = "copies"\nkeep = 2')
    assert shop.orrery(*GRANT).returncode == 0
    assert told(shop) == "broken"
    for day in ("01", "02"):
        (tmp_path / "copies").mkdir(exist_ok=True)
        (tmp_path / "copies" / f"orrery-202001{day}T000000Z.db").touch()
    assert told(shop) == "broken"
    (tmp_path / "copies" / ".orrery-20200103T000000Z.db.unfinished").mkdir()  # as a kill leaves it
    made = shop.orrery("backup")
    assert (made.returncode, "Deleted 1 older; the newest 2 stay." in made.stderr) == (0, True)
    names = sorted(file.name for file in (tmp_path / "copies").iterdir())
    assert names[0] == "orrery-20200102T000000Z.db"
    assert len(names) == 2
    assert told(shop) == "ok"
    assert shop.orrery("restore", str(tmp_path / "copies" / names[1])).returncode in {0, 1}  # no processor runs


def told(shop: Deployment) -> str:
    """Return what doctor says of the backups."""
    findings = json.loads(shop.orrery("doctor", "--json").stdout)
    return next(one["state"] for one in findings if one["part"] == "backup")


def test_without_a_folder_a_file_is_asked_for(tmp_path: Path) -> None:
    """Where no folder is configured, a backup without FILE says what to do, with exit code 2."""
    refused = Deployment(tmp_path).orrery("backup")
    assert refused.returncode == 2
    assert "give a FILE, or set [backup] directory" in refused.stderr

"""`orrery doctor` reads every record, and names those that cannot be read."""

import json
from pathlib import Path
from typing import Any

from tests.support.damaged import cut
from tests.support.deployment import Deployment

GRANT = ("access", "grant", "ann@example.org", "--vendor", "northwind", "--cert", "cert-1", "--reason", "a try")


def records(shop: Deployment) -> dict[str, Any]:
    """Return what the doctor finds about the records."""
    found: list[dict[str, Any]] = json.loads(shop.orrery("doctor", "--json").stdout)
    return next(one for one in found if one["part"] == "records")


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    """A record that was cut is named by its key; before, every record can be read."""
    shop = Deployment(tmp_path)
    granted = shop.orrery(*GRANT)
    assert granted.returncode == 0, granted.stderr
    assert records(shop)["state"] == "ok"
    ((key, value),) = shop.records.scan("access:").items()
    shop.records.write(key, cut(value))
    found = records(shop)
    assert (found["state"], found["why"]) == ("broken", f"Cannot be read: {key}.")
    assert "`orrery restore` a backup" in found["todo"]

"""A domain is one folder and one line: one that is added to a copy of the package is seen by everything."""

import filecmp
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.package_copy import LISTING, ROOT, SOURCE, line_of, loaded, package_with, run_python

SESSION = Path(__file__).with_name("new_domain_session.py")
LINE = line_of("waitlist")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds a copy of the package with one domain more."""
    return package_with(tmp_path_factory.mktemp("copy"), "waitlist")


@pytest.fixture(scope="module")
def came(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what came of each step in a deployment of the copy."""
    folder = tmp_path_factory.mktemp("deployment")
    result = run_python(copy, SESSION, folder, folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def differences(compared: filecmp.dircmp[str], within: str = "") -> Iterator[str]:
    """Yield what is in one folder only, or is not the same in both."""
    yield from (f"{within}{name}" for name in (*compared.left_only, *compared.right_only, *compared.diff_files))
    for name, below in compared.subdirs.items():
        yield from differences(below, f"{within}{name}/")


def test_a_domain_is_its_folder_and_one_line(copy: Path) -> None:
    """Nothing else of the package was touched for it."""
    compared = filecmp.dircmp(SOURCE, copy / "orrery", ignore=["__pycache__"])
    assert set(differences(compared)) == {"waitlist", "app/modules.py"}
    before, after = (one / "app" / "modules.py" for one in (SOURCE, copy / "orrery"))
    assert after.read_text().replace(LINE, "", 1) == before.read_text()


def test_it_is_held_to_the_import_rules(copy: Path) -> None:
    """A violation in the new domain breaks its own contract and closes a circle; but for that every rule holds."""
    planted = copy / "orrery" / "waitlist" / "records.py"
    kept = planted.read_text()
    planted.write_text(f"{kept}\nimport orrery.waitlist.service\nimport orrery.fraud\nimport httpx2\n")
    try:
        found = run_python(copy, ROOT / "tools" / "import_rules.py", copy)
    finally:
        planted.write_text(kept)
    said = " ".join(found.stdout.split())
    assert " kept, 4 broken" in said, found.stdout + found.stderr
    for violation in ("orrery.waitlist.service", "orrery.fraud", "httpx2"):
        assert f"orrery.waitlist.records -> {violation}" in said


def test_its_commands_are_listed_and_load_little(copy: Path, tmp_path: Path) -> None:
    """The help has the group, and a plain command runs with argparse and the standard library alone."""
    assert "Show who waits; add a person." in run_python(copy, "-m", "orrery", "--help").stdout
    assert "Count the lines of a file." in run_python(copy, "-m", "orrery", "waitlist", "--help").stdout
    (tmp_path / "people").write_text("ann@buyer.example\nbob@buyer.example\n")
    counted = run_python(copy, "-c", LISTING, "waitlist", "count", tmp_path / "people")
    found = loaded(counted)
    assert (counted.returncode, counted.stdout) == (0, "2\n")
    assert "orrery.waitlist.cli.count" in found
    assert not found & {
        "typer",
        "pydantic",
        "asyncio",
        "structlog",
        "importlib.metadata",
        "orrery.waitlist.service",
    }


def test_its_settings_are_explained_and_checked(came: dict[str, Any]) -> None:
    """`init` explains its section and names its secret; what is unknown or unusable is refused in a sentence."""
    assert came["init"].startswith("0 ")
    assert " waitlist_token " in came["init"]
    assert tomllib.loads(came["template"])["waitlist"] == {"most": 100}
    assert re.search(r"(?m)^#   waitlist_token$", came["template"])
    refusal = "1 The settings cannot be used: waitlist.many: there is no such key."
    assert came["unknown key"][1:] == refusal[1:]
    assert "The secret waitlist_token has more than one line" in came["unusable secret"]


def test_its_commands_run_against_the_store(came: dict[str, Any]) -> None:
    """What one command stored another shows."""
    assert came["add"] == "0 One more waits."
    assert came["list"].startswith("0 email since ann@buyer.example ")


def test_the_unit_hands_its_secret_over(came: dict[str, Any]) -> None:
    """A folder of credentials, whose files have the role's name before them, is enough: no unit names a secret."""
    assert parts(came["without secret"])["waiting list's partner"] == "off"
    assert parts(came["doctor"])["waiting list's partner"] == "ok"
    assert "waitlist_token" in came["secrets"]
    unit = (ROOT / "deploy/systemd/orrery.service").read_text()
    assert "LoadCredential=site:" in unit


def parts(doctor: str) -> dict[str, str]:
    """Return the state of each part that `orrery doctor --json` names."""
    return {one["part"]: one["state"] for one in json.loads(doctor.partition(" ")[2])}


def test_its_routes_are_on_their_listeners(came: dict[str, Any]) -> None:
    """The public route answers on the public listener, the private one on the private listener only."""
    assert came["joined public"] == 200
    assert (came["counted public"], came["counted private"]) == (404, 200)
    assert came["count"] == {"waiting": 1}
    assert "/guided/api/waitlist" in came["openapi"]
    assert came["full"] == [409, "waitlist-full"]
    assert came["wrong"] == [400, "invalid-request"]


def test_the_centre_shows_it(came: dict[str, Any]) -> None:
    """Its check, its panel and its figure are where all of them are; its job runs, its operation is proposed."""
    assert parts(came["doctor"])["waiting list"] == "ok"
    ready = json.loads(came["readyz"])
    assert {one["part"]: one["state"] for one in ready["parts"]}["waiting list"] == "broken"
    assert ready["ready"]  # a full list is no reason to send visitors away
    assert "Waiting list" in came["owner"]
    assert 'orrery_waitlist_joined_total{by="site"} 1.0' in came["metrics"]
    assert came["counted by the job"] == [1]
    assert came["proposed"] == "close-waitlist"


def test_its_personal_data_are_exported_and_erased(came: dict[str, Any]) -> None:
    """An export names its records by its own name, and an erasure reaches them."""
    assert json.loads(came["export"].partition(" ")[2])["waiting"][0]["email"] == "ann@buyer.example"
    assert "1 waiting" in came["erase"]
    assert json.loads(came["export after"].partition(" ")[2])["waiting"] == []


def test_a_restore_is_followed_by_its_sentence(came: dict[str, Any]) -> None:
    """What it does after a restore is done, and told."""
    assert "1 people wait, as in the snapshot." in came["restore"]

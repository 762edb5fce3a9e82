"""A module whose names changed in two releases, in a copy of the package: what each release wrote is read."""

import json
from pathlib import Path

import pytest

from tests.support.package_copy import package_with, run_python


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that holds a copy of the package with the almanac."""
    return package_with(tmp_path_factory.mktemp("copy"), "almanac")


OF_THE_FIRST = '[calendar]\nlimit = 7\ncolour = "red"\n[calendar.issue]\ntitle = "old"\n[moon]\nfull = true\n'
READ = """\
from orrery.almanac.settings import AlmanacSettings
from orrery.app.settings.reader import load
settings, secrets = load()
almanac = settings[AlmanacSettings]
print(almanac.most, almanac.days, almanac.edition.name, secrets.reveal("almanac_token"))
"""


def test_every_declaration_holds_in_every_source(copy: Path) -> None:
    """The tests that walk over the declarations have some here, and pass; no page of the copy names them."""
    named = ["tests/app/settings/test_former_names.py", "tests/docs/test_reference.py"]
    result = run_python(copy, "-m", "pytest", "-p", "no:cacheprovider", "-q", *named, "-k", "former or release")
    failed = [line for line in result.stdout.splitlines() if line.startswith("FAILED")]
    assert len(failed) == 1, result.stdout[-3000:]
    assert "test_every_former_name_is_documented" in failed[0]
    assert "skipped" not in result.stdout.splitlines()[-1]


def test_an_upgrade_over_two_releases(copy: Path, tmp_path: Path) -> None:
    """The first release's names have their values; a start, the doctor and a new file name them once."""
    (tmp_path / "orrery.toml").write_text(OF_THE_FIRST)
    of_before = {"ORRERY_CALENDAR__DATES": "[3]", "ORRERY_CALENDAR_TOKEN": "of-the-first"}
    read = run_python(copy, "-c", READ, folder=tmp_path, **of_before)
    assert read.stdout == "7 (3,) old of-the-first\n", read.stderr
    assert run_python(copy, "-m", "orrery", "store", "create", folder=tmp_path).returncode == 0
    shown = run_python(copy, "-m", "orrery", "config", "check", "--json", folder=tmp_path, **of_before)
    (finding,) = [one for one in json.loads(shown.stdout) if one["part"] == "outdated settings"]
    assert finding["state"] == "ok"
    for said in (
        "calendar is called almanac since 0.2; ",
        "almanac.limit is called almanac.most since 0.2; ",
        "almanac.edition.title is called almanac.edition.name since 0.3; ",
        "almanac.colour means nothing since 0.2: It is printed in black; ",
        "moon means nothing since 0.3: Nothing asks the moon any more; ",
        "the secret calendar_token is called almanac_token since 0.2.",
    ):
        assert said in finding["why"]
    doctor = run_python(copy, "-m", "orrery", "doctor", "--json", folder=tmp_path, **of_before)
    assert [one for one in json.loads(doctor.stdout) if one["part"] == "outdated settings"] == [finding]


@pytest.mark.parametrize(
    ("text", "variables", "said"),
    [
        ("[almanac]\nlimit = 1\nmost = 2\n", {}, "almanac: most and limit are one: keep most, and "),
        (
            "[almanac]\nmost = 2\n",
            {"ORRERY_YEARBOOK__MAXIMUM": "1"},
            "almanac and yearbook are one: keep almanac, ",
        ),
        ("[yearbook]\nmaximum = 2\n", {"ORRERY_YEARBOOK__LIMIT": "1"}, "limit and maximum are one: keep most, "),
        ("", {"ORRERY_ALMANAC_TOKEN": "aaaaaaaa", "ORRERY_YEARBOOK_TOKEN": "aaaaaaaa"}, "keep almanac_token, "),
    ],
)
def test_two_names_at_once_are_refused(
    copy: Path, tmp_path: Path, text: str, variables: dict[str, str], said: str
) -> None:
    """One sentence and exit code 2, wherever each of them is."""
    (tmp_path / "orrery.toml").write_text(text)
    refused = run_python(copy, "-m", "orrery", "serve", folder=tmp_path, **variables)
    assert refused.returncode == 2
    assert said in refused.stdout + refused.stderr

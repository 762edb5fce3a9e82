"""A module whose names changed in two releases, in a copy of the package: what each release wrote is read."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.package_copy import package_with, run_python

SESSION = Path(__file__).with_name("former_names_session.py")


@pytest.fixture(scope="module")
def came(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what came of each step with a copy of the package that has the almanac."""
    copy = package_with(tmp_path_factory.mktemp("copy"), "almanac")
    result = run_python(copy, SESSION, tmp_path_factory.mktemp("deployment"))
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_every_declaration_holds_in_every_source(came: dict[str, Any]) -> None:
    """The walk over the declarations meets some here, of each kind; the reference would need a row for each."""
    assert {name: why for name, why in came["walked"].items() if why} == {}
    for kind in (
        "release 0.3 site",
        "setting calendar is",
        "setting almanac.colour means",
        "secret moon_key means",
    ):
        assert any(name.startswith(kind) for name in came["walked"]), kind
    assert len([name for name in came["walked"] if name.startswith("secret calendar_token")]) == 3
    assert ["almanac.edition.title", "almanac.edition.name", "0.3"] in came["rows"]
    assert ["yearbook_token", "almanac_token", "0.3"] in came["rows"]


def test_an_upgrade_over_two_releases(came: dict[str, Any]) -> None:
    """The first release's names have their values; a start, the doctor and a new file name them once."""
    said = came["upgraded"]
    assert said["read"] == [7, [3], "old", "of-the-first"]
    assert said["created"][0] == 0
    (finding,) = said["config check"]
    assert finding["state"] == "ok"
    for sentence in (
        "calendar is called almanac since 0.2; ",
        "almanac.limit is called almanac.most since 0.2; ",
        "almanac.edition.title is called almanac.edition.name since 0.3; ",
        "almanac.colour means nothing since 0.2: It is printed in black; ",
        "moon means nothing since 0.3: Nothing asks the moon any more; ",
        "the secret calendar_token is called almanac_token since 0.2.",
    ):
        assert sentence in finding["why"]
    assert [one | {"node": ""} for one in said["doctor"]] == [finding]


def test_every_role_is_told(came: dict[str, Any]) -> None:
    """A scan, the cockpit and the cloud name what the file of theirs has of before, once, with what to do."""
    for said in came["told"]:
        sentence = "moon means nothing since 0.3: Nothing asks the moon any more. Write today's names"
        assert " ".join(said.split()).count(sentence) == 1, said


def test_other_keys_of_a_renamed_section_are_joined(came: dict[str, Any]) -> None:
    """A section by its former name in the file, and another key of it by today's in a variable."""
    assert came["upgraded"]["joined"] == [7, [3]]


SENTENCES = [
    "almanac: most and limit are one: keep most, and remove what else there is.",
    "almanac: most and maximum are one: keep most, and ",
    "almanac.most and yearbook.most are one: keep almanac.most, and ",
    "yearbook, now almanac: limit and maximum are one: keep most, ",
    "almanac_token and yearbook_token are one: keep almanac_token, ",
    "yearbook.maximum, now almanac.most: Input should be greater than or equal to 1.",
    "calendar.issue.name, now almanac.edition.name: Input should be a valid string.",
    "yearbook.pages.1.count, now almanac.pages.1.number: Input should be a valid integer",
    "The secret yearbook_token, now almanac_token, has white space inside: ",
]


def test_what_cannot_be_used_is_named_as_it_is_written(came: dict[str, Any]) -> None:
    """In one sentence with exit code 2: two names of one thing at once, and a wrong value under a former name."""
    for (code, said), sentence in zip(came["refused"], SENTENCES, strict=True):
        assert (code, sentence in " ".join(said.split())) == (2, True), (sentence, said)

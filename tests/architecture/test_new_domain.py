"""`./run new` adds a domain and an adapter to a copy of the repository, and everything sees them."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from orrery.adapters.sqlite import create
from tests.support.package_copy import LISTING, ROOT, loaded, run_python
from tests.support.soak import SOAKING
from tools.new import EXAMPLES

SESSION = Path(__file__).with_name("new_domain_session.py")
LONG = "suppliersuppliers"[:16]
"""The longest name that there may be."""

HELD = ("src", "tests", "tools", "docs", "pyproject.toml")
"""What the generator reads of a repository, and what its tests ask for."""


KILLED = """\
import os, signal, sys
from tools.new import checked, made
copy = checked(*sys.argv[1:])
plan = copy.changes()
assert str([*plan][-1]).endswith(("app/modules.py", "app/adapters/__init__.py"))
for count, path in enumerate(made(copy), 2):
    assert checked(*sys.argv[1:]).changes() == plan, path
    if count == len(plan):
        os.kill(os.getpid(), signal.SIGKILL)
"""
"""After each write a repeat would write the same. It dies before the last one, which registers what is new."""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository, to which a domain and an adapter were added after a kill."""
    copy = tmp_path_factory.mktemp("repository")
    for name in HELD:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name)  # with what is compiled, which stays valid
        else:
            shutil.copy(ROOT / name, copy)
    for kind, name in (("domain", "recipes"), ("adapter", LONG)):
        killed = run_python(copy / "src", "-c", KILLED, kind, name, folder=copy)
        assert killed.returncode == -SIGKILL, killed.stderr
        came = new(copy, kind, name)
        assert came.returncode == 0, came.stdout + came.stderr
        assert came.stdout.count("  ./run test tests/") == 5
    return copy


def new(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the generator of a copy of the repository."""
    return run_python(repository / "src", "-m", "tools.new", *words, folder=repository)


@pytest.fixture
def copy(repository: Path) -> Path:
    """Return the folder of the package with the domain."""
    return repository / "src"


@pytest.fixture(scope="module")
def came(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what came of each step in a deployment of the copy."""
    folder = tmp_path_factory.mktemp("deployment")
    result = run_python(repository / "src", SESSION, folder, folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def texts(repository: Path) -> dict[str, bytes]:
    """Return what each file of a copy of the repository says."""
    files = (file for name in HELD for file in (repository / name, *(repository / name).rglob("*")))
    wanted = (file for file in files if file.is_file() and "__pycache__" not in file.parts)
    return {str(file.relative_to(repository)): file.read_bytes() for file in wanted}


def test_what_is_written(repository: Path) -> None:
    """Files gain lines and lose none; of the package, the lists of modules, adapters and stand-ins do."""
    before, after = texts(ROOT), texts(repository)
    changed = {name for name, text in before.items() if after[name] != text}
    assert {name for name in changed if name.startswith("src")} == {
        f"src/orrery/{name}" for name in ("app/modules.py", "app/adapters/__init__.py", "sandbox/app.py")
    }
    for name in changed - {"tools/statements.toml"}:
        lines = iter(after[name].splitlines())
        assert all(line in lines for line in before[name].splitlines()), name


@pytest.mark.skipif(not SOAKING, reason="the examples that they are copies of are checked: ./run soak written")
def test_they_pass_the_tests_that_are_named(repository: Path) -> None:
    """The style of what was written holds, and of those tests the ones that meet what is new."""
    named = (("domain", "recipes"), ("adapter", LONG))
    tests = {test.replace(EXAMPLES[kind].word, name) for kind, name in named for test in EXAMPLES[kind].tests}
    meet = ["-k", f"recipes or {LONG} or every or planted_violation_is_caught"]
    before, after = texts(ROOT), texts(repository)
    python = [name for name, text in after.items() if name.endswith(".py") and before.get(name) != text]
    for words in (["ruff", "check", *python], ["ruff", "format", "--check", *python], ["pytest", *meet, *tests]):
        came = run_python(repository / "src", "-m", *words, folder=repository)
        assert came.returncode == 0, came.stdout[-3000:] + came.stderr


def test_its_commands_are_listed_and_load_little(copy: Path, tmp_path: Path) -> None:
    """The help has the group, and a plain command runs with argparse and the standard library alone."""
    assert "List the entries of the recipes; add one." in run_python(copy, "-m", "orrery", "--help").stdout
    assert "Count the addresses in a file." in run_python(copy, "-m", "orrery", "recipes", "--help").stdout
    (tmp_path / "people").write_text("ann@buyer.example\nbob@buyer.example\n")
    counted = run_python(copy, "-c", LISTING, "recipes", "count", tmp_path / "people")
    found = loaded(counted)
    assert (counted.returncode, counted.stdout) == (0, "2\n")
    assert "orrery.recipes.cli.count" in found
    assert not found & {
        "typer",
        "pydantic",
        "asyncio",
        "orrery.logs",
        "importlib.metadata",
        "orrery.recipes.service",
    }


def test_its_settings_are_explained_and_checked(came: dict[str, Any]) -> None:
    """`init` explains its section and names its secret; what is unknown or unusable is refused in a sentence."""
    assert came["init"].startswith("0 ")
    assert " recipes_token " in came["init"]
    assert tomllib.loads(came["template"])["recipes"] == {"most": 100, "per_minute": 10}
    assert re.search(r"(?m)^#   recipes_token$", came["template"])
    refusal = "1 The settings cannot be used: recipes.many: there is no such key."
    assert came["unknown key"][1:] == refusal[1:]
    assert "The secret recipes_token has more than one line" in came["unusable secret"]


def test_its_commands_run_against_the_store(came: dict[str, Any]) -> None:
    """What one command stored another shows."""
    assert came["add"] == "0 The entry is there."
    assert came["list"].startswith("0 email since ann@buyer.example ")


def test_the_unit_hands_its_secret_over(came: dict[str, Any]) -> None:
    """A folder of credentials, whose files have the role's name before them, is enough: no unit names a secret."""
    assert parts(came["without secret"])["mirror of recipes"] == "off"
    assert parts(came["doctor"])["mirror of recipes"] == "ok"
    assert "recipes_token" in came["secrets"]
    unit = (ROOT / "deploy/systemd/orrery.service").read_text()
    assert "LoadCredential=site:" in unit


def parts(doctor: str) -> dict[str, str]:
    """Return the state of each part that `orrery doctor --json` names."""
    return {one["part"]: one["state"] for one in json.loads(doctor.partition(" ")[2])}


def test_its_routes_are_on_their_listeners(came: dict[str, Any]) -> None:
    """The public route answers on the public listener, the private one on the private listener only."""
    assert came["joined public"] == 200
    assert (came["counted public"], came["counted private"]) == (404, 200)
    assert came["count"] == {"entries": 1}
    assert "/guided/api/recipes" in came["openapi"]
    assert came["full"] == [409, "recipes-full"]
    assert came["wrong"] == [422, "invalid-field"]
    assert came["too many"] == [429, "too-many-requests"]


def test_every_public_write_has_a_limit(came: dict[str, Any]) -> None:
    """Of the whole service: whoever writes has a credential, or meets the limit of its address."""
    paths = json.loads(came["openapi"])["paths"]
    answers = {path: set(one["post"]["responses"]) for path, one in paths.items() if "post" in one}
    assert len(answers) > 4
    open_to_all = {path for path, statuses in answers.items() if not statuses & {"401", "429"}}
    assert open_to_all == {"/guided/api/webhook"}  # what it stores is signed by the processor


def test_the_centre_shows_it(came: dict[str, Any]) -> None:
    """Its check, its panel and its figure are where all of them are; its job runs, its operation is proposed."""
    assert parts(came["doctor"])["recipes"] == "ok"
    ready = json.loads(came["readyz"])
    assert {one["part"]: one["state"] for one in ready["parts"]}["recipes"] == "broken"
    assert ready["ready"]  # that no more entries fit is no reason to send visitors away
    assert "Recipes" in came["owner"]
    assert 'orrery_recipes_added_total{by="site"} 1.0' in came["metrics"]
    assert came["counted by the job"] == [1]
    assert came["proposed"] == "close-recipes"


def test_its_personal_data_are_exported_and_erased(came: dict[str, Any]) -> None:
    """An export names its records by their prefix, and an erasure reaches them: both follow from the mark."""
    assert json.loads(came["export"].partition(" ")[2])["recipes-entry"][0]["email"] == "ann@buyer.example"
    assert "1 recipes-entry" in came["erase"]
    assert json.loads(came["export after"].partition(" ")[2])["recipes-entry"] == []


def test_a_restore_is_followed_by_its_sentence(came: dict[str, Any]) -> None:
    """What it does after a restore is done, and told."""
    assert "The recipes has 1 entries, as in the snapshot." in came["restore"]


UNFIT = {
    "prefixes": (
        "module.py",
        '"recipes-entry:"',
        '"other:"',
        "keeps records under recipes-entry:, which its `prefixes` do not",
    ),
    "build": ("build.py", "return Parts(", "return 1 / Parts(", "while the module recipes was built: TypeError"),
}
"""What a domain may get wrong: file, text, what takes its place, and the end of the sentence."""


@pytest.mark.parametrize("what", UNFIT)
def test_what_does_not_fit_ends_the_start_with_its_sentence(copy: Path, tmp_path: Path, what: str) -> None:
    """The module is named, and what it lacks; of an error in its code the trace comes before the sentence."""
    name, text, other, sentence = UNFIT[what]
    file = copy / "orrery" / "recipes" / name
    kept = file.read_text()
    assert kept.count(text) == 1
    file.write_text(kept.replace(text, other))
    create(tmp_path / "orrery.db")
    (tmp_path / "orrery.toml").write_text('store.path = "orrery.db"\n')
    try:
        came = run_python(copy, "-m", "orrery", "doctor", "-c", tmp_path / "orrery.toml")
    finally:
        file.write_text(kept)
    assert (came.returncode, came.stdout) == (1, "")
    assert sentence in came.stderr.splitlines()[-1]
    assert ("Traceback" in came.stderr) == (what == "build")

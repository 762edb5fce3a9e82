"""What `orrery setup` refuses and repairs before any command of ours runs."""

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from orrery.adapters.sqlite import create
from orrery.adapters.sqlite.file import share
from orrery.app.setup.answers import FileOfAnswers
from orrery.app.setup.deployment_files import DeploymentFiles
from orrery.app.setup.going_on import begin_live, how_to_sign
from orrery.app.setup.setting_up import SettingUp
from orrery.app.setup.steps import steps
from orrery.app.setup.trials import OwnCommands
from orrery.errors import Invalid
from tests.docs.documents import ROOT

SITE = '[[sites]]\norigin = "https://shop.example"\nname = "Northwind"\n[checkout]\nseller = "Northwind"\n'
OF_THE_TEST = {
    "processor_api_key": "rk_test_key_of_a_shop",
    "webhook_signing_secret": "whsec_of_the_test",
    "mail_password": "of the test",
}
REFUSED: tuple[tuple[str, int, str], ...] = (
    (SITE, 0o640, "chmod 600"),
    (SITE + SITE.partition("[checkout]")[0], 0o600, "sites.1.origin, sites.1.name"),
    ('[secrets]\nprocessor_key = "rk_test_1"\n', 0o600, "secrets.processor_key"),
    ('mode = "live"\n', 0o600, "mode"),
    ("[notes", 0o600, "is not valid TOML: Expected ']' at the end of a table declaration (at end of document)"),
    ("x = [", 0o600, "is not valid TOML: Invalid value (at end of document)"),
    (b'mode = "\xe9"'.decode(errors="surrogateescape"), 0o600, "it is not text in UTF-8"),
)
"""A file of answers, its mode, and what is said."""


@pytest.fixture
def files(tmp_path: Path) -> Iterator[DeploymentFiles]:
    """Return the files of a shop in test mode that are prepared, under the strictest mask of a shell."""
    before = os.umask(0o077)
    try:
        found = DeploymentFiles(tmp_path / "orrery.toml")
        _ = found.prepare()
        yield found
    finally:
        os.umask(before)


@pytest.fixture
def store(files: DeploymentFiles) -> Path:
    """Return the test's store of a shop that has done every step."""
    files.remember({"done": [step.name for step in steps()]})
    place = files.settings_file.parent / ".orrery/orrery.db"
    create(place)
    return place


def answers(files: DeploymentFiles, text: str, mode: int = 0o600) -> FileOfAnswers:
    file = files.settings_file.with_name("answers.toml")
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    file.chmod(mode)
    return FileOfAnswers(file)


def go_live(files: DeploymentFiles) -> None:
    begin_live(files, OwnCommands(files))


@pytest.mark.parametrize(("text", "mode", "said"), REFUSED)
def test_answers_that_are_refused(files: DeploymentFiles, text: str, mode: int, said: str) -> None:
    """Nothing in a file of answers is passed over."""
    with pytest.raises(Invalid, match=re.escape(said)):
        _ = answers(files, text, mode)


def test_a_setting_that_cannot_be_used_is_refused_by_its_own_step(files: DeploymentFiles) -> None:
    """A later step could not ask for it again."""
    wrong = answers(files, SITE.replace("https://shop.example", "http://shop.example/path"))
    assert SettingUp(files, wrong, live=False).run() == "Your site"
    assert "done" not in files.memory()


def test_an_optional_value_is_taken_away(files: DeploymentFiles) -> None:
    """A setting, a list and a secret; where the step fails all is as it was, by a later one not."""
    asked = {one.key: one for step in steps() for one in step.questions}
    names = "sites.0.practice_url", "checkout.postal_address[]"
    for name in names:
        files.write(asked[name], "https://shop.example/practice/{certCode}/")
    text = SITE.replace("[checkout]", 'practice_url = "-"\n[checkout]\npostal_address = ["-"]')
    assert SettingUp(files, answers(files, text), live=False).run() == "The payment processor's key"
    assert [files.value(asked[name]) for name in names] == ["", ""]
    files.write(asked["mail.host"], "smtp.example")
    files.write(asked["mail_password"], "of the server")
    files.remember({"done": [step.name for step in steps() if step.name != "mail"]})
    mail = '[mail]\nusername = "-"\nsender = "shop@shop.example"\n[secrets]\nmail_password = "-"\n'
    assert SettingUp(files, answers(files, mail), live=False).run() == "E-mail to buyers"
    assert files.content("mail_password") == "of the server"


LISTS = ["Main St 1, Apt 2", "City"], ['ssh-ed25519 AAAA "me, at home"'], ["1", "2"], ["a, b"], ["a\nb"]


@pytest.mark.parametrize("lines", LISTS)
def test_a_list_stays_the_list_that_it_was(files: DeploymentFiles, lines: list[str]) -> None:
    """A comma within is no end of a line; what was written is the answer that is compared and offered."""
    question = next(one for step in steps() for one in step.questions if one.key == "checkout.postal_address[]")
    given = answers(files, f"[checkout]\npostal_address = {json.dumps(lines)}\n").given(question)
    files.write(question, given)
    settings = tomllib.loads(files.settings_file.read_text(encoding="utf-8"))
    assert (settings["checkout"]["postal_address"], files.value(question)) == (lines, given)


def test_a_line_end_is_no_part_of_a_secret(files: DeploymentFiles) -> None:
    """As of one that is typed; spaces of a password are."""
    given = answers(files, '[secrets]\nmail_password = """one\n"""\nadmin_password_hash = """ two \n"""\n').given
    asked = {one.key: one for step in steps() for one in step.questions}
    assert [given(asked[name]) for name in ("mail_password", "admin_password_hash")] == ["one", " two "]


def test_another_answer_to_what_is_done_is_not_passed_over(
    files: DeploymentFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not written either: a wrong value would stop a shop that sells."""
    files.write(steps()[0].questions[0], "https://shop.example")
    files.remember({"done": ["site"]})
    before = files.settings_file.read_bytes()
    other = answers(files, SITE.replace("shop.example", "other.example"))
    assert SettingUp(files, other, live=False).run() == "Your site"
    assert "sites.0.origin" in capsys.readouterr().err
    assert files.settings_file.read_bytes() == before


@pytest.mark.parametrize("given", ["", '[secrets]\nwebhook_signing_secret = "whsec_of_the_test"\n'])
def test_no_secret_of_the_test_is_one_of_live_mode(
    files: DeploymentFiles, store: Path, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kept or pasted again, the test's signing secret would refuse every payment that the processor reports."""
    del store
    for question in (one for step in steps() for one in step.questions if one.secret in OF_THE_TEST):
        files.write(question, OF_THE_TEST[question.secret])
    go_live(files)
    files.remember({"done_live": ["key", "product"]})
    assert SettingUp(files, answers(files, given), live=True).run() == "The webhook"
    assert "webhook_signing_secret" in capsys.readouterr().err
    assert sorted(file.name for file in files.secrets.iterdir()) == ["mail_password"]


def test_the_live_pass_asks_again_for_what_was_left_out(
    files: DeploymentFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    """That settled nothing: a shop in live mode may want receipts after all."""
    done = [step.name for step in steps() if step.name != "push"]
    files.remember({"done": done, "not_wanted": ["push"], "done_live": ["key", "product", "webhook"]})
    wrong = answers(files, '[push]\nurl = "nowhere"\n')
    assert SettingUp(files, wrong, live=True).run() == "Pushes to you"
    assert "[4/4] Pushes to you: left out before." in capsys.readouterr().err


def test_a_store_that_setup_made_is_not_made_again(
    files: DeploymentFiles, capsys: pytest.CaptureFixture[str]
) -> None:
    """It held sales, perhaps; the vendor is not asked for them."""
    files.remember({"done": ["site"], "store_test": "2026-11-28 20:40 UTC"})
    key = answers(files, '[secrets]\nprocessor_api_key = "rk_test_key_of_a_shop"\n')
    assert SettingUp(files, key, live=False).run() == "The payment processor's key"
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "The store that setup made on 2026-11-28 20:40 UTC is missing: bring it back with `orrery restore" in said
    )
    assert not [*files.settings_file.parent.rglob("*.db")]


def test_no_store_is_made_where_one_was_moved_away(files: DeploymentFiles, store: Path) -> None:
    """What is left of a store shows where its sales are."""
    _ = store.rename(store.with_name("orrery.db.moved"))
    files.remember({"done": ["site"]})
    key = answers(files, '[secrets]\nprocessor_api_key = "rk_test_key_of_a_shop"\n')
    assert SettingUp(files, key, live=False).run() == "The payment processor's key"
    assert not store.exists()


def test_live_mode_comes_after_test_mode(files: DeploymentFiles) -> None:
    """Without a shop that was tried, the mode stays."""
    with pytest.raises(Invalid, match="Test mode comes first"):
        go_live(files)
    assert files.setting("mode") == "test"


def test_a_live_store_is_not_put_aside(files: DeploymentFiles, store: Path) -> None:
    """Also when somebody wrote test mode into the settings since."""
    files.remember({"store_live": "2026-11-28 20:40 UTC"})
    with pytest.raises(Invalid, match="live store"):
        go_live(files)
    assert store.is_file()


def test_a_store_in_use_is_not_put_aside(files: DeploymentFiles, store: Path) -> None:
    """A service that runs would go on writing into what was put aside."""
    with closing(share(store)), pytest.raises(Invalid, match="in use"):
        go_live(files)
    assert (store.is_file(), files.setting("mode")) == (True, "test")


def test_one_store_that_is_aside_is_not_overwritten(files: DeploymentFiles, store: Path) -> None:
    """It stays the owner's, and the folder is of the store's user."""
    if os.geteuid() == 0:
        os.chown(store, 4321, 4322)
    owner = store.stat().st_uid
    go_live(files)
    assert store.with_name("orrery-test").stat().st_uid == owner
    file = files.settings_file
    file.write_text(file.read_text(encoding="utf-8").replace('mode = "live"', 'mode = "test"'), encoding="utf-8")
    create(store)
    with pytest.raises(Invalid, match="already"):
        go_live(files)


def test_a_killed_change_of_mode_goes_on(files: DeploymentFiles, store: Path) -> None:
    """What a kill left of the test's store follows it, and no file beside it does."""
    log, other = store.with_name("orrery.db-wal"), store.with_name("orrery.db.old")
    for file in log, other:
        file.write_bytes(b"")
    aside = store.with_name("orrery-test")
    aside.mkdir()
    _ = store.rename(aside / store.name)
    go_live(files)
    assert ((aside / log.name).is_file(), other.is_file(), files.setting("mode")) == (True, True, "live")


def test_a_secret_goes_where_the_settings_have_it(files: DeploymentFiles, tmp_path: Path) -> None:
    """Nothing is beside it that every command would refuse; the mask of the shell does not count."""
    text = files.settings_file.read_text(encoding="utf-8")
    files.settings_file.write_text(
        text.replace('directory = "secrets"', 'directory = "of/keys"'), encoding="utf-8"
    )
    files.prepare()
    files.write(next(one for step in steps() for one in step.questions if one.secret), "one")
    files.remember({"done": []})
    assert [file.name for file in (tmp_path / "of/keys").iterdir()] == ["processor_api_key"]
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("orrery.toml", "setup.toml", "of/keys")]
    assert modes == [0o644, 0o644, 0o700]


def test_what_is_typed_to_sign_in_a_container(files: DeploymentFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what the page has, with the intent's own name."""
    monkeypatch.setenv("TYPED_AS", "docker compose run --rm orrery")
    page = (ROOT / "docs/how-to/run-in-a-container.md").read_text(encoding="utf-8").replace('"$INTENT"', "in-1")
    assert [line for line in how_to_sign(files, "in-1").split("\n") if f"\n{line.strip()}\n" not in page] == []


def test_settings_keep_their_mode_and_owner(files: DeploymentFiles) -> None:
    """An answer opens them to nobody."""
    if os.geteuid() == 0:
        os.chown(files.settings_file, 4321, 4322)
    files.settings_file.chmod(0o600)
    before = files.settings_file.stat()
    files.write(steps()[0].questions[0], "https://shop.example")
    after = files.settings_file.stat()
    assert files.setting("sites.0.origin") == "https://shop.example"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_two_at_once(files: DeploymentFiles) -> None:
    """The second would write over what the first was told."""
    with files.held(), pytest.raises(Invalid, match="at work"), DeploymentFiles(files.settings_file).held():
        pass


def test_a_memory_that_cannot_be_read(files: DeploymentFiles, tmp_path: Path) -> None:
    """The sentence names the file."""
    (tmp_path / "setup.toml").write_text("done = [", encoding="utf-8")
    with pytest.raises(Invalid, match=re.escape("setup.toml cannot be read")):
        _ = files.memory()

"""Where the role scan has its settings from, and what is refused (decisions 40, 41 and 50)."""

from pathlib import Path

import pytest

from orrery.app.scan.deployment import DEPLOYMENT
from orrery.app.scan.found import NO_LIST, NO_SETTINGS
from orrery.app.settings.variables import SettingsError
from tests.support.scan_user import SECRETS, TRACKS, ScanUser

TRAP = "[scan]\nno_such_key = 1\n"


def test_settings_in_the_current_folder_are_not_read(user: ScanUser) -> None:
    """A repository that brings settings, even the demo's, or a folder of them, does not steer its own scan."""
    for name in ("orrery.toml", ".orrery/orrery.toml", ".config/orrery/orrery.toml"):
        user.write(TRAP, user.here / name)
    user.set(XDG_CONFIG_HOME=".config")  # a relative one does not count
    assert user.load().notes == (NO_SETTINGS, NO_LIST)


def test_each_place_goes_before_the_next(user: ScanUser, tmp_path: Path) -> None:
    """Named by option, named by variable, the user's own folder, and the home's where there is no other."""
    files = {name: tmp_path / f"{name}.toml" for name in ("option", "variable")}
    files["own"], files["home"] = tmp_path / "xdg/orrery/orrery.toml", user.config / "orrery.toml"
    for name, file in files.items():
        user.write(f'[scan]\ndomains = ["{name}.example"]\n', file)

    def read(config: Path | None = None) -> set[str]:
        return set(DEPLOYMENT.load(config).policy.domains)

    assert read() == {"home.example"}
    user.set(XDG_CONFIG_HOME=str(tmp_path / "xdg"))
    assert read() == {"own.example"}
    user.set(ORRERY_CONFIG=str(files["variable"]))
    assert read() == {"variable.example"}
    assert read(files["option"]) == {"option.example"}


def test_a_named_file_must_be_there(user: ScanUser) -> None:
    """It is not passed over for the next place."""
    with pytest.raises(SettingsError, match="There is no settings file"):
        user.load(user.here / "gone.toml")


def test_the_tracks_say_what_is_foreign(user: ScanUser) -> None:
    """Track B's tenant is public, track A's internal with its accounts and their domains; a list adds domains."""
    user.write(f'[scan]\ndomains = ["Corp.Test"]\nrules = ["more.toml"]\n{TRACKS}')
    found = user.load()
    assert found.policy.public_tenants == {"bbbbbbbb-0000-4000-8000-00000000000b"}
    assert found.policy.internal_tenants == {"aaaaaaaa-0000-4000-8000-00000000000a"}
    assert found.policy.addresses == {"ann@corp.example"}
    assert found.policy.domains == {"corp.example", "corp.test"}
    assert found.rules == (user.config / "more.toml",)
    assert found.notes == (NO_LIST,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TRAP, "scan.no_such_key: there is no such key"),
        ("[scam]\n", "scam: there is no such key; the nearest is scan"),
        ('[scan]\ndomains = ["MARK"]\n', "scan.domains.0: a domain is written as in corp.example"),
        ("[scan", "is not valid TOML"),
    ],
)
def test_what_is_unknown_is_refused(user: ScanUser, text: str, said: str) -> None:
    """A key, a section or a value that cannot be is fatal, and no value is repeated."""
    user.write(text)
    with pytest.raises(SettingsError) as refused:
        user.load()
    assert said in str(refused.value)
    assert "MARK" not in str(refused.value)


def test_sections_and_secrets_of_other_roles_are_passed_by(user: ScanUser) -> None:
    """They are known by their names, and nobody looks at what is in them."""
    user.with_list()
    user.write(f"{SECRETS}[live]\nno_such_key = 1\n[cockpit]\nnor_this = 1\n")
    (user.key_file.parent / "processor_api_key").write_text("unusable: it is not read\n")
    assert len(user.load().policy.terms) == 1


def test_a_secret_file_that_nobody_knows_is_refused(user: ScanUser) -> None:
    """As in every role: a mistyped name would be a missing key."""
    user.with_list()
    (user.key_file.parent / "watch_list_kee").write_text("x" * 43)
    with pytest.raises(SettingsError, match="The secret file watch_list_kee is none of"):
        user.load()


@pytest.mark.parametrize(
    "name", ["ORRERY_SCAN__WATCH_LIST", "ORRERY_TENANTS__A__TENANT", "ORRERY_SECRETS__DIRECTORY"]
)
def test_a_variable_that_would_be_a_setting_is_refused(user: ScanUser, name: str) -> None:
    """This role has its settings from the file alone: a variable is not ignored in silence."""
    user.set(**{name: "MARK"})
    with pytest.raises(SettingsError, match=f"{name} does not count for the scanner") as refused:
        user.load()
    assert "MARK" not in str(refused.value)


def test_variables_of_others_pass_and_unknown_ones_do_not(user: ScanUser) -> None:
    """What the site has in its environment stops no commit; a mistyped name does."""
    user.set(ORRERY_MODE="test", ORRERY_SERVER__PORT="9000", ORRERY_COCKPIT="[", ORRERY_PROCESSOR_API_KEY="x")
    assert user.load().notes == (NO_SETTINGS, NO_LIST)
    user.set(ORRERY_SCNA__WATCH_LIST="x")
    with pytest.raises(SettingsError, match="ORRERY_SCNA__WATCH_LIST is neither a setting nor a secret"):
        user.load()


def test_settings_that_others_may_write_are_refused(user: ScanUser) -> None:
    """The ownership rules of every role count here, too."""
    user.write("").chmod(0o666)
    with pytest.raises(SettingsError, match="may be written by everybody"):
        user.load()


def test_a_folder_of_credentials_hands_over_the_key(user: ScanUser) -> None:
    """A service manager's copies go before the settings' folder, with the role's name before the file's."""
    user.with_list()
    folder = user.home / "credentials"
    folder.mkdir()
    user.key_file.rename(folder / "scan_watch_list_key")
    user.set(CREDENTIALS_DIRECTORY=str(folder))
    assert len(user.load().policy.terms) == 1

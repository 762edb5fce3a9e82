"""The files of the role scan, as its settings and the environment name them."""

import os
import pwd
from dataclasses import dataclass, field
from functools import cached_property
from os.path import lexists
from pathlib import Path

from orrery.adapters.private_files import OwnFile
from orrery.app.scan.found import LIST_NAME, NO_LIST, NO_SETTINGS, found_file, today
from orrery.app.scan.own_place import require_own_place
from orrery.app.settings.former_names import WRITE_NEW, why_outdated
from orrery.app.settings.places import own_folder
from orrery.app.settings.reader import read_settings
from orrery.app.settings.secrets import CREDENTIALS_VARIABLE, Secrets, examine_secrets, secret_file
from orrery.app.settings.sections import Settings
from orrery.app.settings.variables import ENVIRONMENT, SettingsError
from orrery.runtime.settings import SecretFiles
from orrery.scanner.allowances import Allowances
from orrery.scanner.baseline import read_baseline
from orrery.scanner.deployment import Loaded
from orrery.scanner.policy import Policy, Term
from orrery.scanner.settings import ScanSettings
from orrery.scanner.watch_list import SECRET
from orrery.scanner.watch_list_file import WatchListFile
from orrery.tenants.settings import TenantsSettings

TIMER_STATE = Path("/var/lib/orrery-scan")
"""Where the unit of the timer has a folder for each user, in which what was pushed is noted."""

EMPTY_LIST = "The watch-list is empty: no person, customer or project is searched for."


PUSHED_NAME = "told"


def scan_files(config: Path | None) -> "ScanFiles":
    """Return the files of the role, as its settings have them; raise `SettingsError`."""
    return files_of(found_file(config))


def files_of(file: Path | None) -> "ScanFiles":
    """Return those of a settings file, or the defaults; no variable is a setting of this role."""
    return ScanFiles(file, read_settings(file, "scan", {}))


def _timer_state() -> Path:
    return TIMER_STATE / pwd.getpwuid(os.geteuid()).pw_name


@dataclass(frozen=True)
class ScanFiles:
    """The settings of the file (None without one) and of the environment. `timer_state` is the timer's folder."""

    file: Path | None
    settings: Settings
    timer_state: Path = field(default_factory=_timer_state)

    def loaded(self) -> Loaded:
        """Return what a scan knows; raise `SettingsError`, or `NotConfigured` for a list that cannot be opened."""
        if self.list_path is None or not lexists(self.list_path):
            return Loaded(
                self._policy(), allowances=self._allowances(), rules=self._scan.rules, notes=self._notes(NO_LIST)
            )
        watch_list = self.watch_list()
        found = watch_list.read()
        terms = found.terms if found else ()
        return Loaded(
            self._policy(terms),
            watch_list.keys().fingerprints,
            self._allowances(),
            self._scan.rules,
            self._notes("" if terms else EMPTY_LIST),
        )

    @property
    def list_path(self) -> Path | None:
        """Where the watch-list is, or would be; a user without a home has no place for one by default."""
        own = own_folder(ENVIRONMENT)
        return self._scan.watch_list or (own / LIST_NAME if own else None)

    def watch_list(self) -> WatchListFile:
        """Return the watch-list; raise `SettingsError` for a place that is refused."""
        path = self.list_path
        if path is None:
            raise SettingsError("There is no place for a watch-list: set `watch_list` in [scan] of the settings.")
        require_own_place(path, "watch-list", "watch_list", self.settings[TenantsSettings])
        return WatchListFile(OwnFile(path), self.secret(SECRET), self._key_place)

    def pushed(self) -> OwnFile:
        """Return the file of what was pushed; raise `SettingsError` for a place that is refused."""
        state = own_folder(ENVIRONMENT, "XDG_STATE_HOME", ".local/state")
        if self.timer_state.is_dir():
            state = self.timer_state
        path = self._scan.told or (state / PUSHED_NAME if state else None)
        if path is None:
            raise SettingsError("There is no place for what was pushed: set `told` in [scan] of the settings.")
        require_own_place(path, "file of what was pushed", "told", self.settings[TenantsSettings])
        return OwnFile(path)

    def secret(self, name: str) -> str | None:
        """Return a secret, or None when it is missing; raise `SettingsError` for one that cannot be used."""
        for trouble in (self._secrets.troubles.get(""), self._secrets.troubles.get(name)):
            if trouble:
                raise SettingsError(trouble)
        return self._secrets.reveal(name)

    @property
    def key_file(self) -> Path | None:
        """The file that the key is in, or belongs in."""
        directory = ENVIRONMENT.get(CREDENTIALS_VARIABLE) or self._directory
        return secret_file(Path(directory), SECRET, "scan") if directory else None

    @property
    def new_key_file(self) -> Path | None:
        """The file that a new key is written to: a service manager's folder of copies is none."""
        return self._directory / SECRET if self._directory else None

    @property
    def _key_place(self) -> str:
        if file := self.key_file:
            return f"the secret file {file}"
        return f"the secret {SECRET} (no `directory` of [secrets] is set for its file)"

    @cached_property
    def _secrets(self) -> Secrets:
        return examine_secrets(self._directory, ENVIRONMENT, self.settings.mode, "scan")

    @property
    def _directory(self) -> Path | None:
        return self.settings[SecretFiles].directory

    @property
    def _scan(self) -> ScanSettings:
        return self.settings[ScanSettings]

    def _allowances(self) -> Allowances:
        file, day = self._scan.baseline, today()
        return Allowances(read_baseline(file, day), day) if file else Allowances(today=day)

    def _notes(self, of_list: str) -> tuple[str, ...]:
        why = why_outdated(*self.settings.outdated, *self._secrets.outdated)
        outdated = f"{why} {WRITE_NEW}" if why else ""
        return tuple(filter(None, ("" if self.file else NO_SETTINGS, of_list, outdated)))

    def _policy(self, terms: tuple[Term, ...] = ()) -> Policy:
        tracks = self.settings[TenantsSettings]
        accounts = tracks.A.accounts if tracks.A else ()
        return Policy(
            public_tenants=frozenset([tracks.B.tenant] if tracks.B else []),
            internal_tenants=frozenset([tracks.A.tenant] if tracks.A else []),
            addresses=frozenset(accounts),
            domains=frozenset([*self._scan.domains, *(one.rpartition("@")[2] for one in accounts)]),
            terms=terms,
        )

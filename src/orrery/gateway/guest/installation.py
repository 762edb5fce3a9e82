"""Installing the recovery on a host, and taking it away: every step can be repeated after a kill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from orrery.errors import Invalid
from orrery.gateway.guest.comparison import FileChange, file_change
from orrery.gateway.guest.errors import OptionsUnreadable
from orrery.gateway.guest.files import HostFile, conf_path, host_files
from orrery.gateway.guest.host import Host
from orrery.gateway.guest.judgement import proposed
from orrery.gateway.guest.options import Options, parsed_options, with_given
from orrery.gateway.guest.patience import Proposal
from orrery.gateway.guest.unit_name import UnitName

_WANTED_BY = "/etc/systemd/system"
_STATE = ("LoadState", "ActiveState", "UnitFileState", "NeedDaemonReload")
_OLDER = "watch-is-older"
"""A file in /run: the watch runs what was there before the last files were written. Its start removes it."""


@dataclass(frozen=True, slots=True)
class InstallationPlan:
    """What an installation would write: the files, and what each is compared with the host's."""

    unit: UnitName
    options: Options
    files: tuple[HostFile, ...]
    changes: tuple[FileChange, ...]
    kept: tuple[str, ...]
    """The options that were not given and stay as in the host's file."""
    proposed: tuple[Proposal, ...]
    """The options that were not given and are not kept, as they follow from what was measured."""

    @property
    def is_empty(self) -> bool:
        return all(one.change == "same" for one in self.changes)


def kept_options(host: Host, unit: UnitName) -> Options | None:
    """Return the options that the host keeps, or None before the first installation.

    Raises `Invalid` when they are those of another unit, whose files have the same names.
    """
    path = conf_path(unit)
    if (stored := host.stored(path)) is None or stored.is_link:
        return None
    options = parsed_options(stored.content.decode("utf-8", "replace"), path)
    if options.unit != unit.unit:
        raise Invalid(
            f"{path} belongs to {options.unit}, whose files would have the same names: uninstall that one first."
        )
    return options


def installed_options(host: Host, unit: UnitName) -> Options:
    """Return the options that the host keeps; raise `Invalid` when no recovery is installed."""
    if (options := kept_options(host, unit)) is None:
        raise Invalid(
            f"The recovery of {unit.unit} is not installed here: `orrery gateway guest install` does that."
        )
    return options


def kept_secrets(host: Host, unit: UnitName) -> list[str]:
    """Return the paths of the secret files that the host's options name; none when those cannot be read."""
    try:
        options = kept_options(host, unit)
    except OptionsUnreadable:
        return []
    return [path for path in (options.topic_file, options.ping_token_file) if path] if options else []


def plan(host: Host, unit: UnitName, given: Mapping[str, str | None]) -> InstallationPlan:
    """Compare what would be installed with what is there; nothing is written, and the unit is not touched."""
    kept = kept_options(host, unit)
    asked_for = with_given(kept or Options(unit.unit), given)
    proposals = tuple(proposed(host, unit, asked_for))
    options = replace(asked_for, **{one.option: str(one.seconds) for one in proposals})
    files = host_files(unit, options)
    found = tuple(file_change(file, host.stored(file.path)) for file in files)
    names = tuple(name for name, value in given.items() if value is None and kept and getattr(asked_for, name))
    return InstallationPlan(unit, options, files, found, names, proposals)


def write(host: Host, planned: InstallationPlan) -> None:
    """Write the files that are new or changed, each whole or not at all."""
    host.remove_unfinished(_folders(planned.files))
    folder = planned.unit.run_folder
    if _changes_the_watch(planned) and host.entries(
        folder
    ):  # without that folder, no watch has run since the boot
        host.write(HostFile(f"{folder}/{_OLDER}", "", 0o600))
    for file, change in zip(planned.files, planned.changes, strict=True):
        if change.change != "same":
            host.write(file)


def _changes_the_watch(planned: InstallationPlan) -> bool:
    unit = planned.unit
    read = {conf_path(unit), f"{unit.script}-recover.lib", f"{unit.script}-watch.sh", f"{_WANTED_BY}/{unit.watch}"}
    return any(one.path in read and one.change != "same" for one in planned.changes)


def require_unit(host: Host, unit: UnitName) -> None:
    """Raise `Invalid` for a unit that systemd does not know, which would be a mistyped name."""
    if host.show(unit.unit, _STATE).one("LoadState") == "not-found":
        raise Invalid(
            f"systemd knows no {unit.unit} on this machine: look at the name with `systemctl list-units`."
        )


def require_root(host: Host, what: str) -> None:
    if not host.is_root:
        raise Invalid(f"{what} needs root: type it after sudo.")


def start(host: Host, planned: InstallationPlan) -> list[str]:
    """Make systemd read what was written, and start timer and watch; return what had to be done."""
    unit, done = planned.unit, list[str]()
    if not planned.is_empty or _needs_reload(host, unit):
        _ = host.systemctl("daemon-reload")
        done.append("systemd read the units again")
    for name in (unit.timer, unit.watch):
        if not _is_started(host, name):
            _ = host.systemctl("enable", "--now", "--", name)
            done.append(f"{name} was enabled and started")
        elif name == unit.watch and (_changes_the_watch(planned) or watch_is_older(host, unit)):
            restart_watch(host, unit)
            done.append(f"{name} was restarted")
    _ = host.remove(f"{unit.run_folder}/{_OLDER}")
    return done


def restart_watch(host: Host, unit: UnitName) -> None:
    """Have the watch read what was written."""
    _ = host.systemctl("restart", "--", unit.watch)


def watch_is_older(host: Host, unit: UnitName) -> bool:
    """Return whether the watch was started before its files were last written, and so runs what was there."""
    return _OLDER in (host.entries(unit.run_folder) or ())


def uninstall(host: Host, unit: UnitName) -> list[str]:
    """Stop the recovery and remove its files; return what was removed. What is gone already is passed over."""
    if host.root is None:
        _stop(host, unit)
    files = host_files(unit, Options(unit.unit))
    host.remove_unfinished(_folders(files))
    links = [
        f"{_WANTED_BY}/timers.target.wants/{unit.timer}",
        f"{_WANTED_BY}/multi-user.target.wants/{unit.watch}",
    ]
    units_first = sorted((file.path for file in files), key=lambda path: not path.startswith(_WANTED_BY))
    removed = [path for path in (*links, *units_first) if host.remove(path)]
    host.remove_folder_if_empty(unit.drop_in_folder)
    if host.root is None and (removed or _needs_reload(host, unit)):
        _ = host.systemctl("daemon-reload")
    return removed


def _stop(host: Host, unit: UnitName) -> None:
    states = [host.show(name, _STATE) for name in unit.own_units]
    if active := [one.name for one in states if one.one("ActiveState") not in {"inactive", "failed", ""}]:
        _ = host.systemctl("stop", "--", *active)
    if failed := [one.name for one in states if one.one("ActiveState") == "failed"]:
        _ = host.systemctl("reset-failed", "--", *failed)
    if enabled := [one.name for one in states if one.one("UnitFileState") == "enabled"]:
        _ = host.systemctl("disable", "--", *enabled)


def _is_started(host: Host, name: str) -> bool:
    state = host.show(name, _STATE)
    return (state.one("UnitFileState"), state.one("ActiveState")) == ("enabled", "active")


def _needs_reload(host: Host, unit: UnitName) -> bool:
    return any(host.show(name, _STATE).one("NeedDaemonReload") == "yes" for name in (unit.unit, *unit.own_units))


def _folders(files: Sequence[HostFile]) -> list[str]:
    return sorted({str(PurePosixPath(file.path).parent) for file in files})

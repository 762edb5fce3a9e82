"""Orrery refuses a settings file or a secret that another user may write (decision 50).

Root and the user who runs the command are trusted. The opened file is checked, so it cannot be exchanged between
the check and the reading. Its folder is checked as well, because a user who may write there could put an older
file of ours in its place. Folders further up are not checked: a file that another user puts there belongs to that
user.
"""

import grp
import os
import pwd
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from orrery.app.settings.variables import SettingsError

NO_REASON = ""
"""The reason against a file that no other user may write: none."""


@dataclass(frozen=True, slots=True)
class Users:
    """The accounts and the groups of a machine."""

    accounts: Collection[pwd.struct_passwd]
    groups: Collection[grp.struct_group]

    @classmethod
    def of_this_machine(cls) -> "Users":
        """Return those that the system lists."""
        return cls(pwd.getpwall(), grp.getgrall())

    def is_own_group(self, group: int, user: int) -> bool:
        """Return whether the user is the group's only member.

        Debian and Fedora give each user a group of the same name, and let it write: that is still one person. The
        name is compared because a directory service need not list the group's other members.
        """
        names = {one.pw_name for one in self.accounts if one.pw_uid == user}
        own = [one for one in self.groups if one.gr_gid == group and one.gr_name in names]
        members = {one.pw_name for one in self.accounts if one.pw_gid == group}
        return bool(own) and members.union(*(one.gr_mem for one in own)) <= names

    def name_of(self, user: int) -> str:
        """Return a user's name, or the number."""
        return next((one.pw_name for one in self.accounts if one.pw_uid == user), str(user))


def why_foreign(found: os.stat_result, user: int, users: Users) -> str:
    """Return why another user than `user` may write a file or folder, or `NO_REASON`."""
    trusted = {0, user}
    if found.st_uid not in trusted:
        return f"belongs to {users.name_of(found.st_uid)}"
    if stat.S_ISLNK(found.st_mode):
        return NO_REASON  # a link has no rights itself
    if found.st_mode & stat.S_IWOTH:
        return "may be written by everybody"
    if found.st_mode & stat.S_IWGRP and not any(users.is_own_group(found.st_gid, one) for one in trusted):
        return "may be written by a group"
    return NO_REASON


def read_own(file: Path, what: str) -> str:
    """Return the text of a file that no other user may write.

    `what` is the file's name in error sentences, as in "The settings file". Raises `SettingsError`, `OSError`,
    `UnicodeDecodeError`.
    """
    with file.open(encoding="utf-8") as opened:
        for found in (file.lstat(), os.fstat(opened.fileno())):
            _refuse(found, file, what)
        for folder in {file.parent, file.resolve().parent}:
            _refuse_folder(folder, f"The folder of {what[0].lower()}{what[1:]}")
        return opened.read()


def refuse_foreign_folder(folder: Path, what: str) -> None:
    """Raise `SettingsError` when another user may write into a folder of secrets, and `OSError` without one."""
    for found in (folder.lstat(), folder.stat()):
        _refuse(found, folder, what)
    _refuse_folder(folder.parent, f"The folder of {what[0].lower()}{what[1:]}")


def _refuse_folder(folder: Path, what: str) -> None:
    """Refuse a folder where others may replace a file: in a sticky one, as /tmp, they replace only their own."""
    found = folder.stat()
    if found.st_mode & stat.S_ISVTX and found.st_uid in {0, os.geteuid()}:
        return
    _refuse(found, folder, what)


def _refuse(found: os.stat_result, path: Path, what: str) -> None:
    user = os.geteuid()
    if found.st_uid in {0, user} and not found.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        return  # the usual case asks no directory service
    users = Users.of_this_machine()
    why = why_foreign(found, user, users)
    if not why:
        return
    remedy = f"type: chmod go-w {path}"
    if found.st_uid not in {0, user}:
        whose = " or ".join(dict.fromkeys(("root", users.name_of(user))))
        remedy = f"only files of {whose} are trusted here"
    raise SettingsError(f"{what} {path} {why}, and is refused: {remedy}.")

"""Debian's dovecot as a normal process on free ports of this machine, with accounts and mail made by a test."""

import grp
import imaplib
import os
import pwd
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.certificates import make_certificate
from tests.support.ports import free_ports, is_taken
from tests.support.soak import IN_CI
from tests.support.waiting import PATIENCE, eventually

PASSWORD = "correct-horse-battery"  # noqa: S105  of a server that lives as long as a test
DRAFTS = "Entw&APw-rfe"
SENT = "Gesendet"
"""The folder for drafts as the protocol writes it."""

_CONFIG = """\
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/dovecot.log
login_greeting = Ready.
protocols = imap
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{certificate}
ssl_min_protocol = TLSv1.2
disable_plaintext_auth = no
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
mail_location = maildir:{folder}/mail/%u
mail_max_userip_connections = 50
mail_plugins = quota
auth_failure_delay = 0
service imap-login {{
  chroot =
  inet_listener imap {{
    address = 127.0.0.1
    port = {plain}
  }}
  inet_listener imaps {{
    address = 127.0.0.1
    port = {tls}
  }}
}}
service anvil {{
  chroot =
}}
service stats {{
  chroot =
}}
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={folder}/mail/%u
}}
protocol imap {{
  mail_plugins = quota imap_quota
}}
plugin {{
  quota = maildir:User quota
  quota_rule = {rules}
}}
namespace inbox {{
  inbox = yes
  separator = /
  mailbox Entwürfe {{
    auto = create
    special_use = \\Drafts
  }}
  mailbox Gesendet {{
    auto = create
    special_use = \\Sent
  }}
}}
"""


def find_dovecot() -> str | None:
    """Return where dovecot is; Debian keeps it out of a normal user's path."""
    return shutil.which("dovecot", path=f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin")


def skip_without_dovecot() -> None:
    """Skip the test on a machine without it, but never in continuous integration."""
    if not find_dovecot() and not IN_CI:
        pytest.skip("no dovecot on this machine; to have it, type: sudo apt-get install -y dovecot-imapd")


@dataclass(frozen=True)
class Dovecot:
    """A running dovecot, which knows every account, by one password. Its certificate is for `localhost`."""

    folder: Path
    certificate: Path
    plain_port: int
    tls_port: int

    @contextmanager
    def opened(self, account: str, folder: str = "INBOX") -> Generator[imaplib.IMAP4]:
        """Open a folder as the account's other mail program does, with every right."""
        with imaplib.IMAP4("127.0.0.1", self.plain_port, timeout=PATIENCE) as client:
            client.login(account, PASSWORD)
            kind, said = client.select(f'"{folder}"')
            assert kind == "OK", said
            yield client

    def deliver(
        self, account: str, *messages: bytes, at: datetime, flags: str = "", folder: str = "INBOX"
    ) -> None:
        """Put messages into a folder, all received at one time."""
        with self.opened(account) as client:
            for one in messages:
                kind, said = client.append(f'"{folder}"', flags, at, one)
                assert kind == "OK", said

    def make_folder(self, account: str, folder: str) -> None:
        """Make a folder, by its name as the protocol writes it."""
        with self.opened(account) as client:
            kind, said = client.create(f'"{folder}"')
            assert kind == "OK", said

    def flags(self, account: str, folder: str = "INBOX") -> Mapping[int, str]:
        """Return the flags of each message by its UID."""
        with self.opened(account, folder) as client:
            found = [str(one) for one in client.uid("FETCH", "1:*", "(UID FLAGS)")[1] if one]
        return {int(one.split("UID ")[1].split()[0].rstrip(")")): one.partition("FLAGS (")[2] for one in found}

    def held(self, account: str, folder: str) -> list[bytes]:
        """Return each message of a folder as it is."""
        with self.opened(account, folder) as client:
            return [one[1] for one in client.uid("FETCH", "1:*", "(BODY.PEEK[])")[1] if isinstance(one, tuple)]


@contextmanager
def running_dovecot(rules: str = "*:storage=1G") -> Generator[Dovecot]:
    """Run a dovecot until the block ends: as this user, or as nobody where this one is root.

    `rules` are those of its quota.
    """
    program = find_dovecot()
    assert program, "there is no dovecot on this machine"
    user = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    plain, tls = free_ports(2)
    with TemporaryDirectory(prefix="orrery-dovecot-") as name:
        folder = Path(name)
        certificate = make_certificate(folder)
        values = {"folder": folder, "certificate": certificate, "plain": plain, "tls": tls, "password": PASSWORD}
        group = grp.getgrgid(user.pw_gid).gr_name
        text = _CONFIG.format(user=user.pw_name, group=group, rules=rules, **values)
        (folder / "dovecot.conf").write_text(text, encoding="utf-8")
        if os.geteuid() == 0:
            os.chown(folder, user.pw_uid, user.pw_gid)
        started = subprocess.Popen([program, "-F", "-c", str(folder / "dovecot.conf")])  # noqa: S603  Debian's
        try:
            eventually(lambda: _require_listening(started, folder, plain, tls))
            yield Dovecot(folder, certificate, plain, tls)
        finally:
            started.terminate()
            started.wait(PATIENCE)


def _require_listening(started: subprocess.Popen[bytes], folder: Path, *ports: int) -> None:
    log = folder / "dovecot.log"
    assert started.poll() is None, log.read_text() if log.exists() else "it ended, and wrote no log"
    assert all(is_taken(port) for port in ports)

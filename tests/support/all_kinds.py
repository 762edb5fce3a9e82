"""A cockpit over a mailbox of every kind: Microsoft Graph of both tracks, IMAP, and a made-up one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from orrery.adapters.sqlite import create
from tests.support.dovecot import PASSWORD, Dovecot
from tests.support.graph import WRITING, GraphBox
from tests.support.imap import mail
from tests.support.tracks import ANN_A, ANN_B, Tracks, track_toml

Kind = Literal["microsoft A", "microsoft B", "imap", "sample"]
KINDS: tuple[Kind, ...] = ("microsoft A", "microsoft B", "imap", "sample")

SCOPES = (*WRITING, "Calendars.Read")
MADE_UP = "made-up@lab.example"


@dataclass(frozen=True)
class AllKinds:
    """The servers, which one folder's settings name. `imap` is the account at the mail server.

    `imap_port` is one that speaks in clear, its own or that of something in between.
    """

    box: GraphBox
    dovecot: Dovecot
    folder: Path
    imap: str
    imap_port: int

    def sign_in(self) -> None:
        """Sign Ann in for both tracks."""
        tracks = Tracks(self.box, self.folder, SCOPES)
        for account in (ANN_A, ANN_B):
            tracks.sign_in(account)

    def settings(
        self, kinds: Sequence[Kind] = KINDS, *, name: str = "own", days: int = 30, sample: int = 0, more: str = ""
    ) -> Path:
        """Write the settings of a cockpit over some kinds, with a store and a secret; return their file."""
        folder = self.folder / name.replace(" ", "-")
        (folder / "secrets").mkdir(parents=True)
        (folder / "secrets" / "imap_passwords").write_text(f"{self.imap} {PASSWORD}\n")
        text = track_toml(self.box.authority, self.folder, self.box.ca_file, SCOPES)
        text = text.replace(str(self.folder / "cockpit.db"), str(folder / "cockpit.db"))
        create(folder / "cockpit.db")
        mailboxes: dict[Kind, str] = {
            "microsoft A": f'kind = "microsoft"\naccount = "{ANN_A}"\ndays = {days}\n',
            "microsoft B": f'kind = "microsoft"\naccount = "{ANN_B}"\ndays = {days}\n',
            "imap": f'kind = "imap"\naccount = "{self.imap}"\ntrack = "B"\nhost = "127.0.0.1"\nsecurity = "none"\n'
            f"port = {self.imap_port}\ndays = {days or 36_500}\n",
            "sample": f'kind = "sample"\naccount = "{MADE_UP}"\ntrack = "B"\nfolder = "drafts"\n'
            f"messages = {sample}\n",
        }
        listed = "".join(f"[[cockpit.mailboxes]]\n{mailboxes[kind]}" for kind in kinds)
        file = folder / "orrery.toml"
        secrets = f'[secrets]\ndirectory = "{folder / "secrets"}"\n'
        file.write_text(f"{text}{secrets}{listed}{more}", encoding="utf-8")
        return file

    def receive(self, count: int) -> None:
        """Let so many messages come into each mailbox of a server."""
        for number in range(count):
            for account in (ANN_A, ANN_B):
                self.box.arrive(account, subject=f"Arrived {number}")
        self.fill_imap(count)

    def fill_imap(self, count: int) -> None:
        """Let so many messages come to the mail server."""
        self.dovecot.deliver(self.imap, *(mail(one) for one in range(1, count + 1)), at=self.box.clock.now())

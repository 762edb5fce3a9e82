"""The passwords of the mailboxes by IMAP: a line for each account, of the role `cockpit` alone."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from orrery.app.adapters import Adapters
from orrery.app.settings.reader import Secrets, settings_from, uses_of
from orrery.cockpit.secrets import IMAP_PASSWORDS, imap_passwords
from orrery.ports.comms.errors import SignInNeeded
from orrery.ports.comms.mailboxes import Mailboxes
from tests.support.clock import ManualClock
from tests.support.tables import each_case

LETTERS = "0x5eedmarked"
TWO = f"ann@lab.example {LETTERS}\n\n  ben@lab.example\tlong pass {LETTERS}\n"
IMAP: Mapping[str, Any] = {"kind": "imap", "account": "Ann@lab.example", "track": "B", "host": "127.0.0.1"}


def why_unusable(text: str) -> str:
    """Return why a text cannot be this secret."""
    return IMAP_PASSWORDS.unusable("imap_passwords", text, "live")


def test_a_line_for_each_account() -> None:
    """A password may have blanks; the case of an account does not count; each password is hidden in logs."""
    assert imap_passwords(TWO.replace("ann@", "ANN@")) == {
        "ann@lab.example": LETTERS,
        "ben@lab.example": f"long pass {LETTERS}",
    }
    assert IMAP_PASSWORDS.values(TWO) == [LETTERS, f"long pass {LETTERS}"]
    assert why_unusable(TWO) == ""


@each_case(
    ("text", "sentence"),
    [
        (LETTERS, "has a line that is not an account"),
        ("ann@lab.example", "has a line that is not an account"),
        (f"ann@lab.example {LETTERS}\nann@lab.example", "has a line that is not an account|two lines"),
        (f"ann@lab.example {LETTERS}\nANN@lab.example {LETTERS}", "has two lines of one account"),
        ("ann@lab.example short", "shorter than 8"),
        (f"ann@lab.example \ufeff{LETTERS}", "invisible character"),
    ],
)
def test_a_text_that_is_none(text: str, sentence: str) -> None:
    """What cannot be such a file is refused in a sentence without a password."""
    said = why_unusable(text)
    assert any(one in said for one in sentence.split("|"))
    assert LETTERS not in said


@pytest.mark.parametrize("mailboxes", [[], [IMAP]])
def test_when_it_is_needed(mailboxes: list[object], tmp_path: Path) -> None:
    """It is needed as soon as a mailbox is read by IMAP."""
    settings = settings_from({"cockpit": {"mailboxes": mailboxes}}, tmp_path, "cockpit")
    assert uses_of(settings)["imap_passwords"].needed is bool(mailboxes)


def test_a_mailbox_without_a_password(tmp_path: Path) -> None:
    """The other accounts' passwords do not stand in: a person must act, and the sentence says where."""
    settings = settings_from({"cockpit": {"mailboxes": [IMAP]}}, tmp_path, "cockpit")
    secrets = Secrets.of({"imap_passwords": f"ben@lab.example {LETTERS}"}, "cockpit")
    (mailbox,) = Adapters(settings, secrets, ManualClock()).port(Mailboxes).all
    assert (mailbox.track, mailbox.account) == ("B", "Ann@lab.example")
    with pytest.raises(SignInNeeded, match="secret file imap_passwords"):
        asyncio.run(mailbox.check())

"""The passwords of the mailboxes that are read by IMAP: one file, a line for each account."""

from collections.abc import Mapping

from orrery.cockpit.settings import CockpitSettings, ImapMailboxSettings
from orrery.runtime.secret import SecretKind, SecretUse, one_a_line, unused, why_no_password
from orrery.runtime.section import Mode, Sections

IMAP_PASSWORDS_FILE = "imap_passwords"


def imap_passwords(text: str) -> Mapping[str, str]:
    """Return the password of each account: a line is the account, white space, and the password."""
    pairs = (line.split(maxsplit=1) for line in one_a_line(text))
    return {pair[0].casefold(): pair[1] for pair in pairs if len(pair) > 1}


def _use(sections: Sections) -> SecretUse:
    if not any(isinstance(one, ImapMailboxSettings) for one in sections[CockpitSettings].mailboxes):
        return unused("No mailbox is read by IMAP.")
    return SecretUse(needed=True, stops="the mailboxes of kind imap are not read until it is there.")


def _why_no_passwords(name: str, text: str, _mode: Mode) -> str:
    lines = one_a_line(text)
    accounts = [line.split(maxsplit=1)[0].casefold() for line in lines]
    if any("@" not in account for account in accounts) or len(imap_passwords(text)) < len(set(accounts)):
        return f"The secret {name} has a line that is not an account, a space and its password."
    if len(set(accounts)) < len(accounts):
        return f"The secret {name} has two lines of one account."
    whys = (why_no_password(name, password) for password in imap_passwords(text).values())
    return next(filter(None, whys), "")


IMAP_PASSWORDS = SecretKind(
    use=_use, unusable=_why_no_passwords, values=lambda text: [*imap_passwords(text).values()]
)

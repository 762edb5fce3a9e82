"""The mailboxes of the cockpit."""

from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from orrery.app.adapters import Adapters
from orrery.cockpit.settings import AnyMailbox, CockpitSettings, ImapMailboxSettings
from orrery.errors import Invalid
from orrery.ports.comms.mailboxes import Mailbox, Mailboxes


def mailboxes(adapters: Adapters) -> Mailboxes:
    """Return the mailboxes that the settings name, in their order."""
    return Mailboxes(tuple(_mailbox(one, adapters) for one in adapters.settings[CockpitSettings].mailboxes))


def _mailbox(one: AnyMailbox, adapters: Adapters) -> Mailbox:
    if isinstance(one, ImapMailboxSettings):
        raise Invalid("A mailbox of kind imap cannot be read yet.")
    return SampleMailbox(one.account, one.track, one.folder, adapters.clock, one.messages)

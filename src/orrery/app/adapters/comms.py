"""The mailboxes of the cockpit."""

from orrery.adapters.microsoft_mailbox.client import GraphClient
from orrery.adapters.microsoft_mailbox.mail import MailFolder
from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from orrery.app.adapters import Adapters
from orrery.cockpit.settings import AnyMailbox, CockpitSettings, ImapMailboxSettings, MicrosoftMailboxSettings
from orrery.errors import Invalid
from orrery.ports.accounts import Accounts
from orrery.ports.comms.mailboxes import Mailbox, Mailboxes
from orrery.tenants.accounts import resolve
from orrery.tenants.settings import TenantsSettings


def mailboxes(adapters: Adapters) -> Mailboxes:
    """Return the mailboxes that the settings name, in their order."""
    return Mailboxes(tuple(_mailbox(one, adapters) for one in adapters.settings[CockpitSettings].mailboxes))


def _mailbox(one: AnyMailbox, adapters: Adapters) -> Mailbox:
    if isinstance(one, MicrosoftMailboxSettings):
        return _microsoft(one, adapters)
    if isinstance(one, ImapMailboxSettings):
        raise Invalid("A mailbox of kind imap cannot be read yet.")
    return SampleMailbox(one.account, one.track, one.folder, adapters.clock, one.messages)


def _microsoft(one: MicrosoftMailboxSettings, adapters: Adapters) -> Mailbox:
    tenants = adapters.settings[TenantsSettings]
    account = resolve(tenants, one.account)
    accounts, clock = adapters.port(Accounts), adapters.clock
    client = GraphClient(tenants.api, account.name, accounts, clock, adapters.trust)
    return MicrosoftMailbox(client, account.track, one.sources, MailFolder(one.days))

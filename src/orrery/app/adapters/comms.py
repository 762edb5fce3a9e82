"""The mailboxes of the cockpit."""

from orrery.adapters.imap_mailbox.connection import Server
from orrery.adapters.imap_mailbox.mailbox import Account, ImapMailbox
from orrery.adapters.microsoft_mailbox.client import GraphClient
from orrery.adapters.microsoft_mailbox.mail import MailFolder
from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from orrery.app.adapters import Adapters
from orrery.cockpit.secrets import IMAP_PASSWORDS_FILE, imap_passwords
from orrery.cockpit.settings import AnyMailbox, CockpitSettings, ImapMailboxSettings, MicrosoftMailboxSettings
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
        passwords = imap_passwords(adapters.secrets.reveal(IMAP_PASSWORDS_FILE) or "")
        password = passwords.get(one.account.casefold())
        server = Server(one.host, one.username or one.account, password, one.port, one.security)
        account = Account(one.account, one.folders, one.drafts_folder, one.days)
        return ImapMailbox(account, server, adapters.clock, adapters.trust)
    return SampleMailbox(one.account, one.track, one.folder, adapters.clock, one.messages)


def _microsoft(one: MicrosoftMailboxSettings, adapters: Adapters) -> Mailbox:
    tenants = adapters.settings[TenantsSettings]
    account = resolve(tenants, one.account)
    accounts, clock = adapters.port(Accounts), adapters.clock
    client = GraphClient(tenants.api, account.name, accounts, clock, adapters.trust)
    return MicrosoftMailbox(client, account.track, one.sources, MailFolder(one.days))

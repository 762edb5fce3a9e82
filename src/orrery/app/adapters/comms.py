"""The mailboxes of the cockpit."""

from orrery.adapters.imap_mailbox.connection import MailHost
from orrery.adapters.imap_mailbox.mailbox import ImapAccount, ImapMailbox
from orrery.adapters.microsoft_mailbox.client import GraphClient
from orrery.adapters.microsoft_mailbox.mail import MailFolder
from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.adapters.microsoft_mailbox.to_do import ToDo
from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from orrery.app.adapters import Adapters
from orrery.cockpit.secrets import IMAP_PASSWORDS_FILE, imap_passwords
from orrery.cockpit.settings import AnyMailbox, CockpitSettings, ImapMailboxSettings, MicrosoftMailboxSettings
from orrery.errors import TrackRefused
from orrery.ports.accounts import Accounts
from orrery.ports.comms.mailboxes import Mailbox, Mailboxes
from orrery.ports.comms.tasks import TaskBook, TaskBooks
from orrery.syntax.track import Track
from orrery.tenants.accounts import TrackAccount, resolve
from orrery.tenants.settings import TenantsSettings


def mailboxes(adapters: Adapters) -> Mailboxes:
    """Return the mailboxes that the settings name, in their order."""
    return Mailboxes(tuple(_mailbox(one, adapters) for one in adapters.settings[CockpitSettings].mailboxes))


def task_books(adapters: Adapters) -> TaskBooks:
    """Return the To Do of each mailbox whose track has one: its own, if its account is Microsoft's.

    Raises `TrackRefused` when the account that a track names is of the other one.
    """
    section = adapters.settings[CockpitSettings]
    named = {track: _account_of(track, name, adapters) for track, name in section.to_do.accounts.items()}
    books = dict[str, ToDo]()
    found = dict[tuple[Track, str], TaskBook]()
    for one, mailbox in zip(section.mailboxes, adapters.port(Mailboxes).all, strict=True):
        if account := named.get(mailbox.track):
            owner = mailbox.account if isinstance(one, MicrosoftMailboxSettings) else account.name
            to_do = books.setdefault(owner, ToDo(_graph(owner, adapters), mailbox.track, section.to_do.list_name))
            found[mailbox.track, mailbox.account] = to_do
    return TaskBooks(found)


def _account_of(track: Track, name: str, adapters: Adapters) -> TrackAccount:
    account = resolve(adapters.settings[TenantsSettings], name)
    if account.track != track:
        raise TrackRefused(f"[cockpit.to_do] {track} names {account}: tasks of track {track} cannot go there.")
    return account


def _mailbox(one: AnyMailbox, adapters: Adapters) -> Mailbox:
    if isinstance(one, MicrosoftMailboxSettings):
        return _microsoft(one, adapters)
    if isinstance(one, ImapMailboxSettings):
        passwords = imap_passwords(adapters.secrets.reveal(IMAP_PASSWORDS_FILE) or "")
        password = passwords.get(one.account.casefold())
        server = MailHost(one.host, one.username or one.account, password, one.port, one.security)
        account = ImapAccount(
            one.account, one.folders, one.drafts_folder, one.days, one.sent_folder, one.addresses
        )
        return ImapMailbox(account, server, adapters.clock, adapters.trust)
    return SampleMailbox(one.account, one.track, one.folder, adapters.clock, one.messages)


def _microsoft(one: MicrosoftMailboxSettings, adapters: Adapters) -> Mailbox:
    account = resolve(adapters.settings[TenantsSettings], one.account)
    graph = _graph(account.name, adapters)
    return MicrosoftMailbox(graph, account.track, one.sources, MailFolder(one.days), one.addresses)


def _graph(account: str, adapters: Adapters) -> GraphClient:
    api = adapters.settings[TenantsSettings].api
    return GraphClient(api, account, adapters.port(Accounts), adapters.clock, adapters.trust)

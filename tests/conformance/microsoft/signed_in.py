"""Mailboxes at the sandbox's Microsoft Graph, whose accounts have signed in as people do."""

from collections.abc import Sequence
from pathlib import Path

from orrery.adapters.microsoft_mailbox.client import GraphClient
from orrery.adapters.microsoft_mailbox.mail import MailFolder
from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox, Part
from orrery.adapters.microsoft_mailbox.to_do import ToDo
from orrery.tenants.account_tokens import AccountTokens
from orrery.tenants.accounts import resolve
from tests.support.graph import WRITING, GraphBox
from tests.support.tracks import ANN_A, Tracks


def signed_in_at(
    box: GraphBox, folder: Path, *names: str, scopes: Sequence[str] = (*WRITING, "Calendars.Read")
) -> AccountTokens:
    """Return the tokens of accounts that have signed in, Ann's of track A by default."""
    tracks = Tracks(box, folder, tuple(scopes))
    for name in names or (ANN_A,):
        tracks.sign_in(name)
    return AccountTokens(tracks.sign_ins, box.clock)


def microsoft_mailbox(
    box: GraphBox,
    tokens: AccountTokens,
    account: str = ANN_A,
    parts: Sequence[Part] = ("mail", "teams", "meeting"),
    days: int = 0,
) -> MicrosoftMailbox:
    """Return the mailbox of an account."""
    track = resolve(tokens.settings, account).track
    return MicrosoftMailbox(_client(box, tokens, account), track, parts, MailFolder(days))


def to_do(box: GraphBox, tokens: AccountTokens, account: str = ANN_A, name: str = "Orrery") -> ToDo:
    """Return the tasks of an account."""
    return ToDo(_client(box, tokens, account), resolve(tokens.settings, account).track, name)


def _client(box: GraphBox, tokens: AccountTokens, account: str) -> GraphClient:
    return GraphClient(box.authority, account, tokens, box.clock, box.trust)

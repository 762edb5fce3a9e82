"""Which delegated permissions a token may have: none that sends, and none that is not known (decision 36)."""

import re
from collections.abc import Iterable

_OF_THE_SIGN_IN = frozenset({"openid", "profile", "email", "offline_access"})

_READING = re.compile(r"[A-Za-z][A-Za-z0-9-]*\.Read(Basic)?(\.(All|Shared))?")

_KEEPING = frozenset({"Mail.ReadWrite", "Mail.ReadWrite.Shared", "Tasks.ReadWrite", "Tasks.ReadWrite.Shared"})
"""They write drafts and tasks, and send nothing, by the vendor's description of each.

Others of the form `….ReadWrite` do: Chat.ReadWrite posts messages, Calendars.ReadWrite sends invitations,
MailboxSettings.ReadWrite makes rules that forward mail, Files.ReadWrite shares with others.
"""

_PREFIX = "https://graph.microsoft.com/"


ASKED_ANYWAY = frozenset({"openid", "profile", "offline_access"})
"""What the vendor's library asks for at each sign-in, and refuses in a list."""


def not_allowed(scopes: Iterable[str]) -> list[str]:
    """Return the scopes that no token of ours may have, in order: what sends, and what is not known."""
    plain = {scope.removeprefix(_PREFIX) for scope in scopes}
    return sorted(plain - _OF_THE_SIGN_IN - _KEEPING - {one for one in plain if _READING.fullmatch(one)})

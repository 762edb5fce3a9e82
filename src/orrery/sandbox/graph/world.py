"""What all calls of Microsoft Graph share: the address, the clock, and the accounts' mailboxes."""

from collections import Counter, defaultdict

from orrery.sandbox.graph.mailbox import MAILBOXES, MESSAGES, Mailbox
from orrery.sandbox.ground import SandboxGround
from orrery.sandbox.state import Document

CHATS, EVENTS, TASKS = "_graph_chats", "_graph_calendar", "_graph_tasks"
"""The kinds of document in which an account's chats, events and tasks are kept, one of each."""

_SENDS = "_graph_send"
_SHOWN = ("account", "call", "at", "refused")


class World:
    """The accounts' mailboxes, opened when they are first asked for; `requests` counts calls by account."""

    def __init__(self, ground: SandboxGround, url: str) -> None:
        self.ground = ground
        self.url = url
        self.requests: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._mailboxes: dict[str, Mailbox] = {}

    def mailbox(self, account: str) -> Mailbox:
        if account not in self._mailboxes:
            self._mailboxes[account] = Mailbox(self.ground, account)
        return self._mailboxes[account]

    def reset(self, account: str) -> None:
        """Let an account be as it was at first, and as if it had been opened now."""
        state = self.ground.state
        for kind in (MAILBOXES, CHATS, EVENTS, TASKS):
            state.remove(kind, account)
        for one in list(state.newest_first(MESSAGES)):
            if one["account"] == account:
                state.remove(MESSAGES, one["id"])
        _ = self._mailboxes.pop(account, None)

    def sends(self) -> list[Document]:
        """Return the calls that send, oldest first: who made each, which, when, and whether it was refused."""
        sends = reversed(list(self.ground.state.newest_first(_SENDS)))
        return [{name: one[name] for name in _SHOWN} for one in sends]

    def note_send(self, account: str, call: str, *, refused: bool) -> None:
        number = len(list(self.ground.state.newest_first(_SENDS))) + 1
        at = self.ground.clock.now().timestamp()
        self.ground.state.save(
            {"object": _SENDS, "id": str(number), "account": account, "call": call, "at": at, "refused": refused}
        )

    def forget_sends(self) -> None:
        for one in list(self.ground.state.newest_first(_SENDS)):
            self.ground.state.remove(_SENDS, one["id"])

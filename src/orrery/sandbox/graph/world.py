"""What all calls of Microsoft Graph share: the address, the clock, and the accounts' mailboxes."""

from collections import Counter, defaultdict

from orrery.sandbox.graph.mailbox import Mailbox
from orrery.sandbox.ground import SandboxGround
from orrery.sandbox.state import Document

_SENDS = "_graph_send"


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

    def sends(self) -> list[Document]:
        """Return the calls that send, oldest first: who made each, which, when, and whether it was refused."""
        known = ("account", "call", "at", "refused")
        return [
            {name: one[name] for name in known} for one in reversed(list(self.ground.state.newest_first(_SENDS)))
        ]

    def note_send(self, account: str, call: str, *, refused: bool) -> None:
        number = len(list(self.ground.state.newest_first(_SENDS))) + 1
        at = self.ground.clock.now().timestamp()
        self.ground.state.save(
            {"object": _SENDS, "id": str(number), "account": account, "call": call, "at": at, "refused": refused}
        )

    def forget_sends(self) -> None:
        for one in list(self.ground.state.newest_first(_SENDS)):
            self.ground.state.remove(_SENDS, one["id"])

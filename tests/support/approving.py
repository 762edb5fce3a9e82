"""Approvals over a store in memory: who signs, and what is changed, are fakes of ours."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from orrery.adapters.memory import MemoryStore
from orrery.approvals.approvals import Approvals, IntentDraft, Operation
from orrery.approvals.chain import LogEntry
from orrery.approvals.progress import IntentProgress
from orrery.errors import ApprovalRefused, OrreryError
from orrery.ports.store import Put, Store, StoreEntry
from orrery.runtime.operations import Intent
from tests.support.clock import ManualClock

DEPLOYMENT = "the tests' own"
SECRET = 'a "quoted" secret of the tests'  # noqa: S105  a text of the tests
OWNER, STRANGER = b"the owner's key", b"a stranger's key"


class SharedKeys:
    """Signatures by a key that both sides know: an adapter of the port for tests that are not about OpenSSH."""

    def __init__(self, *owner_keys: bytes) -> None:
        self._owner_keys = owner_keys

    async def check(self, statement: bytes, signature: bytes) -> str:
        """Return the fingerprint of the key that made the signature."""
        for key in self._owner_keys:
            if hmac.compare_digest(signature, signed(statement, key)):
                return fingerprint(key)
        raise ApprovalRefused("The approval is wrongly signed.")


def signed(statement: bytes, key: bytes = OWNER) -> bytes:
    """Return a signature."""
    return hmac.new(key, statement, "sha256").hexdigest().encode()


def fingerprint(key: bytes) -> str:
    """Return what names a key."""
    return f"SHA256:{hashlib.sha256(key).hexdigest()[:43]}"


REMAINS = "The vendor's own list is not changed by this."


@dataclass
class Switches:
    """What is changed: switches that an approved intent turns on.

    `before` and `after` are raised, one a call, before a switch is turned on and after; `unreadable` by a look.
    """

    on: list[str] = field(default_factory=list[str])
    before: list[BaseException] = field(default_factory=list[BaseException])
    after: list[BaseException] = field(default_factory=list[BaseException])
    unreadable: list[OrreryError] = field(default_factory=list[OrreryError])
    covered: tuple[str, ...] = ("cs_1", "cs_2")

    async def turn_on(self, _: Intent, target: str) -> str:
        """Turn one on."""
        if self.before:
            raise self.before.pop(0)
        self.on.append(target)
        if self.after:
            raise self.after.pop(0)
        return f"{target} is on."

    async def is_on(self, _: Intent, target: str) -> bool:
        """Read whether it is on."""
        if self.unreadable:
            raise self.unreadable.pop(0)
        return target in self.on

    async def covers(self, _: Intent, target: str) -> bool:
        """Tell what a standing approval is good for."""
        return target in self.covered

    def operations(self) -> Sequence[Operation]:
        """Return one that is done at once and one that takes a standing approval."""
        return (
            Operation("turn-on", self.turn_on, self.is_on, remains=REMAINS),
            Operation("turn-on-run", self.turn_on, self.is_on, self.covers),
        )


class Desk:
    """An owner with a deployment: proposes, signs and looks."""

    def __init__(self, store: Store | None = None, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.store: Store = store or MemoryStore(self.clock)
        self.switches = Switches()
        self._numbers = count(1)
        self.approvals = self.another()

    def another(
        self, *owner_keys: bytes, deployment: str = DEPLOYMENT, operation: Operation | None = None
    ) -> Approvals:
        """Return what another process has over the same store, with one operation in its own version."""
        signatures = SharedKeys(*(owner_keys or (OWNER,)))
        approvals = Approvals(self.store, self.clock, signatures, deployment=deployment, forbidden=[SECRET])
        approvals.allow(*self.switches.operations(), *([operation] if operation else []))
        return approvals

    def draft(self, operation: str = "turn-on", **other: object) -> IntentDraft:
        """Return what is to be proposed, with other fields where given."""
        fields: dict[str, object] = {
            "target": f"switch-{next(self._numbers)}",
            "body": {"on": True},
            "summary": "Turn it on.",
            "reason": "It is dark.",
        }
        return IntentDraft(operation, **(fields | other))  # pyright: ignore[reportArgumentType]  any field of a draft

    async def proposed(self, operation: str = "turn-on", **other: object) -> Intent:
        """Propose something."""
        return await self.approvals.propose(self.draft(operation, **other))

    def word(self, intent: Intent, key: bytes = OWNER) -> tuple[bytes, bytes]:
        """Return a statement of now, and its signature."""
        statement = self.approvals.statement(intent).to_bytes()
        return statement, signed(statement, key)

    async def sign(self, intent: Intent) -> IntentProgress:
        """Sign as the owner does."""
        return await self.approvals.sign(intent.id, *self.word(intent))

    async def approved_run(self) -> Intent:
        """Propose a standing approval, and sign it."""
        intent = await self.proposed("turn-on-run", target="run-1")
        assert (await self.sign(intent)).state == "approved"
        return intent

    async def state(self, intent: Intent) -> str:
        """Return how far an intent has come, in the words of a list."""
        return (await self.approvals.proposal(intent.id)).in_words(self.clock.now())

    async def found(self, state: str) -> Intent:
        """Return an intent that has come so far, in the words of a list."""
        now = self.clock.now()
        return next(one.intent for one in await self.approvals.proposals() if one.in_words(now) == state)

    async def log(self) -> list[LogEntry]:
        """Return the log, each entry of which can be read."""
        entries = [entry async for entry in self.approvals.log.entries()]
        return [entry for entry in entries if entry]

    async def told(self) -> list[tuple[str, str]]:
        """Return what kind of thing the log tells, and its note."""
        return [(entry.kind, entry.note) for entry in await self.log()]

    async def kinds(self) -> list[str]:
        """Return what kinds of things the log tells."""
        return [entry.kind for entry in await self.log()]

    async def stored(self, key: str) -> StoreEntry:
        """Return what the store holds."""
        entry = await self.store.get(key)
        assert entry is not None
        return entry

    async def alter(self, key: str, old: str, new: str) -> None:
        """Change a stored text behind everybody's back."""
        text = (await self.stored(key)).value.decode()
        assert old in text
        await self.store.commit([Put(key, text.replace(old, new).encode())])

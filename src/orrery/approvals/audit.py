"""The check of the whole approval log, of the owner's signatures in it, and of every intent (decision 15)."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from orrery.approvals.chain import (
    BEGINNINGS,
    SHORT,
    LogEntry,
    SignedStatement,
    broken_at,
)
from orrery.approvals.intent_store import KnownIntent
from orrery.approvals.intents import read_statement
from orrery.approvals.progress import AHEAD, LIFETIME, STANDING_LIFETIME, begun_again
from orrery.errors import ApprovalRefused, Invalid, NotConfigured
from orrery.ports.signatures import Signatures

_HEAD = re.compile(rf"(?P<number>[1-9][0-9]{{0,11}}):(?P<hash>[0-9a-f]{{{SHORT}}})")


@dataclass(frozen=True, slots=True)
class PushedHead:
    """A head of the log from a push: the number of the last entry then, and the beginning of its hash."""

    number: int
    hash: str


def read_head(text: str) -> PushedHead:
    """Return a head as a push contains it, `NUMBER:HASH`; raise `Invalid` for any other text."""
    found = _HEAD.fullmatch(text.strip().lower())
    if found is None:
        raise Invalid(f"A head is a number, a colon and {SHORT} hexadecimal digits, as in a push.")
    return PushedHead(int(found["number"]), found["hash"])


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The result of the check."""

    entries: int
    head: str
    """`NUMBER:HASH` of the last entry, as a push contains it; empty without an entry."""
    broken_at: int | None
    """The first number at which an entry is missing, altered, or not where it belongs."""
    unproven: tuple[int, ...]
    """The entries about an approval without a valid signature."""
    unchecked: str
    """Why signatures could not be checked; empty when they were, or when no entry has one."""
    altered: tuple[str, ...]
    """The intents whose content differs from the log."""
    missing: tuple[str, ...]
    """The intents in the log that are missing from the store or cannot be read."""
    remembered: bool | None
    """Whether the head that the owner remembers is in the chain; None when none was given."""
    erased: tuple[str, ...] = ()
    """The intents whose erasure the log confirms, with the digest that was proposed."""
    repeated: tuple[int, ...] = ()
    """The entries that start an operation although an earlier entry rules that out."""

    @property
    def holds(self) -> bool:
        """Return whether nothing is wrong."""
        wrong = (self.broken_at, self.unproven, self.unchecked, self.altered, self.missing, self.repeated)
        return not any(wrong) and self.remembered is not False


async def audit(
    log: Sequence[LogEntry | None],
    head: LogEntry | None,
    proposals: Sequence[KnownIntent],
    erased: AbstractSet[str],
    signatures: Signatures,
    remembered: PushedHead | None,
) -> AuditResult:
    """Return the result of the check.

    `head` is the stored copy of the last entry, `erased` the intents whose content is erased from the store.
    """
    entries = [entry for entry in log if entry]
    intents = {one.intent.id: one for one in proposals}
    proposed, confirmed = _proposed(entries), erased_as_proposed(entries)
    altered = (name for name, found in intents.items() if proposed.get(name) != found.intent.digest())
    broken = broken_at(log, head)
    unproven, unchecked = await _unproven(entries, signatures)
    return AuditResult(
        entries=len(log),
        head=entries[-1].head if entries else "",
        broken_at=broken,
        unproven=unproven,
        unchecked=unchecked,
        altered=tuple(sorted({*altered, *(confirmed & intents.keys()), *(erased - confirmed)})),
        missing=tuple(sorted({entry.intent_id for entry in entries} - intents.keys() - erased)),
        erased=tuple(sorted(erased & confirmed)),
        repeated=tuple(begun_again(entries)),
        remembered=_is_in(entries, broken, remembered) if remembered else None,
    )


def _is_in(entries: Sequence[LogEntry], broken: int | None, head: PushedHead) -> bool:
    sound = (entry for entry in entries if broken is None or entry.number < broken)
    return any(entry.number == head.number and entry.hash.startswith(head.hash) for entry in sound)


def _proposed(entries: Sequence[LogEntry]) -> dict[str, str]:
    # The first counts: a person who alters an intent may append a second proposal.
    return {entry.intent_id: entry.digest for entry in reversed(entries) if entry.kind == "proposed"}


def erased_as_proposed(entries: Sequence[LogEntry]) -> set[str]:
    """Return the intents that the log confirms as erased, without a later entry that contradicts it."""
    proposed, confirmed = _proposed(entries), set[str]()
    for entry in entries:
        # Of an altered intent the digest at its erasure is not the one that was proposed.
        if entry.kind == "erased" and proposed.get(entry.intent_id) == entry.digest:
            confirmed.add(entry.intent_id)
        elif entry.kind in BEGINNINGS:
            confirmed.discard(entry.intent_id)
    return confirmed


async def _unproven(entries: Sequence[LogEntry], signatures: Signatures) -> tuple[tuple[int, ...], str]:
    """Return the entries about an approval without a valid signature, and why signatures could not be checked."""
    claims = [entry for entry in entries if entry.kind in BEGINNINGS]
    found: list[int] = []
    signers: dict[SignedStatement, str] = {}  # a standing approval is in the log once for each of its targets
    for entry in claims:
        try:
            if entry.signed_statement not in signers:
                signers[entry.signed_statement] = await _signer(entry, signatures)
            _prove(entry, signers[entry.signed_statement])
        except ApprovalRefused:
            found.append(entry.number)
        except NotConfigured as error:
            return (), str(error)
    return tuple(found), ""


async def _signer(entry: LogEntry, signatures: Signatures) -> str:
    return await signatures.check(entry.statement.encode(), entry.signature.encode())


def _prove(entry: LogEntry, signer: str) -> None:
    """Raise `ApprovalRefused` unless an entry's statement, by this signer, is about its intent and in its time."""
    stated = read_statement(entry.statement)
    lifetime = STANDING_LIFETIME if entry.target else LIFETIME
    in_time = -AHEAD <= entry.at - stated.at <= lifetime
    if (stated.intent_id, stated.digest) != (entry.intent_id, entry.digest) or not in_time:
        raise ApprovalRefused("The statement is not about this entry.")
    if signer != entry.signer:
        raise ApprovalRefused("The entry names another key.")

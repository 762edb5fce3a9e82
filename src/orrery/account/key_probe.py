"""The probe of the processor's API key for `orrery secrets check`: it is tried by reading, and nothing is written.

A restricted key is tried for every right to read that Orrery uses, and for some that nothing here needs.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Literal, get_args

from orrery.errors import OrreryError
from orrery.ports.clock import Clock
from orrery.ports.processor import Processor, ProcessorReads, ProcessorRefused, Unneeded, split_unreadable
from orrery.runtime.secret_probe import ProbeContext, Remark
from orrery.tls import advice

RightAnswer = Literal["may", "may not", "unclear"]


@dataclass(frozen=True, slots=True)
class KeyRight:
    """A right to read, by its name in the vendor's dashboard, and what stops without it.

    Without a right that is not `needed`, only a page or a list for the owner is incomplete.
    """

    name: str
    without: str
    read: Callable[[], Awaitable[object]]
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Rights:
    """The result of trying the rights: missing and superfluous ones; `unclear` ones got no usable answer."""

    may: Sequence[str]
    missing: Sequence[KeyRight]
    too_many: Sequence[str]
    unclear: Sequence[str]


UNTRIED = ("Checkout Sessions (needed)", "Radar lists", "Payment Method Configurations", "Account")
"""Rights to write that Orrery uses: only a write would show whether the key has them."""

_UNNEEDED: dict[Unneeded, str] = {"invoices": "Invoices", "payouts": "Payouts", "subscriptions": "Subscriptions"}


def needed_rights(reads: ProcessorReads, processor: Processor, since: datetime) -> list[KeyRight]:
    """Return every right to read that Orrery uses; `since` is now, so that the lists are short."""
    return [
        KeyRight("Account", "`orrery doctor` cannot look at the account", reads.get_account),
        KeyRight("Checkout Sessions", "nothing is sold", lambda: _all(reads.list_sessions(since))),
        KeyRight(
            "Charges", "payments that fail later, and fraud, are not seen", lambda: _all(reads.list_charges(since))
        ),
        KeyRight("Events", "refunds and disputes are not reported", lambda: _all(reads.list_events(since))),
        KeyRight("Prices", "`orrery checkout preflight` cannot try a product", reads.first_active_price),
        KeyRight(
            "Webhook Endpoints",
            "`orrery doctor` cannot look at the webhook",
            lambda: _all(processor.list_webhook_endpoints()),
        ),
        KeyRight("Reviews", "addresses of declined payments are missed", lambda: _all(reads.list_reviews(since))),
        KeyRight("Radar lists", "blocklists cannot be looked into", lambda: _lists(reads, since)),
        KeyRight("Customers", "customers", lambda: _all(reads.list_customers(since=since)), needed=False),
        KeyRight("Balance", "balance", reads.get_balance, needed=False),
        KeyRight(
            "Payment Method Configurations",
            "payment-method-configurations",
            lambda: _all(reads.list_configurations()),
            needed=False,
        ),
    ]


async def try_rights(reads: ProcessorReads, processor: Processor, now: datetime) -> Rights:
    """Return which of the needed and of the unneeded objects the key may read."""
    used = needed_rights(reads, processor, now)
    answers = {right.name: await _try_read(right.read) for right in used}
    unneeded = {
        _UNNEEDED[kind]: await _try_read(lambda kind=kind: reads.first_unneeded(kind))
        for kind in get_args(Unneeded)
    }
    return Rights(
        may=[name for name, answer in answers.items() if answer == "may"],
        missing=[right for right in used if answers[right.name] == "may not"],
        too_many=[name for name, answer in unneeded.items() if answer == "may"],
        unclear=[name for name, answer in (answers | unneeded).items() if answer == "unclear"],
    )


async def _try_read(read: Callable[[], Awaitable[object]]) -> RightAnswer:
    try:
        _ = await read()
    except ProcessorRefused as error:
        return "may not" if error.status == HTTPStatus.FORBIDDEN else "unclear"
    except OrreryError:
        return "unclear"
    return "may"


async def _all(items: AsyncIterator[object]) -> None:
    async for _ in items:
        pass


async def _lists(reads: ProcessorReads, since: datetime) -> None:
    found, _ = split_unreadable([one async for one in reads.list_value_lists()])
    if found:
        await _all(reads.list_entries(found[0].id, since=since))


RESTRICTED = "rk_"
"""The prefix of a restricted key: only such a one has rights that can be missing."""


@dataclass(frozen=True, slots=True)
class KeyProbe:
    """Asks the processor for the account, and with a `restricted` key for everything else that is read."""

    reads: ProcessorReads
    processor: Processor
    clock: Clock
    restricted: bool

    async def remarks(self, _: ProbeContext) -> AsyncIterator[Remark]:
        try:
            account = await self.reads.get_account()
            yield Remark(f"the processor accepts it ({account.id})")
        except ProcessorRefused as error:
            if error.status != HTTPStatus.FORBIDDEN:
                todo = "Put a key there that the processor accepts; see its rights in the how-to."
                yield Remark(str(error), todo)
                return
            yield Remark("the processor accepts it, but not for reading the account")
        except OrreryError as error:
            todo = advice(error, "Try again when the processor can be reached.")
            yield Remark(f"not tried at the processor: {error}", todo)
            return
        if self.restricted:
            for remark in _rights_remarks(await try_rights(self.reads, self.processor, self.clock.now())):
                yield remark


def _rights_remarks(rights: Rights) -> Iterator[Remark]:
    yield Remark(f"may read {_listed(rights.may)}" if rights.may else "may read nothing that is used")
    for right in rights.missing:
        if right.needed:
            yield Remark(f"may not read {right.name}: {right.without}", f"Give it the right to read {right.name}.")
        else:
            yield Remark(f"may not read {right.name}, so `orrery processor {right.without}` does not work")
    if rights.too_many:
        surplus = _listed(rights.too_many)
        yield Remark(f"may read {surplus}, which nothing here needs", f"Take the right to read {surplus} away.")
    if rights.unclear:
        todo = "Try again when the processor can be reached."
        yield Remark(f"no clear answer about {_listed(rights.unclear)}", todo)
    yield Remark(f"not tried, because only a write would show it: writing {_listed(UNTRIED)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)

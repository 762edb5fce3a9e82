"""The rights of a restricted key, tried by reading for `orrery secrets check`: nothing is written for it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Literal, get_args

from orrery.errors import OrreryError
from orrery.ports.processor import Processor, ProcessorReads, Unneeded, split_unreadable
from orrery.ports.processor.errors import ProcessorRefused

RightAnswer = Literal["may", "may not", "unclear"]


@dataclass(frozen=True, slots=True)
class Right:
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
    lacking: Sequence[Right]
    too_many: Sequence[str]
    unclear: Sequence[str]


UNTRIED = ("Checkout Sessions (needed)", "Radar lists", "Payment Method Configurations", "Account")
"""Rights to write that Orrery uses: only a write would show whether the key has them."""

_UNNEEDED: dict[Unneeded, str] = {"invoices": "Invoices", "payouts": "Payouts", "subscriptions": "Subscriptions"}


def needed_rights(reads: ProcessorReads, processor: Processor, since: datetime) -> list[Right]:
    """Return every right to read that Orrery uses; `since` is now, so that the lists are short."""
    return [
        Right("Account", "`orrery doctor` cannot look at the account", reads.get_account),
        Right("Checkout Sessions", "nothing is sold", lambda: _all(reads.list_sessions(since))),
        Right(
            "Charges", "payments that fail later, and fraud, are not seen", lambda: _all(reads.list_charges(since))
        ),
        Right("Events", "refunds and disputes are not reported", lambda: _all(reads.list_events(since))),
        Right("Prices", "`orrery checkout preflight` cannot try a product", reads.first_active_price),
        Right(
            "Webhook Endpoints",
            "`orrery doctor` cannot look at the webhook",
            lambda: _all(processor.list_webhook_endpoints()),
        ),
        Right("Reviews", "addresses of declined payments are missed", lambda: _all(reads.list_reviews(since))),
        Right("Radar lists", "blocklists cannot be looked into", lambda: _lists(reads, since)),
        Right("Customers", "customers", lambda: _all(reads.list_customers(since=since)), needed=False),
        Right("Balance", "balance", reads.get_balance, needed=False),
        Right(
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
        lacking=[right for right in used if answers[right.name] == "may not"],
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

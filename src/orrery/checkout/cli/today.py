"""`orrery today`: one screen with today's money, the buyers who need help, and what is broken."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

from orrery.checkout.cli import checkout_of
from orrery.checkout.cli.sales import with_amounts
from orrery.ports.clock import Clock
from orrery.ports.health import Problem, as_row
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services, service_of
from orrery.runtime.console.tables import Row, note, show, show_json
from orrery.runtime.references import References
from orrery.syntax.money import decimal

if TYPE_CHECKING:
    from orrery.checkout.access.sales import Bookings
    from orrery.runtime.planned_pause import Pause

MOST = 4
"""How many buyers and how many broken parts fit on the screen."""

_problems_of = service_of("orrery.runtime.problems:Problems")
_pauses_of = service_of("orrery.runtime.planned_pause:PlannedPauses")

_MONEY = ("currency", "sold", "gross", "refunded", "disputed", "net")
_HELP = ("reference", "since", "product", "email", "why", "todo")
_BROKEN = ("key", "since", "why", "todo")


def command(as_json: AsJson = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag of the command line
    """Show what was sold today, who needs help, and what is broken; exit 1 when somebody or something is.

    Net is gross less refunds and disputes of today, in time_zone of [checkout]; `orrery sales` has other days.
    No vendor is asked: `orrery doctor` does.
    """

    async def read(
        services: Services,
    ) -> tuple[datetime, list[Row], list[Row], list[Problem], list[str], "Pause | None"]:
        from orrery.checkout.access.sales import last_days, read_bookings  # noqa: PLC0415  it reads the store

        checkout, now = checkout_of(services), services[Clock].now()
        since = last_days(1, now.astimezone(checkout.plan.zone))[0].since
        booked = await read_bookings(checkout.stored, since, livemode=checkout.plan.livemode)
        in_need: list[Row] = [asdict(one) for one in await checkout.in_need.all()]
        unreadable = [services[References].within(one.name) for one in booked.unreadable]
        pause: Pause | None = await _pauses_of(services).running()
        return now, _money(booked), in_need, await _broken(services), unreadable, pause

    now, money, in_need, problems, unreadable, pause = runner.run(read)
    broken, aside = [as_row(one) for one in problems if one.is_open], sum(one.acknowledged for one in problems)
    if as_json:
        planned = pause and pause.model_dump(exclude={"v"})
        shown = {
            "at": now,
            "money": money,
            "help": in_need,
            "broken": broken,
            "acknowledged": aside,
            "pause": planned,
        }
        show_json(shown | {"unreadable": unreadable})
    else:
        note(f"{now:%A %d %B %Y, %H:%M} UTC")
        shown = [with_amounts(row, decimal) for row in money]
        show(shown, _MONEY, as_json=False, empty="Nothing was sold today, and nothing went back.")
        _section("Needs help", in_need, _HELP, "No buyer needs help.", "orrery checkout reconcile")
        _section("Broken", broken, _BROKEN, "Nothing is broken." if not aside else "", "orrery doctor")
        if aside:
            note(f"\nAcknowledged: {aside}, listed by `orrery ack --list`")
        if pause:
            note(f"\nPlanned pause: {pause}")
        for one in unreadable:
            note(f"Not counted, because it cannot be read: {one}")
    end_broken(when=in_need or broken or unreadable)


async def _broken(services: Services) -> list[Problem]:
    """Return the problems without buyers, who are listed by themselves."""
    from orrery.checkout.access.buyers_in_need import OF_BUYERS  # noqa: PLC0415  it reads the store

    found = await _problems_of(services).all()
    return [one for one in found if not one.key.startswith(OF_BUYERS)]


def _money(booked: "Bookings") -> list[Row]:
    from orrery.checkout.access.sales import totals  # noqa: PLC0415  the same

    dated = [one for one in booked.found if one.at is not None]
    return [each.row(currency) for currency, each in totals(dated).items()]


def _section(title: str, rows: Sequence[Row], columns: Sequence[str], empty: str, command: str) -> None:
    if rows:
        note(f"\n{title}: {len(rows)}")
    more = f"{len(rows) - MOST} more: `{command}`" if len(rows) > MOST else ""
    show(rows[:MOST], columns, as_json=False, empty=empty, more=more)

"""`orrery restore`: replaces the store with a snapshot, without sending a notification twice or losing one."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from orrery.app.cli.services import Config, configured
from orrery.app.composition import opened
from orrery.app.settings.reader import Secrets, Settings
from orrery.app.store_place import clock_of, put_in_place, remains_of, store_place
from orrery.errors import Invalid, RecordUnreadable, StoreError, StoreMissing, StoreUnavailable
from orrery.ports.store import Store, StorePlace
from orrery.runtime.console.tables import left_out, note
from orrery.runtime.parts import RestoreReport
from orrery.runtime.privacy import Privacy
from orrery.runtime.replaced import ReplacedStore
from orrery.runtime.restored import Restoration, RestoreResult
from orrery.working_folder import working_folder

_Erased = tuple[int, list[RecordUnreadable]]
"""How many erasures were repeated, and why others were not."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A copy that may replace the store: what became of its messages, and what was erased in it once more.

    `erased` is None where the replaced store could not be read. `reports` are those of the modules.
    """

    messages: RestoreResult
    erased: _Erased | None
    reports: Sequence[RestoreReport]


def command(
    file: Annotated[Path, typer.Argument(help="The snapshot.", exists=True, dir_okay=False)], config: Config = None
) -> None:
    """Restore the store; hold back messages of which it is not known whether they were sent; then reconcile."""
    settings, secrets = configured(config, quiet=True)
    prepared = restored(file, settings, secrets)
    done = prepared.messages
    note(f"Restored. {done.voided} approvals are void. Messages as in the store before: {done.known}.")
    for reason, count in done.held.items():
        note(f"Messages held back: {count}. {reason}")
    if done.held:
        note("Look with `orrery notifications list --state held`, then release or drop them.")
    _report(settings, secrets, prepared)
    asyncio.run(_followed(settings, secrets))


def of_cockpit(
    file: Annotated[Path, typer.Argument(help="The snapshot.", exists=True, dir_okay=False)], config: Config = None
) -> None:
    """Put a snapshot in place of the cockpit's store; what was erased since is erased again."""
    settings, secrets = configured(config, quiet=True, role="cockpit")
    prepared = restored(file, settings, secrets)
    note("Restored.")
    _report(settings, secrets, prepared)


def restored(file: Path, settings: Settings, secrets: Secrets) -> Prepared:
    """Replace the store."""
    place = store_place(settings, secrets)
    with _workshop(settings.store.store_file) as copy:
        # Prepared before it replaces the store: an interrupted restore must not leave a store that notifies twice.
        at_copy = settings.with_store(copy)
        last = put_in_place(file, store_place(at_copy, secrets))
        read_at = place.last_version(last)
        prepared = asyncio.run(_prepared(settings, at_copy, secrets, went_on=read_at is not None))
        _ = put_in_place(copy, place, read_at=read_at)
    return prepared


def _report(settings: Settings, secrets: Secrets, prepared: Prepared) -> None:
    _show(prepared.reports)
    if prepared.erased is None:
        note("The store before cannot be read: erase again what was erased since the snapshot.")
    else:
        again, unreadable = prepared.erased
        left_out(unreadable)
        if again:
            note(f"Erased again, as in the store before: {again}.")
    for copy in remains_of(store_place(settings, secrets), settings.store.store_file):
        note(f"What was there before is in {copy}: delete that when you are sure.")


@contextmanager
def _workshop(store: Path) -> Generator[Path]:
    """Yield a folder for a copy of the store, on its disk; raise `Invalid` while another restore has it."""
    with ExitStack() as stack:
        try:
            directory = stack.enter_context(working_folder(store.with_name(f".{store.name}.restoring")))
        except BlockingIOError:
            raise Invalid("Another restore of this store is at work: let it end first.") from None
        except OSError as error:
            raise StoreUnavailable(f"Nothing can be written beside {store}: {error.strerror}.") from None
        yield directory / store.name


async def _prepared(settings: Settings, at_copy: Settings, secrets: Secrets, *, went_on: bool) -> Prepared:
    """Decide the messages of the copy, and bring to it what only the replaced store shows."""
    clock = clock_of(settings)
    async with _before(store_place(settings, secrets)) as before:
        replaced = ReplacedStore(before, went_on=went_on) if before else None
        store = await store_place(at_copy, secrets).open()
        try:
            done = await Restoration(store, clock).settle(replaced)
        finally:
            await store.close()
        async with opened(at_copy, secrets) as orrery:
            reports = [await learn(replaced) for parts in orrery.modules for learn in parts.take_over]
            return Prepared(done, await _erased_again(orrery[Privacy], before), reports)


@asynccontextmanager
async def _before(place: StorePlace) -> AsyncGenerator[Store | None]:
    """Open the store that is replaced; None when it is missing or cannot be opened."""
    try:
        before = await place.open()
    except (StoreError, StoreMissing):
        yield None
        return
    try:
        yield before
    finally:
        await before.close()


async def _erased_again(privacy: Privacy, before: Store | None) -> _Erased | None:
    """Repeat in the copy the erasures of the store before; None when that store cannot be read."""
    if before is None:
        return None
    try:
        done = await privacy.erasures(before)
    except StoreError:
        return None
    return await privacy.erase_again(done)


async def _followed(settings: Settings, secrets: Secrets) -> None:
    async with opened(settings, secrets) as orrery:
        _show([await follow() for parts in orrery.modules for follow in parts.after_restore])


def _show(reports: Sequence[RestoreReport]) -> None:
    for sentence in (one for report in reports for one in report.sentences):
        note(sentence)
    left_out([error for report in reports for error in report.unreadable])

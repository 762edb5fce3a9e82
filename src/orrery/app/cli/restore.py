"""`orrery restore`: replaces the store with a snapshot, without sending a notification twice or losing one."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
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
from orrery.runtime.privacy import Privacy
from orrery.runtime.restored import ReplacedStore, Restoration, RestoreResult
from orrery.working_folder import working_folder

_Erased = tuple[int, list[RecordUnreadable]]
"""How many erasures were repeated, and why others were not."""


def command(
    file: Annotated[Path, typer.Argument(help="The snapshot.", exists=True, dir_okay=False)], config: Config = None
) -> None:
    """Restore the store; hold back messages of which it is not known whether they were sent; then reconcile."""
    settings, secrets = configured(config, quiet=True)
    done, erased = restored(file, settings, secrets)
    note(f"Restored. {done.voided} approvals are void. Messages as in the store before: {done.known}.")
    for reason, count in done.held.items():
        note(f"Messages held back: {count}. {reason}")
    if done.held:
        note("Look with `orrery notifications list --state held`, then release or drop them.")
    _report(settings, secrets, erased)
    asyncio.run(_followed(settings, secrets))


def of_cockpit(
    file: Annotated[Path, typer.Argument(help="The snapshot.", exists=True, dir_okay=False)], config: Config = None
) -> None:
    """Put a snapshot in place of the cockpit's store; what was erased since is erased again."""
    settings, secrets = configured(config, quiet=True, role="cockpit")
    _, erased = restored(file, settings, secrets)
    note("Restored.")
    _report(settings, secrets, erased)


def restored(file: Path, settings: Settings, secrets: Secrets) -> tuple[RestoreResult, _Erased | None]:
    """Replace the store; return what became of its messages, and what was erased again (see `_erased_again`)."""
    place = store_place(settings, secrets)
    with _workshop(settings.store.store_file) as copy:
        # Prepared before it replaces the store: an interrupted restore must not leave a store that notifies twice.
        at_copy = settings.with_store(copy)
        last = put_in_place(file, store_place(at_copy, secrets))
        read_at = place.last_version(last)
        prepared = asyncio.run(_prepared(settings, at_copy, secrets, went_on=read_at is not None))
        _ = put_in_place(copy, place, read_at=read_at)
    return prepared


def _report(settings: Settings, secrets: Secrets, erased: _Erased | None) -> None:
    if erased is None:
        note("The store before cannot be read: erase again what was erased since the snapshot.")
    else:
        again, unreadable = erased
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


async def _prepared(
    settings: Settings, at_copy: Settings, secrets: Secrets, *, went_on: bool
) -> tuple[RestoreResult, _Erased | None]:
    """Decide the messages of the copy, and repeat the erasures, by what the replaced store shows."""
    clock = clock_of(settings)
    async with _before(store_place(settings, secrets)) as before:
        store = await store_place(at_copy, secrets).open()
        try:
            done = await Restoration(store, clock).settle(
                ReplacedStore(before, went_on=went_on) if before else None
            )
        finally:
            await store.close()
        return done, await _erased_again(at_copy, secrets, before)


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


async def _erased_again(at_copy: Settings, secrets: Secrets, before: Store | None) -> _Erased | None:
    """Repeat in the copy the erasures of the store before; None when that store cannot be read."""
    if before is None:
        return None
    async with opened(at_copy, secrets) as orrery:
        try:
            done = await orrery[Privacy].erasures(before)
        except StoreError:
            return None
        return await orrery[Privacy].erase_again(done)


async def _followed(settings: Settings, secrets: Secrets) -> None:
    async with opened(settings, secrets) as orrery:
        reports = [await follow() for parts in orrery.modules for follow in parts.after_restore]
    for sentence in (one for report in reports for one in report.sentences):
        note(sentence)
    left_out([error for report in reports for error in report.unreadable])

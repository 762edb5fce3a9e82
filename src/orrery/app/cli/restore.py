"""`orrery restore`: replaces the store with a snapshot, without sending a notification twice."""

import asyncio
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.sqlite import SqliteStore, copies_beside, restore
from orrery.app.cli.services import Config, configured
from orrery.app.composition import clock_of, opened
from orrery.app.settings import Secrets, Settings
from orrery.errors import RecordUnreadable, StoreError, StoreMissing
from orrery.ports.clock import Clock
from orrery.runtime.console.tables import left_out, note
from orrery.runtime.outbox import Outbox
from orrery.runtime.privacy import Privacy
from orrery.runtime.restored import Restoration, RestoreResult


def command(
    file: Annotated[Path, typer.Argument(help="The snapshot.", exists=True, dir_okay=False)], config: Config = None
) -> None:
    """Restore the store; hold back what was not delivered, void approvals, then reconcile."""
    settings, secrets = configured(config, quiet=True)
    done, erased = _restore(file, settings, secrets)
    note(f"Restored. {done.held} notifications are held back, {done.voided} approvals are void.")
    _report(settings.store_path, erased)
    asyncio.run(_followed(settings, secrets))


def of_cockpit(
    file: Annotated[Path, typer.Argument(help="The snapshot.", exists=True, dir_okay=False)], config: Config = None
) -> None:
    """Put a snapshot in place of the cockpit's store; what was erased since is erased again."""
    settings, secrets = configured(config, quiet=True, role="cockpit")
    _, erased = _restore(file, settings, secrets)
    note("Restored.")
    _report(settings.store_path, erased)


def _restore(
    file: Path, settings: Settings, secrets: Secrets
) -> tuple[RestoreResult, tuple[int, list[RecordUnreadable]] | None]:
    """Replace the store; return what that held back, and what was erased again (see `_erased_again`)."""
    store, clock = settings.store_path, clock_of(settings)
    with _workshop(store) as copy:
        # Prepared before it replaces the store: an interrupted restore must not leave a store that notifies twice.
        restore(file, copy, clock)
        done = asyncio.run(_settled(copy, clock))
        erased = asyncio.run(_erased_again(settings, secrets, copy))
        restore(copy, store, clock)
    return done, erased


def _report(store: Path, erased: tuple[int, list[RecordUnreadable]] | None) -> None:
    if erased is None:
        note("The store before cannot be read: erase again what was erased since the snapshot.")
    else:
        again, unreadable = erased
        left_out(unreadable)
        if again:
            note(f"Erased again, as in the store before: {again}.")
    for copy in copies_beside(store):
        note(f"{copy.name} holds what was there before: delete it when you are sure.")


@contextmanager
def _workshop(store: Path) -> Generator[Path]:
    """Yield a folder for a copy of the store, on its disk; that of a killed run is deleted first."""
    directory = store.with_name(f".{store.name}.restoring")
    shutil.rmtree(directory, ignore_errors=True)
    try:
        yield directory / store.name
    finally:
        shutil.rmtree(directory, ignore_errors=True)


async def _settled(copy: Path, clock: Clock) -> RestoreResult:
    store = await SqliteStore.open(copy, clock)
    try:
        return await Restoration(store, clock, Outbox(store, clock, {})).settle()
    finally:
        await store.close()


async def _erased_again(
    settings: Settings, secrets: Secrets, copy: Path
) -> tuple[int, list[RecordUnreadable]] | None:
    """Repeat in the copy the erasures of the previous store; None when that store cannot be read."""
    at_copy = settings.with_store(copy)
    try:
        before = await SqliteStore.open(settings.store_path, clock_of(settings))
    except (StoreError, StoreMissing):
        return None
    try:
        async with opened(at_copy, secrets) as orrery:
            try:
                done = await orrery[Privacy].erasures(before)
            except StoreError:
                return None
            return await orrery[Privacy].erase_again(done)
    finally:
        await before.close()


async def _followed(settings: Settings, secrets: Secrets) -> None:
    async with opened(settings, secrets) as orrery:
        reports = [await follow() for parts in orrery.modules for follow in parts.after_restore]
    for sentence in (one for report in reports for one in report.sentences):
        note(sentence)
    left_out([error for report in reports for error in report.unreadable])

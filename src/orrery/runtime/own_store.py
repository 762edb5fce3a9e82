"""The store as one module gets it: it knows which prefixes of keys the module's data declares."""

from collections.abc import Sequence
from typing import Any

from orrery.errors import OrreryError
from orrery.ports.store import Check, Committed, Conflict, Store, Write
from orrery.runtime.fence import current_fence
from orrery.runtime.module import Module
from orrery.runtime.modules import NOTIFICATIONS, RUNTIME, WATCH


class NotDeclaredError(OrreryError):
    """A module asks for what its data does not name, or the data of the modules do not fit together."""


class Marked(dict[str, Any]):
    """The collections with personal fields, by their prefixes; `closed` once the modules are built."""

    closed = False


class OwnStore:
    """A `Store` in which only a declared prefix gets a collection: other keys would belong to no module.

    Those of the runtime, the outbox and the watch may be used by all: a module holds a lease, queues messages, and
    reports a problem at once. What is written is not looked at: a commit may write the keys of several modules.
    `marked` gets the collections whose records have personal fields.
    """

    def __init__(self, store: Store, module: Module, marked: Marked) -> None:
        self._module = module
        self.marked = marked
        self._store, self.get, self.scan = store, store.get, store.scan
        self.scrub, self.inspect, self.close = store.scrub, store.inspect, store.close

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Commit; in a job under its lease: when another process has taken that, raise `LeaseLost`."""
        if fence := current_fence():
            return await fence.commit(self._store, writes, checks, commit_id)
        return await self._store.commit(writes, checks, commit_id=commit_id)

    def require(self, prefix: str) -> None:
        """Raise `NotDeclaredError` for a prefix that the module does not declare."""
        shared = *RUNTIME.prefixes, *NOTIFICATIONS.prefixes, *WATCH.prefixes
        if not prefix.startswith((*self._module.prefixes, *shared)):
            raise NotDeclaredError(
                f"The module {self._module.name} keeps records under {prefix}, which its `prefixes` do not name."
            )

    def note(self, prefix: str, collection: object) -> None:
        """Note a collection with personal fields; raise `NotDeclaredError` when it comes too late.

        One that the module shares with others is noted by its own module.
        """
        if not prefix.startswith(self._module.prefixes):
            return
        if self.marked.closed and prefix not in self.marked:
            raise NotDeclaredError(
                f"The module {self._module.name} makes the collection {prefix}, which has personal fields, after "
                "it was built: no export would reach it. Make it in `build`."
            )
        self.marked[prefix] = collection


def require_declared(store: Store, prefix: str) -> None:
    """Raise `NotDeclaredError` where a module's store is to keep what the module does not declare."""
    if isinstance(store, OwnStore):
        store.require(prefix)

"""The session of a reference (decision 46): derived from the store's session ids, never stored."""

from orrery.checkout import keys
from orrery.errors import NotFound
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import Walk
from orrery.runtime.references import References, as_reference

_KNOWN = (keys.ACCESS, keys.PENDING, keys.OFFER, keys.OWN_SESSION)
"""Every kind of record that is kept under a session's id."""


class Sessions:
    """Finds sessions by their references."""

    def __init__(self, store: Store, clock: Clock, references: References) -> None:
        self._store = store
        self._clock = clock
        self._references = references

    async def named(self, text: str) -> str:
        """Return the session id of a reference, and any other text as it is.

        Raises `NotFound` for a reference of no session here, and the store's errors.
        """
        reference = as_reference(text)
        if reference is None:
            return text
        for prefix in _KNOWN:
            if found := await self._under(prefix, reference):
                return found
        raise NotFound("No session here has this reference.")

    async def _under(self, prefix: str, reference: str) -> str | None:
        async for entry in Walk(prefix).entries(self._store, self._clock):
            session_id = entry.key.removeprefix(prefix)
            if self._references.of(session_id) == reference:
                return session_id
        return None

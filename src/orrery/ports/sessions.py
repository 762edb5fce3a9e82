"""The payment sessions of this deployment for other modules, as a port."""

from typing import Protocol


class SessionFinder(Protocol):
    """Finds sessions by their references (decision 46)."""

    async def named(self, text: str) -> str:
        """Return the session id of a reference, and any other text as it is.

        Raises `NotFound` for a reference of no session here, and the store's errors.
        """
        ...

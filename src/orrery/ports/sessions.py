"""The payment sessions of this deployment for other modules, as a port."""

from typing import Protocol


class SessionFinder(Protocol):
    """Finds sessions by what people have of them: a reference (decision 46), a charge, a buyer's address."""

    async def named(self, text: str) -> str:
        """Return the one session that `text` names, or `text` itself.

        Raises `NotFound` where it names none here, `Invalid` with the candidates where it names several, and the
        errors of the store and of the processor.
        """
        ...

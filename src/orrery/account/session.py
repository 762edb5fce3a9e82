"""One payment session at the processor."""

from http import HTTPStatus

from orrery.errors import NotFound
from orrery.ports.processor import CheckoutSession, ProcessorReads, ProcessorRefused
from orrery.ports.sessions import SessionFinder


class SessionLookup:
    """Reads sessions, by their ids or by the references that stand for them (decision 46)."""

    def __init__(self, reads: ProcessorReads, sessions: SessionFinder) -> None:
        self._reads = reads
        self._sessions = sessions

    async def find(self, named: str) -> CheckoutSession:
        """Return the session; raise `NotFound` without one, and the errors of the processor and of the store."""
        try:
            return await self._reads.get_session(await self._sessions.named(named))
        except ProcessorRefused as error:
            if error.status == HTTPStatus.NOT_FOUND:
                raise NotFound("The processor knows no such session.") from error
            raise

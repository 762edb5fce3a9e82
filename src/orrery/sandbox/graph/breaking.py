"""What a fault does to a call: a refusal, no answer, half of one, or one that comes too late."""

from collections.abc import Awaitable, Callable

from starlette.responses import HTMLResponse, Response

from orrery.sandbox.faults import CutConnection, LateAnswer, never
from orrery.sandbox.graph import errors
from orrery.sandbox.ground import SandboxGround

_PORTAL = "<!doctype html><title>Sign in to the network</title><p>Sign in to the network.</p>"


class Breaking:
    """The faults that strike a call of an account: a fault's path is `ann@corp.example`, a call, or both."""

    def __init__(self, ground: SandboxGround) -> None:
        self._faults = ground.faults
        self._clock = ground.clock

    def instead(self, account: str, call: str) -> Response | None:
        """Return what comes instead of an answer, if anything does; nothing is carried out."""
        take = self._taking(account, call)
        if take("graph_cut"):
            return CutConnection()
        if take("graph_hang"):
            return LateAnswer(None, never)
        if take("graph_html_200"):
            return HTMLResponse(_PORTAL)
        return None

    def refuse(self, account: str, call: str) -> None:
        """Raise the refusal that a fault asks for."""
        take = self._taking(account, call)
        if take("graph_401"):
            raise errors.unauthenticated("Access token validation failure. Invalid token.")
        if take("graph_403"):
            raise errors.access_denied()
        if take("graph_503"):
            raise errors.unavailable()
        limited = self._faults.take("graph_429", f"{account} {call}", call)
        if limited is not None:
            raise errors.throttled(10 if limited.value is None else limited.value)

    def after(self, account: str, call: str, answer: Response) -> Response:
        """Return the answer to a call that was carried out, or what is left of it."""
        if self._taking(account, call)("graph_half"):
            return Response(
                bytes(answer.body)[: len(answer.body) // 2], answer.status_code, media_type="application/json"
            )
        late = self._faults.take("graph_lost_answer", f"{account} {call}", call)
        if late is None:
            return answer
        seconds = late.value
        wait: Callable[[], Awaitable[None]] = never if seconds is None else lambda: self._clock.sleep(seconds)
        return LateAnswer(answer, wait)

    def _taking(self, account: str, call: str) -> Callable[[str], bool]:
        return lambda kind: self._faults.take(kind, f"{account} {call}", call) is not None

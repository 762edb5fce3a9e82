"""`orrery live refresh`: the emergency fallback, which posts to the service from any machine.

(spec 2, What the service does 4.) The password is in no argument, no output and no error.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import datetime
from http import HTTPStatus
from math import floor
from pathlib import Path
from typing import Annotated

import typer
from pydantic import AwareDatetime, BaseModel, ValidationError

from orrery.errors import Invalid
from orrery.live.freshness import TICK
from orrery.live.schedules import REFRESH_PATH
from orrery.ports.clock import Clock
from orrery.ports.refresh import RefreshReply, RefreshService, RefreshServices
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.passwords import PASSWORD_VARIABLE, PasswordFile, given_password
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import note
from orrery.runtime.console.terminal import visible_json
from orrery.syntax.admin_password import sendable
from orrery.syntax.base_url import checked_base_url
from orrery.syntax.lines import one_line

MOST_ITERATIONS = 25
"""How often at most (issue 3, item 6): it is for an emergency, no scheduler."""

_LONGEST_MESSAGE = 200
_HIDDEN = "[password]"

At = Annotated[str | None, typer.Argument(help="Where the service is; by default this deployment's own address.")]
Iterations = Annotated[int, typer.Option(min=1, max=MOST_ITERATIONS, help="How many times.")]
Interval = Annotated[int, typer.Option(min=1, max=3600, help="Seconds from one to the next.")]


@dataclass(frozen=True, slots=True)
class RefreshAnswer:
    """The answer to one refresh: either `active` and the age in seconds, or an error tag and a sentence."""

    at: datetime
    ok: bool
    active: int | None = None
    pages: int | None = None
    age_s: int | None = None
    error: str | None = None
    message: str | None = None

    def line(self) -> str:
        if self.ok:
            text = f"ok active={self.active} pages={'-' if self.pages is None else self.pages} age={self.age_s}s"
        else:
            text = f"failed {self.error}" + (f": {self.message}" if self.message else "")
        return f"{self.at:%Y-%m-%dT%H:%M:%SZ} {text}"

    def json(self) -> str:
        return visible_json(asdict(self) | {"at": self.at.isoformat()})


class _Body(BaseModel):
    """The service's answer (spec 2, Endpoints)."""

    ok: bool
    active: int | None = None
    pages_count: int | None = None
    generated_at: AwareDatetime | None = None
    error: str | None = None
    message: str | None = None


class Refresher:
    """Posts refreshes to one service with one password, and reads the answers."""

    def __init__(self, service: RefreshService, clock: Clock, password: str) -> None:
        self._service = service
        self._clock = clock
        self._password = password

    async def answers(self, iterations: int, interval: float) -> AsyncIterator[RefreshAnswer]:
        """Yield an answer each `interval` seconds from the first on; one that is overdue waits for the next."""
        begun = self._clock.monotonic()
        for number in range(iterations):
            if number:
                passed = self._clock.monotonic() - begun
                await self._clock.sleep((floor(passed / interval) + 1) * interval - passed)
            yield await self.once()

    async def once(self) -> RefreshAnswer:
        """Request one refresh and return its answer; every error is an answer, too."""
        reply = await self._service.post(REFRESH_PATH, self._password)
        if reply.why:
            return self._failed("timeout" if reply.late else "unreachable", reply.why)
        return self._read(reply)

    def _read(self, reply: RefreshReply) -> RefreshAnswer:
        try:
            answer = _Body.model_validate_json(reply.body)
        except ValidationError:
            return self._strange(reply.status)
        if not answer.ok and answer.error:
            return self._failed(self._plain(answer.error), self._plain(answer.message or ""))
        if reply.status != HTTPStatus.OK or not answer.ok or answer.active is None or answer.generated_at is None:
            return self._strange(reply.status)
        now = self._clock.now()
        age = max(0, floor((now - answer.generated_at).total_seconds()))
        return RefreshAnswer(now, ok=True, active=answer.active, pages=answer.pages_count, age_s=age)

    def _strange(self, status: int) -> RefreshAnswer:
        is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
        why = " Redirects are not followed: the password would travel." if is_redirect else ""
        return self._failed("not-an-answer", f"HTTP {status}.{why}")

    def _failed(self, error: str, message: str) -> RefreshAnswer:
        return RefreshAnswer(self._clock.now(), ok=False, error=error, message=message or None)

    def _plain(self, text: str) -> str:
        """Return a text from outside in a form that may be shown: short, and never with the password."""
        # Before, since a line keeps no two spaces in a row; and after, since it makes one of what is broken.
        line = one_line(text.replace(self._password, _HIDDEN)).replace(self._password, _HIDDEN)
        return line[:_LONGEST_MESSAGE]


def refresh(
    base_url: At = None,
    iterations: Iterations = 1,
    interval: Interval = TICK,
    password_file: PasswordFile = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Refresh the counter of a running service by hand; exit 1 when the last refresh failed."""
    services = runner.port(RefreshServices)
    service = services.at(checked_base_url(base_url or services.own_address()))
    password = sendable(_password(password_file))
    last: list[RefreshAnswer] = []

    async def work() -> None:
        async for answer in Refresher(service, runner.port(Clock), password).answers(iterations, interval):
            last[:] = [answer]
            _ = sys.stdout.write(f"{answer.json() if as_json else answer.line()}\n")
            _ = sys.stdout.flush()

    try:
        asyncio.run(work())
    except KeyboardInterrupt:
        note("Stopped.")
    end_broken(when=not (last and last[0].ok))


def _password(file: Path | None) -> str:
    password = given_password(file)
    if password is None:
        raise Invalid(
            f"The admin password is missing: set ${PASSWORD_VARIABLE}, or name a file by --password-file."
        )
    return password

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

import httpx2
import typer
from pydantic import AwareDatetime, BaseModel, ValidationError

from orrery.adapters.clock import SystemClock
from orrery.cli.passwords import PASSWORD_VARIABLE, PasswordFile, given_password
from orrery.cli.services import AsJson, Config
from orrery.cli.tables import note
from orrery.cli.terminal import visible_json
from orrery.edge.auth import sendable
from orrery.errors import Invalid
from orrery.live.schedules import REFRESH_PATH
from orrery.ports.clock import Clock
from orrery.settings import SettingsError, load, load_settings_if_any
from orrery.syntax.base_url import checked_base_url
from orrery.syntax.lines import one_line
from orrery.tls import tls_trouble
from orrery.trust import WELL_KNOWN, Trust

MOST_ITERATIONS = 25
"""How often at most (issue 3, item 6): it is for an emergency, no scheduler."""

DEADLINE = 20.0
"""Seconds that one refresh may take."""

_LONGEST_ANSWER, _LONGEST_MESSAGE = 64 * 1024, 200
_HIDDEN = "[password]"
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  where a service that listens everywhere is reached

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

    def __init__(self, client: httpx2.AsyncClient, clock: Clock, base_url: str, password: str) -> None:
        self._client = client
        self._clock = clock
        self._url = base_url + REFRESH_PATH
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
        try:
            async with asyncio.timeout(DEADLINE):
                status, body = await self._post()
        except TimeoutError:
            return self._failed("timeout", f"No answer within {DEADLINE:.0f} seconds.")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return self._failed("unreachable", tls_trouble("The service", error) or f"{type(error).__name__}.")
        return self._read(status, body)

    async def _post(self) -> tuple[int, bytes]:
        # "identity": a small answer must not unfold into a large one.
        headers = {"Authorization": f"Bearer {self._password}", "Accept-Encoding": "identity"}
        async with self._client.stream("POST", self._url, headers=headers, follow_redirects=False) as answer:
            body = b""
            async for piece in answer.aiter_raw():
                body += piece
                if len(body) > _LONGEST_ANSWER:
                    break
            return answer.status_code, body

    def _read(self, status: int, body: bytes) -> RefreshAnswer:
        try:
            answer = _Body.model_validate_json(body)
        except ValidationError:
            return self._strange(status)
        if not answer.ok and answer.error:
            return self._failed(self._plain(answer.error), self._plain(answer.message or ""))
        if status != HTTPStatus.OK or not answer.ok or answer.active is None or answer.generated_at is None:
            return self._strange(status)
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
    interval: Interval = 60,
    password_file: PasswordFile = None,
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    config: Config = None,
) -> None:
    """Refresh the counter of a running service by hand; exit 1 when the last refresh failed."""
    base = checked_base_url(base_url or _own_address(config))
    # A proxy of the environment is for the outside: to this machine, the bearer would pass it in clear.
    proxied = base.lower().startswith("https:")
    trust = _trust(config) if proxied else WELL_KNOWN
    password = sendable(_password(password_file))
    last: list[RefreshAnswer] = []

    async def work() -> None:
        async with httpx2.AsyncClient(timeout=DEADLINE, trust_env=proxied, verify=trust.web) as client:
            async for answer in Refresher(client, SystemClock(), base, password).answers(iterations, interval):
                last[:] = [answer]
                sys.stdout.write(f"{answer.json() if as_json else answer.line()}\n")
                sys.stdout.flush()

    try:
        asyncio.run(work())
    except KeyboardInterrupt:
        note("Stopped.")
    raise typer.Exit(0 if last and last[0].ok else 1)


def _own_address(config: Path | None) -> str:
    server = load(config)[0].server
    host = _WILDCARDS.get(server.host, server.host)
    return f"http://[{host}]:{server.port}" if ":" in host else f"http://{host}:{server.port}"


def _trust(config: Path | None) -> Trust:
    """Return whose certificates are believed; settings that nobody named do not stop an emergency."""
    try:
        return Trust(load_settings_if_any(config).tls.ca_file)
    except SettingsError as error:
        if config:
            raise
        note(f"{error} Only the well-known certificate authorities are believed.")
        return WELL_KNOWN


def _password(file: Path | None) -> str:
    password = given_password(file)
    if password is None:
        raise Invalid(
            f"The admin password is missing: set ${PASSWORD_VARIABLE}, or name a file by --password-file."
        )
    return password

"""Google Analytics 4, by the realtime report of its Data API (spec 2, decisions 21-25).

The report is asked for over plain REST; only the access token comes from Google's library, which blocks and
therefore runs in a thread. It is imported there, at the first mint, so that starting does not wait for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, lru_cache, partial
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from orrery.errors import NotConfigured
from orrery.outside import NoAnswer, Outside, Unreadable, session
from orrery.ports.analytics import AnalyticsFailed, By, Cause, Quotas, QuotaState, ReportRow, UserReport
from orrery.ports.clock import Clock
from orrery.syntax.base_url import THIS_MACHINE
from orrery.syntax.lines import one_line
from orrery.syntax.numbers import LARGEST
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

SCOPE = "https://www.googleapis.com/auth/analytics.readonly"
"""The only scope that the service requests: read access."""

CHECK_SECONDS = 10.0
"""How long a check of the credentials may take."""

MINT_SECONDS = 30.0
"""New callers do not join a mint that is older than this: they start another."""

SILENCE = 10
"""Seconds without a byte after which a thread gives the token endpoint up, also while callers still wait."""

TOKEN_SECONDS = 3600
"""How long a token lasts, as published; one that ends sooner is found out by its 401."""

RENEWAL_SECONDS = 300
"""How long before its end a token is replaced."""

LONGEST_REPORT = 4 << 20
"""Bytes of the longest report that is read: 10,000 rows are a quarter of it."""

LONGEST_MESSAGE = 200
"""Characters of the vendor's message that an error repeats."""

T = TypeVar("T")


class GoogleAnalytics:
    """The analytics port over one property. Without key or property every call raises `NotConfigured`.

    `key_json` is the text of a service account's key file, `planet_dimension` the dimension that distinguishes
    the sites of the family (decision 23); users of the last `window_minutes` count; `clock` dates signed requests.
    """

    def __init__(
        self,
        key_json: str | None,
        property_id: str | None,
        *,
        base_url: str,
        planet_dimension: str,
        window_minutes: int,
        clock: Clock,
        trust: Trust = WELL_KNOWN,
    ) -> None:
        self._property_id = property_id
        self._url = f"{base_url.rstrip('/')}/v1beta/properties/{property_id}:runRealtimeReport"
        self._dimensions: dict[By, str] = {"page": "unifiedScreenName", "planet": planet_dimension}
        self._minutes = window_minutes
        self._provider = Outside("The analytics provider", CHECK_SECONDS, trust, LONGEST_REPORT)
        self._tokens = _Tokens(key_json, clock, trust)

    async def active_users(self, by: By | None = None, *, limit: int | None = None, deadline: float) -> UserReport:
        """Ask for one report: one request, and after a 401 one more with a new token."""
        dimensions = [self._dimensions[by]] if by else []
        answer = await self._within(deadline, partial(self._ask, _question(dimensions, limit, self._minutes)))
        if answer.status != HTTPStatus.OK:
            raise _failure(answer)
        rows, quotas = _read(answer.body, len(dimensions))
        return UserReport(tuple(sorted(rows, key=lambda row: -row.users))[:limit], quotas)

    async def check(self) -> None:
        """Mint a new token: the one in use only shows that the key was valid when it was minted."""
        _ = await self._within(CHECK_SECONDS, self._tokens.mint)

    async def _within(self, deadline: float, call: Callable[[], Awaitable[T]]) -> T:
        if not self._property_id:
            raise NotConfigured("The analytics property is not set.")
        try:
            with replace(self._provider, deadline=deadline).troubles():
                async with asyncio.timeout(deadline):
                    return await call()
        except Unreadable as error:
            raise _not_a_report(error.status or HTTPStatus.OK) from None
        except NoAnswer as error:
            raise AnalyticsFailed(str(error), cause="unreachable") from None

    async def _ask(self, question: dict[str, object]) -> _HttpAnswer:
        token = await self._tokens.token()
        answer = await self._post(question, token)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            answer = await self._post(question, await self._tokens.token(rejected=token))
        return answer

    async def _post(self, question: dict[str, object], token: str) -> _HttpAnswer:
        headers = {"Authorization": f"Bearer {token}"}
        async with self._provider.connected(self._url) as client:
            answer = await client.post(self._url, json=question, headers=headers)
        return _HttpAnswer(answer.status_code, answer.content, token)


@dataclass(frozen=True, slots=True)
class _HttpAnswer:
    status: int
    body: bytes
    token: str = field(repr=False)


# The question and its answer


def _question(dimensions: list[str], limit: int | None, window_minutes: int) -> dict[str, object]:
    question: dict[str, object] = {"metrics": [{"name": "activeUsers"}], "returnPropertyQuota": True}
    question["minuteRanges"] = [{"startMinutesAgo": window_minutes - 1, "endMinutesAgo": 0}]
    if dimensions:
        question["dimensions"] = [{"name": name} for name in dimensions]
        question["orderBys"] = [{"metric": {"metricName": "activeUsers"}, "desc": True}]
    if limit is not None:
        question["limit"] = str(limit)  # int64 is a string in this vendor's JSON
    return question


class _Value(BaseModel, strict=True):
    value: str = ""


class _Row(BaseModel, strict=True):
    dimensions: list[_Value] = Field(default_factory=list[_Value], alias="dimensionValues")
    metrics: list[_Value] = Field(alias="metricValues", min_length=1, max_length=1)


class _Body(BaseModel, strict=True):
    kind: Literal["analyticsData#runRealtimeReport"]
    rows: list[_Row] = Field(default_factory=list[_Row])
    row_count: int = Field(0, alias="rowCount")
    quota: object = Field(None, alias="propertyQuota")


class _Status(BaseModel):
    consumed: int = Field(0, ge=0, le=LARGEST)
    remaining: int = Field(0, ge=0, le=LARGEST)


class _Quotas(BaseModel):
    day: _Status | None = Field(None, alias="tokensPerDay")
    hour: _Status | None = Field(None, alias="tokensPerHour")
    project_hour: _Status | None = Field(None, alias="tokensPerProjectPerHour")
    server_errors: _Status | None = Field(None, alias="serverErrorsPerProjectPerHour")


def _read(content: bytes, dimensions: int) -> tuple[list[ReportRow], Quotas | None]:
    """Return the rows and quotas; a body with `kind` and no rows is a true zero (decision 21)."""
    try:
        body = _Body.model_validate_json(content)
        rows = [_row(one, dimensions) for one in body.rows]
    except ValueError:
        raise _not_a_report() from None
    if (body.row_count and not rows) or (not dimensions and len(rows) > 1):
        raise _not_a_report()
    return rows, _quotas(body.quota)


def _row(row: _Row, dimensions: int) -> ReportRow:
    figure = row.metrics[0].value
    is_count = figure.isascii() and figure.isdecimal() and int(figure) <= LARGEST
    if len(row.dimensions) != dimensions or not is_count:
        raise ValueError(dimensions)
    return ReportRow(row.dimensions[0].value if dimensions else "", int(figure))


def _quotas(value: object) -> Quotas | None:
    """Return the quotas, or None where they cannot be read: the rows beside them are right all the same."""
    try:
        found = _Quotas.model_validate(value)
    except ValidationError:
        return None
    return Quotas(**{name: QuotaState(one.consumed, one.remaining) for name, one in found if one})


class _Error(BaseModel):
    message: str = ""


class _Envelope(BaseModel):
    error: _Error


def _failure(answer: _HttpAnswer) -> AnalyticsFailed:
    message, what = _message(answer), f"The analytics provider answered {answer.status}"
    what += f": {message}" if message and answer.status != HTTPStatus.UNAUTHORIZED else "."
    return AnalyticsFailed(what, cause=_cause(answer.status, message), status=answer.status)


def _cause(status: int, message: str) -> Cause:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server"
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return _exhausted(message.lower())
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return "not-a-report"
    # Anything else comes from a part on the way; the next try may succeed.
    return _CAUSES.get(status, "unreachable")


_CAUSES: dict[int, Cause] = {
    HTTPStatus.BAD_REQUEST: "refused",
    HTTPStatus.UNAUTHORIZED: "unauthorized",
    HTTPStatus.FORBIDDEN: "forbidden",
}


def _exhausted(message: str) -> Cause:
    """Return which quota is gone; one that is not named is taken for an hourly one."""
    named: list[Cause] = [cause for words, cause in _QUOTAS.items() if words in message]
    return named[0] if named else "hour"


_QUOTAS: dict[str, Cause] = {"concurrent": "concurrent", "thresholded": "thresholded", "per day": "day"}


def _message(answer: _HttpAnswer) -> str:
    """Return the vendor's message on one line and cut short, or nothing when the body is not the vendor's."""
    try:
        message = _Envelope.model_validate_json(answer.body).error.message
    except ValidationError:
        return ""
    return "" if answer.token in message else one_line(message, LONGEST_MESSAGE)


def _not_a_report(status: int = HTTPStatus.OK) -> AnalyticsFailed:
    what = "The analytics provider's answer is not a report."
    return AnalyticsFailed(what, cause="not-a-report", status=status)


# Tokens


class _Key(BaseModel, strict=True):
    """The fields of a service account's key that Orrery uses."""

    type: Literal["service_account"]
    client_email: Annotated[str, Field(min_length=1)]
    private_key: Annotated[str, Field(min_length=1, repr=False)]
    token_uri: str


@dataclass(frozen=True, slots=True)
class _Mint:
    """A token on its way, or there; `begun` is the clock's monotonic time."""

    future: Future[str]
    begun: float

    def serves(self, rejected: str | None, now: float) -> bool:
        age = now - self.begun
        if not self.future.done():
            return age < MINT_SECONDS
        if self.future.exception():
            return False
        return age < TOKEN_SECONDS - RENEWAL_SECONDS and self.future.result() != rejected


class _Tokens:
    """Mints access tokens. Callers at the same time share one mint; a caller that gives up does not stop it."""

    def __init__(self, key_json: str | None, clock: Clock, trust: Trust) -> None:
        self._key_json = key_json
        self._trust = trust
        self._clock = clock
        self._last: _Mint | None = None

    async def token(self, rejected: str | None = None) -> str:
        """Return a token other than `rejected`, minted when no stored one is valid."""
        if self._last is None or not self._last.serves(rejected, self._clock.monotonic()):
            return await self.mint()
        return await asyncio.wrap_future(self._last.future)

    async def mint(self) -> str:
        mint = partial(_mint, self._key, self._clock.now(), self._trust)
        self._last = _Mint(_in_thread(mint), self._clock.monotonic())
        return await asyncio.wrap_future(self._last.future)

    @cached_property
    def _key(self) -> _Key:
        if not self._key_json:
            raise NotConfigured("The analytics provider's service-account key is missing.")
        try:
            key = _Key.model_validate_json(self._key_json)
        except ValidationError:
            raise NotConfigured(_NOT_A_KEY) from None
        if not _https_or_here(key.token_uri):
            raise NotConfigured(
                "The token_uri of the analytics key must begin with https:// (http:// only for this machine)."
            )
        return key


_NOT_A_KEY = "The analytics key is not the JSON key of a service account."


def _https_or_here(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    usable = {"https", "http"} if parts.hostname in THIS_MACHINE else {"https"}
    return bool(parts.hostname) and parts.scheme in usable


def _in_thread(call: Callable[[], str]) -> Future[str]:
    """Run a call in a separate thread, which keeps no process from ending; no waiting caller cancels it."""
    future: Future[str] = Future()
    _ = future.set_running_or_notify_cancel()
    threading.Thread(target=_settle, args=(future, call), name="analytics token", daemon=True).start()
    return future


def _settle(future: Future[str], call: Callable[[], str]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001  every waiting caller gets the error
        future.set_exception(error)


def _mint(key: _Key, now: datetime, trust: Trust) -> str:
    # With `requests` 15 MB and 60 ms, only when the counter is used.
    from google.auth.exceptions import GoogleAuthError, RefreshError  # noqa: PLC0415  see above
    from google.auth.transport.requests import Request  # noqa: PLC0415  the same

    with session(trust) as connection:
        try:
            return _minted(key, now, partial(Request(connection), timeout=SILENCE))
        except RefreshError as error:
            raise _refused_mint(error) from None
        except (GoogleAuthError, OSError, *_STUMBLES) as error:
            raise AnalyticsFailed(unreachable("The token endpoint", error), cause="unreachable") from None


_STUMBLES = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors that the library raises at some answers that are not a token endpoint's."""


def _minted(key: _Key, now: datetime, request: object) -> str:
    from google.oauth2.service_account import Credentials  # noqa: PLC0415  see `_mint`

    untyped: Any = Credentials
    issued = int(now.timestamp())
    claims = {"iat": issued, "exp": issued + TOKEN_SECONDS}
    try:
        signer = _signer(key.private_key)
    except (ValueError, TypeError):
        raise NotConfigured(_NOT_A_KEY) from None
    credentials = untyped(signer, key.client_email, key.token_uri, scopes=[SCOPE], additional_claims=claims)
    credentials.refresh(request)
    return str(credentials.token)


@lru_cache(maxsize=1)
def _signer(private_key: str) -> Any:  # noqa: ANN401  the library's is untyped
    """Return what signs with a key: the library checks the key for 50 ms, so it is read once."""
    from google.auth.crypt import RSASigner  # noqa: PLC0415  see `_mint`

    untyped: Any = RSASigner
    return untyped.from_string(private_key)


def _refused_mint(error: Any) -> AnalyticsFailed:  # noqa: ANN401  the library's `RefreshError` is untyped
    """Distinguish a refused key from an endpoint that does not work: only a refusal has an OAuth error."""
    details: object = error.args[1] if len(error.args) > 1 else None
    if isinstance(details, dict) and "error" in details and not error.retryable:
        what = "The analytics provider does not accept the service-account key."
        return AnalyticsFailed(what, cause="unauthorized")
    what = "The analytics provider cannot be reached (no token: the token endpoint does not work)."
    return AnalyticsFailed(what, cause="unreachable")

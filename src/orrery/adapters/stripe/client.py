"""Stripe, by its official library (decision 1).

The synchronous client runs in a thread, with no retries of its own and our deadline: retrying is the caller's
decision. The library is imported at the first call, so that a service that sells nothing does not carry it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from orrery.adapters.stripe.objects import AccountObject, ChargeObject, Endpoint, Item, Page, Session
from orrery.adapters.stripe.threads import Threads
from orrery.errors import NotConfigured, ProcessorRefused, ProcessorUnreachable
from orrery.ports.processor import Account, Charge, CheckoutSession, Parameters, WebhookEndpoint

if TYPE_CHECKING:
    import requests
    import stripe

API_VERSION = "2026-08-26.dahlia"
"""The pinned version; from 2026-09-30.endive on sessions no longer take payment_method_types (decision 1)."""

READ_DEADLINE = 20.0
"""Seconds that one reading call may take."""

SILENCE = 10.0
"""Seconds without a byte after which a thread gives a connection up, whoever still waits."""

THREADS = 16
"""Calls under way at once; each thread keeps its connection open for the next call."""

PAGE = 100
"""The largest page that the processor gives."""

Answer = TypeVar("Answer", bound=BaseModel)
Operation = Callable[["stripe.StripeClient"], object]


class StripeProcessor:
    """The processor port over Stripe's API. Without an `api_key` every call raises `NotConfigured`."""

    def __init__(self, api_key: str | None, *, base_url: str, api_version: str = API_VERSION) -> None:
        self._api_key = api_key
        self._base_url = base_url.rstrip("/")
        self._api_version = api_version
        # Threads of its own: a processor that hangs must not take those that others need.
        self._threads = Threads(THREADS, "processor")

    async def create_session(
        self, parameters: Parameters, *, idempotency_key: str, deadline: float, api_version: str | None = None
    ) -> CheckoutSession:
        """Create a hosted payment session: one call, no repeats."""
        options: Any = {"idempotency_key": idempotency_key, "stripe_version": api_version or self._api_version}
        body: Any = parameters
        created = await self._call(
            lambda client: client.v1.checkout.sessions.create(body, options), Session, deadline
        )
        return created.ours()

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return one session with its line items' prices."""
        found = await self._call(
            lambda client: client.v1.checkout.sessions.retrieve(session_id, {"expand": ["line_items"]}), Session
        )
        return found.ours()

    async def list_completed_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession]:
        """Yield every completed session created at or after `since`, newest first, with prices."""
        query: dict[str, Any] = {"status": "complete", "expand": ["data.line_items"], **_since(since)}
        async for item in self._pages(
            lambda client, asked: client.v1.checkout.sessions.list(asked), query, Page[Session]
        ):
            yield item.ours()

    async def list_charges(self, since: datetime) -> AsyncIterator[Charge]:
        """Yield every charge created at or after `since`, newest first."""
        async for item in self._pages(
            lambda client, asked: client.v1.charges.list(asked), _since(since), Page[ChargeObject]
        ):
            yield item.ours()

    async def get_account(self) -> Account:
        """Return the account that the key belongs to."""
        found = await self._call(lambda client: client.v1.accounts.retrieve_current(), AccountObject)
        return found.ours()

    async def list_webhook_endpoints(self) -> list[WebhookEndpoint]:
        """Return the account's webhook endpoints."""
        pages = self._pages(lambda client, asked: client.v1.webhook_endpoints.list(asked), {}, Page[Endpoint])
        return [item.ours() async for item in pages]

    async def _pages(
        self, fetch: Callable[[stripe.StripeClient, Any], object], query: dict[str, Any], kind: type[Page[Item]]
    ) -> AsyncIterator[Item]:
        after: dict[str, Any] = {}
        while True:
            asked = {**query, "limit": PAGE, **after}
            page = await self._call(lambda client, asked=asked: fetch(client, asked), kind)
            for item in page.data:
                yield item
            if not page.has_more or not page.data:
                return
            after = {"starting_after": page.data[-1].id}

    async def _call(self, operation: Operation, kind: type[Answer], deadline: float = READ_DEADLINE) -> Answer:
        if not self._api_key:
            raise NotConfigured("The processor has no API key.")
        try:
            async with asyncio.timeout(deadline):
                answer = await asyncio.wrap_future(self._threads.submit(partial(self._in_thread, operation)))
            return kind.model_validate_json(answer)
        except TimeoutError:
            raise ProcessorUnreachable(f"No answer within {deadline:.1f} s.", same_key=True) from None
        except ValidationError as error:
            wrong = f"The processor's answer is not its contract's ({error.error_count()} fields)."
            raise ProcessorUnreachable(wrong, same_key=True, status=200) from None

    @cached_property
    def _client(self) -> stripe.StripeClient:
        import stripe  # noqa: PLC0415  imported when first needed: it costs a tenth of a second and 6 MB

        return stripe.StripeClient(
            self._api_key or "",
            base_addresses={"api": self._base_url},
            stripe_version=self._api_version,
            max_network_retries=0,
            http_client=stripe.RequestsClient(timeout=SILENCE, session=_session()),
        )

    def _in_thread(self, operation: Operation) -> str:
        import stripe  # noqa: PLC0415  see `_client`

        try:
            # The library's objects print themselves as plain JSON, which our own models check.
            return str(operation(self._client))
        except stripe.StripeError as error:
            _raise_ours(error)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # The library itself stumbles over some answers that are not the processor's, such as a gateway's.
            what = f"The processor's answer can not be read ({type(error).__name__})."
            raise ProcessorUnreachable(what, same_key=True) from None


def _session() -> requests.Session:
    import requests  # noqa: PLC0415  see `_client`
    from requests.adapters import HTTPAdapter  # noqa: PLC0415  see `_client`

    session = requests.Session()
    session.mount("https://", HTTPAdapter(pool_maxsize=THREADS))
    # Without an `auth` of ours, an entry of the user's .netrc would take the place of the key.
    session.auth = _as_it_is
    return session


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _since(moment: datetime) -> dict[str, Any]:
    return {"created": {"gte": int(moment.timestamp())}}


def _raise_ours(error: stripe.StripeError) -> NoReturn:
    import stripe  # noqa: PLC0415  see `_client`

    status: int | None = error.http_status
    if isinstance(error, stripe.AuthenticationError):
        # The vendor's sentence holds a part of the key.
        raise ProcessorRefused("The processor does not accept the API key.", status=401) from None
    # `APIError` below 500 stands for an answer that is not the processor's: its message is the whole body.
    foreign = isinstance(error, stripe.APIError)
    if status is None or foreign or status in (200, 409, 429) or status >= _SERVER_ERROR:
        what = f"The processor answered {status}." if status else "The processor can not be reached."
        raise ProcessorUnreachable(
            what, same_key=status is None or status < _SERVER_ERROR, status=status
        ) from None
    refusal = error.error
    raise ProcessorRefused(
        error.user_message or "The processor refused the request.",
        status=status,
        kind=refusal.type if refusal else None,
        code=error.code,
        param=getattr(error, "param", None),
    ) from None


_SERVER_ERROR = 500

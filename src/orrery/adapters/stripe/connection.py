"""The connection to Stripe, by its official library (decision 1), which selling, reading and writing share.

The synchronous client runs in a thread, without retries and with our deadline: retrying is the caller's
decision. The library is imported at the first call, so that a service that sells nothing does not carry it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from orrery.adapters.stripe.objects import Identified, Item, Page
from orrery.adapters.stripe.objects import unreadable as misread
from orrery.adapters.stripe.threads import Threads
from orrery.errors import NotConfigured
from orrery.outside import Answer, NoAnswer, Outside, session
from orrery.ports.processor import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from orrery.syntax.lines import one_line
from orrery.tls import tls_trouble
from orrery.trust import WELL_KNOWN, Trust

if TYPE_CHECKING:
    import stripe

API_VERSION = "2026-08-26.dahlia"
"""The pinned version; from 2026-09-30.endive on sessions no longer take payment_method_types (decision 1)."""

READ_DEADLINE = 20.0
"""Seconds that a call without its own deadline may take."""

SILENCE = 10.0
"""Seconds without a byte after which a thread gives a connection up, also while callers still wait."""

THREADS = 16
"""Calls under way at once; each thread keeps its connection open for the next call."""

PAGE = 100
"""The largest page that the processor gives."""

_WHO = "The processor"
"""The processor's name in error messages."""

_LONGEST_TEXT = 500
"""Characters of the vendor's message that an error repeats."""

VendorObject = TypeVar("VendorObject", bound=BaseModel)
T = TypeVar("T")
Operation = Callable[["stripe.StripeClient"], object]


class StripeConnection:
    """Calls Stripe's API. Without an `api_key` every call raises `NotConfigured`."""

    def __init__(
        self, api_key: str | None, *, base_url: str, api_version: str = API_VERSION, trust: Trust = WELL_KNOWN
    ) -> None:
        self.api_version = api_version
        self._api_key = api_key
        self._base_url = base_url.rstrip("/")
        self._trust = trust
        # Separate threads: calls to a processor that hangs must not occupy the threads of other parts.
        self._threads = Threads(THREADS, "processor")

    @property
    def is_vendors_own(self) -> bool:
        return self._base_url == "https://api.stripe.com"

    async def call(
        self, operation: Operation, kind: type[VendorObject], deadline: float = READ_DEADLINE
    ) -> VendorObject:
        """Return the answer to an operation of the library; raise the errors of the port."""
        return _read(kind, await self.text(operation, deadline))

    async def text(self, operation: Operation, deadline: float = READ_DEADLINE) -> str:
        """Return the JSON answer to an operation of the library."""
        _ = self._require_key()
        try:
            async with asyncio.timeout(deadline):
                return await asyncio.wrap_future(self._threads.submit(partial(self._in_thread, operation)))
        except TimeoutError:
            raise _late(deadline) from None

    async def pages(
        self,
        fetch: Callable[[stripe.StripeClient, Any], object],
        query: Mapping[str, Any],
        kind: type[Page[Item]],
        to_value: Callable[[Item], T],
    ) -> AsyncIterator[T | ItemUnreadable]:
        """Yield each object of a list as the port's value, or why it cannot be read, page by page."""
        after: dict[str, Any] = {}
        while True:
            asked = {**query, "limit": PAGE, **after}
            page = await self.call(lambda client, asked=asked: fetch(client, asked), kind)
            for item in page.items():
                yield item if isinstance(item, ItemUnreadable) else to_value(item)
            if not page.has_more or not page.data:
                return
            after = {"starting_after": _last_id(page.items())}

    async def patch(self, path: str, form: Mapping[str, str], kind: type[VendorObject]) -> VendorObject:
        """Send a PATCH, which the library has not; a path that the processor does not know is a 404."""
        headers = {"Authorization": f"Bearer {self._require_key()}", "Stripe-Version": self.api_version}
        processor = Outside(_WHO, READ_DEADLINE, self._trust)
        try:
            answer = await processor.ask("PATCH", f"{self._base_url}{path}", data=dict(form), headers=headers)
        except NoAnswer as error:
            raise ProcessorUnreachable(str(error), same_key=True) from None
        return _read(kind, answer.text) if answer.is_success else _refuse(answer)

    def _require_key(self) -> str:
        if not self._api_key:
            raise NotConfigured("The processor has no API key.")
        return self._api_key

    @cached_property
    def _client(self) -> stripe.StripeClient:
        import stripe  # noqa: PLC0415  imported when first needed: it costs a tenth of a second and 6 MB

        return stripe.StripeClient(
            self._api_key or "",
            base_addresses={"api": self._base_url},
            stripe_version=self.api_version,
            max_network_retries=0,
            http_client=stripe.RequestsClient(timeout=SILENCE, session=session(self._trust, THREADS)),
        )

    def _in_thread(self, operation: Operation) -> str:
        import stripe  # noqa: PLC0415  see `_client`

        try:
            # The library's objects print themselves as plain JSON, which our own models check.
            return str(operation(self._client))
        except stripe.StripeError as error:
            _raise_ours(error)
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            # The library itself stumbles over some answers that are not the processor's, such as a gateway's.
            raise _odd("the client library stumbles over it") from None


def _last_id(items: Sequence[Identified | ItemUnreadable]) -> str:
    """Return where the next page begins. An object without a usable id may come again there, which is harmless."""
    ids = [one.item_id if isinstance(one, ItemUnreadable) else one.id for one in items]
    if known := [one for one in ids if one]:
        return known[-1]
    raise ProcessorUnreachable("The processor's list names no ids.", same_key=True, status=HTTPStatus.OK)


def created_since(time: datetime | None) -> dict[str, Any]:
    """Return the part of a list's query that leaves out older objects."""
    return {"created": {"gte": int(time.timestamp())}} if time else {}


def _read(kind: type[VendorObject], answer: str) -> VendorObject:
    try:
        return kind.model_validate_json(answer)
    except ValidationError as error:
        raise _misread(answer, error) from None


def _misread(answer: str, error: ValidationError) -> ProcessorUnreachable:
    try:
        found = misread(json.loads(answer), error)
    except (RecursionError, ValueError):
        return _odd("no JSON")
    return found if found.item_id else _odd(", ".join(found.fields) or "no object")


def _late(deadline: float) -> ProcessorUnreachable:
    return ProcessorUnreachable(f"No answer within {deadline:.1f} s.", same_key=True)


def _raise_ours(error: stripe.StripeError) -> NoReturn:
    import requests  # noqa: PLC0415  see `_client`
    import stripe  # noqa: PLC0415  see `_client`

    status: int | None = error.http_status
    if trouble := tls_trouble(_WHO, error):
        raise ProcessorUnreachable(trouble, same_key=True) from None
    if isinstance(error.__context__, requests.exceptions.ContentDecodingError):
        raise _odd("too long, or badly packed") from None
    if isinstance(error, stripe.AuthenticationError):
        raise _wrong_key() from None
    # `APIError` below 500 means an answer that is not the processor's: its message is the whole body.
    foreign = isinstance(error, stripe.APIError)
    if status is None or foreign or _is_trouble(status):
        raise _trouble(status) from None
    message = _line(error.user_message) or "The processor refused the request."
    raise ProcessorRefused(
        _without_key(message) if status == HTTPStatus.FORBIDDEN else message,
        status=status,
        kind=_kind(error.error),
        code=_line(error.code),
        param=_line(getattr(error, "param", None)),
    ) from None


def _kind(value: object) -> str | None:
    # The library promises a type; the answer of something between may have none.
    return _line(getattr(value, "type", None))


def _line(value: object) -> str | None:
    """Return the text of a refusal on one line, or None when it is no text: the library accepts any JSON there."""
    return one_line(value, _LONGEST_TEXT) if isinstance(value, str) else None


class _Error(BaseModel):
    message: str = "The processor refused the request."
    type: str | None = None
    code: str | None = None
    param: str | None = None


class _Refusal(BaseModel):
    error: _Error


def _refuse(answer: Answer) -> NoReturn:
    """Raise the port's error for an answer to our own request, as `_raise_ours` does for the library's."""
    status = answer.status_code
    if status == HTTPStatus.UNAUTHORIZED:
        raise _wrong_key()
    try:
        refusal = _Refusal.model_validate_json(answer.text).error
    except ValidationError:
        raise _trouble(status) from None
    if _is_trouble(status) or answer.is_redirect:
        raise _trouble(status)
    message = _line(refusal.message) or "The processor refused the request."
    raise ProcessorRefused(
        _without_key(message) if status == HTTPStatus.FORBIDDEN else message,
        status=status,
        kind=_line(refusal.type),
        code=_line(refusal.code),
        param=_line(refusal.param),
    )


def _wrong_key() -> ProcessorRefused:
    # The vendor's sentence holds a part of the key.
    return ProcessorRefused("The processor does not accept the API key.", status=HTTPStatus.UNAUTHORIZED)


def _without_key(message: str) -> str:
    """Return the sentence for a 403: the vendor's own contains a part of the key."""
    found = _PERMISSION.search(message)
    needed = f"it needs {found[0]}" if found else "a permission is missing"
    return f"The API key may not do this: {needed}. Give a restricted key that in the dashboard, under API keys."


def _is_trouble(status: int) -> bool:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return True
    return status in (HTTPStatus.OK, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS)


def _odd(what: str) -> ProcessorUnreachable:
    """Return the error for a successful answer that does not follow the contract."""
    return ProcessorUnreachable(
        f"The processor's answer cannot be read: it is not as documented ({what}).",
        same_key=True,
        status=HTTPStatus.OK,
    )


def _trouble(status: int | None) -> ProcessorUnreachable:
    if status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return _odd(f"status {status} without JSON")
    what = f"The processor answered {status}." if status else "The processor cannot be reached."
    return ProcessorUnreachable(
        what, same_key=status is None or status < HTTPStatus.INTERNAL_SERVER_ERROR, status=status
    )


_PERMISSION = re.compile(r"\brak_[a-z_]+_(?:read|write)\b")

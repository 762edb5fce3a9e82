"""Fault switches: what goes wrong next, how often and where. They live in memory and end with the process."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, cast

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from orrery.ports.clock import Clock

KINDS: dict[str, str] = {
    "latency": "The processor answers after `value` seconds (default 1).",
    "rate_limit": "The processor answers 429 before it looks at the request.",
    "server_error": "The processor fails with a 500, which it stores under the idempotency key.",
    "html_200": "Something in front of the processor answers 200 with HTML.",
    "html_502": "Something in front of the processor answers 502 with HTML.",
    "cut": "The connection is cut before the request is carried out.",
    "cut_after": "The request is carried out, then the connection is cut.",
    "lost_answer": "The request is carried out; the answer comes after `value` seconds, or never.",
    "no_permission": "The processor answers 403, as to a restricted key without the permission.",
    "patch_404": "The processor does not know the verb PATCH, as documented.",
    "unpaid": "The next payment is accepted and stays unpaid until it is settled.",
    "webhook_down": "The webhook endpoint cannot be reached.",
    "webhook_duplicate": "A webhook is delivered twice.",
    "webhook_reorder": "A webhook is delivered after the one that follows it.",
    "mail_451": "The mail server refuses for now.",
    "mail_550": "The mail server refuses permanently.",
    "mail_sender": "The mail server refuses the sender, which the owner can fix.",
    "mail_timeout": "The mail server takes the message and does not answer for `value` seconds (default 30).",
    "push_500": "The push server fails.",
    "push_403": "The push server forbids the topic.",
    "push_413": "The push server finds the message too large.",
    "push_429": "The push server limits the rate.",
    "push_timeout": "The push server does not answer.",
    "push_lost_answer": "The push server takes the message and does not answer.",
    "push_unreadable": "The push server forbids to read the topic, as to a token that may only write.",
    "tracker_500": "The issue tracker fails before it looks at the request.",
    "tracker_401": "The issue tracker does not accept the token.",
    "tracker_lost_answer": "The issue tracker carries a change out, then the connection is cut.",
    "analytics_401": "The analytics provider finds the token invalid.",
    "analytics_403": "The analytics provider forbids the property.",
    "analytics_429_concurrent": "The analytics provider answers that too many requests run at once.",
    "analytics_429_hour": "The analytics provider answers that the hour's tokens are gone.",
    "analytics_429_day": "The analytics provider answers that the day's tokens are gone.",
    "analytics_429_thresholded": "The analytics provider answers that the thresholded requests are gone.",
    "analytics_500": "The analytics provider fails with a 500, which counts among its server errors.",
    "analytics_html_404": "The analytics provider answers 404 with HTML, as to a wrong path.",
    "analytics_html_200": "Something in front of the analytics provider answers 200 with HTML.",
    "analytics_cut": "The connection is cut before the analytics provider carries out the request.",
    "analytics_timeout": "The report is made and charged; it comes after `value` seconds, or never.",
    "analytics_down": "The analytics provider and its token endpoint cut every connection until switched off.",
    "analytics_token_down": "The token endpoint of the analytics provider cuts the connection.",
    "cloud_401": "The cloud finds the token expired.",
    "cloud_403": "The cloud forbids the request.",
    "cloud_409": "The cloud answers that another operation is in progress.",
    "cloud_unregistered": "The cloud answers that the subscription has not registered the resource's provider.",
    "cloud_429": "The cloud limits the rate: try again after `value` seconds (default 1).",
    "cloud_500": "The cloud fails with a 500, and does nothing.",
    "cloud_cut": "The connection is cut before the cloud carries out the request.",
    "cloud_hang": "The cloud does not answer, and does nothing.",
    "cloud_html_200": "Something in front of the cloud answers 200 with HTML.",
    "cloud_html_502": "Something in front of the cloud answers 502 with HTML.",
    "cloud_empty": "The cloud answers 200 with nothing.",
    "cloud_odd": "The cloud's answer is JSON of another shape; `value` chooses one of several, from 0 on.",
    "cloud_lost_answer": "The cloud carries the request out; the answer comes after `value` seconds, or never.",
    "graph_401": "Microsoft Graph finds the token invalid.",
    "graph_403": "Microsoft Graph denies access.",
    "graph_429": "Microsoft Graph limits the rate: try again after `value` seconds (default 10).",
    "graph_503": "Microsoft Graph is unavailable, and does nothing.",
    "graph_cut": "The connection is cut before Microsoft Graph carries out the request.",
    "graph_hang": "Microsoft Graph does not answer, and does nothing.",
    "graph_html_200": "Something in front of Microsoft Graph answers 200 with HTML.",
    "graph_half": "Microsoft Graph carries the request out; half of the answer comes.",
    "graph_lost_answer": "Microsoft Graph carries it out; the answer comes after `value` seconds, or never.",
}
"""The effect of each kind.

`path` limits a webhook fault to event types, an analytics fault to dimensions, and others to paths:
`unifiedScreenName` strikes the analytics query for pages only, and `total` the one without a dimension. A fault of
the cloud is limited to operations: `PUT webhook`, or `job POST start` for what a job asks. One of Microsoft
Graph is limited to an account, to a call, or to a call of an account: `ann@corp.example GET /me/messages/{id}`.
"""

UNTIL_OFF = frozenset({"analytics_down"})
"""Kinds that strike until they are switched off, whatever count is given."""


@dataclass(slots=True)
class Fault:
    """One switch. `count` is how often it still strikes (None: until switched off).

    It lets `skip` requests pass before.
    `path` limits it to request paths, event types for webhooks, or dimensions for analytics, that start so;
    `value` is in seconds.
    """

    id: int
    kind: str
    count: int | None = 1
    path: str = ""
    value: float | None = None
    skip: int = 0


@dataclass
class Refusal(ValueError):
    """A vendor's refusal: the HTTP status, the body in the vendor's shape, and headers."""

    status: int
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return str(self.body["error"]["message"])

    def answer(self) -> Response:
        return JSONResponse(self.body, self.status, self.headers)


Refusals = Mapping[str, Callable[[Fault], Refusal]]
"""The refusals of a vendor, by the kinds of faults that ask for them."""


class Faults:
    """The switches that are on. Answers that come late come by `clock`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._numbers = itertools.count(1)
        self._active: list[Fault] = []

    def add(
        self, kind: str, *, count: int | None = 1, path: str = "", value: float | None = None, skip: int = 0
    ) -> Fault:
        """Switch a fault on; `ValueError` for an unknown kind or a figure out of range."""
        if kind not in KINDS:
            raise ValueError(f"Unknown fault {kind!r}: one of {', '.join(KINDS)}.")
        if (count is not None and count < 1) or (value is not None and value < 0) or skip < 0:
            raise ValueError("A fault's count is 1 or more, its value and its skip are 0 or more.")
        fault = Fault(next(self._numbers), kind, None if kind in UNTIL_OFF else count, path, value, skip)
        self._active.append(fault)
        return fault

    def take(self, kind: str, *paths: str) -> Fault | None:
        """Return the first fault of this kind for any of these paths, and use it up by one."""
        for fault in self._active:
            if fault.kind == kind and any(path.startswith(fault.path) for path in paths or ("",)):
                if fault.skip:
                    fault.skip -= 1
                    continue
                self._use(fault)
                return fault
        return None

    async def around(
        self,
        vendor: str,
        refusals: Refusals,
        carry_out: Callable[[], Coroutine[None, None, Response]],
        *paths: str,
        shown: Callable[[Refusal], Response] = Refusal.answer,
    ) -> Response:
        """Return a vendor's answer: what comes in its place, a refusal, or what was carried out, as it arrives.

        `paths` are the names by which faults are limited to this request; `shown` makes the answer of a refusal.
        """
        for kind, instead in INSTEAD.get(vendor, {}).items():
            if self.take(kind, *paths):
                return instead()
        try:
            self.refuse(refusals, *paths)
            answer = await carry_out()
        except Refusal as refusal:
            answer = shown(refusal)
        for kind, spoil in AFTER.get(vendor, {}).items():
            if (fault := self.take(kind, *paths)) is not None:
                answer = spoil(answer, fault, self._clock)
        return answer

    def refuse(self, refusals: Refusals, *paths: str) -> None:
        """Raise the first of these refusals, by kind, that a fault asks for."""
        for kind, refusal in refusals.items():
            if (fault := self.take(kind, *paths)) is not None:
                raise refusal(fault)

    def remove(self, kind: str | None = None) -> None:
        """Switch off one kind, or all."""
        self._active = [fault for fault in self._active if kind is not None and fault.kind != kind]

    def as_json(self) -> list[dict[str, object]]:
        """Return the switches that are on."""
        return [asdict(fault) for fault in self._active]

    def _use(self, fault: Fault) -> None:
        if fault.count is not None:
            fault.count -= 1
            if fault.count == 0:
                self._active.remove(fault)


class CutConnection(Response):
    """An answer that promises a body and ends without one, upon which the server closes the connection."""

    def __init__(self) -> None:
        super().__init__(status_code=0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's signature
        """Send the head only."""
        headers = [(b"content-type", b"application/json"), (b"content-length", b"4096")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})


class LateAnswer(Response):
    """An answer that comes after a wait, or not at all when the client hangs up before."""

    def __init__(self, answer: Response, wait: Callable[[], Awaitable[None]]) -> None:
        super().__init__(status_code=answer.status_code)
        self._answer = answer
        self._wait = wait

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait for the time or the client, whichever is first."""
        hung_up = asyncio.ensure_future(_disconnected(receive))
        due = asyncio.ensure_future(self._wait())
        _ = await asyncio.wait({hung_up, due}, return_when=asyncio.FIRST_COMPLETED)
        answer_now = due.done()
        for task in (hung_up, due):
            _ = task.cancel()
        if answer_now:
            await self._answer(scope, receive, send)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _never() -> None:
    _ = await asyncio.Event().wait()


def _hang() -> Response:
    return LateAnswer(Response(status_code=0), _never)


def _late(answer: Response, fault: Fault, clock: Clock) -> Response:
    """Return the answer to what was carried out after the fault's seconds, or never."""
    seconds = fault.value
    return LateAnswer(answer, _never if seconds is None else lambda: clock.sleep(seconds))


def _cut(_: Response, __: Fault, ___: Clock) -> Response:
    return CutConnection()


def _half(answer: Response, _: Fault, __: Clock) -> Response:
    body = bytes(answer.body)
    return Response(body[: len(body) // 2], answer.status_code, media_type="application/json")


def _leaves(found: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401  JSON of any shape
    if isinstance(found, dict):
        return {name: _leaves(value, change) for name, value in cast("dict[str, Any]", found).items()}
    if isinstance(found, list):
        return [_leaves(value, change) for value in cast("list[Any]", found)]
    return change(found)


SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda _: [],
    lambda _: {},
    lambda _: None,
    lambda _: "text",
    lambda found: _leaves(found, lambda _: None),
    lambda found: _leaves(found, lambda _: ["a list"]),
    lambda found: dict.fromkeys(found) | {"id": "/of/another", "value": [None]},
)
"""What becomes of an answer in another shape."""


def _reshaped(answer: Response, fault: Fault, _: Clock) -> Response:
    try:
        found = json.loads(bytes(answer.body))
    except ValueError:  # a script, or nothing
        found = {}
    shaped = json.dumps(SHAPES[int(fault.value or 0)](found))
    return Response(shaped, answer.status_code, media_type="application/json")


_PORTAL = "<!doctype html><title>Sign in to the network</title><p>Sign in to the network.</p>"
_HTML_200, _HTML_502 = partial(HTMLResponse, _PORTAL), partial(HTMLResponse, _PORTAL, 502)
INSTEAD: dict[str, dict[str, Callable[[], Response]]] = {
    "processor": {"cut": CutConnection, "html_200": _HTML_200, "html_502": _HTML_502},
    "push": {"push_timeout": _hang},
    "analytics": {
        "analytics_down": CutConnection,
        "analytics_cut": CutConnection,
        "analytics_html_404": partial(HTMLResponse, _PORTAL, 404),
        "analytics_html_200": _HTML_200,
    },
    "analytics token": {"analytics_down": CutConnection, "analytics_token_down": CutConnection},
    "cloud": {
        "cloud_cut": CutConnection,
        "cloud_hang": _hang,
        "cloud_empty": partial(Response, status_code=200),
        "cloud_html_200": _HTML_200,
        "cloud_html_502": _HTML_502,
    },
    "graph": {"graph_cut": CutConnection, "graph_hang": _hang, "graph_html_200": _HTML_200},
}
"""What comes in the place of a vendor's answer, by kind of fault."""

AFTER: dict[str, dict[str, Callable[[Response, Fault, Clock], Response]]] = {
    "processor": {"cut_after": _cut, "lost_answer": _late},
    "push": {"push_lost_answer": _late},
    "tracker writes": {"tracker_lost_answer": _cut},
    "analytics": {"analytics_timeout": _late},
    "cloud": {"cloud_odd": _reshaped, "cloud_lost_answer": _late},
    "graph": {"graph_half": _half, "graph_lost_answer": _late},
}
"""What becomes of the answer to a request that was carried out, by kind of fault."""

"""Fault switches: what goes wrong next, how often and where. They live in memory and end with the process."""

import itertools
from collections.abc import Callable, Collection, Coroutine, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse, Response

from orrery.ports.clock import Clock
from orrery.sandbox.spoilt_answers import (
    EMPTY,
    HTML_200,
    HTML_404,
    HTML_502,
    CutConnection,
    Spoil,
    cut,
    half,
    hang,
    late,
    reshaped,
)

UNTIL_OFF = frozenset({"analytics_down"})
"""Kinds that strike until they are switched off, whatever count is given."""


@dataclass(slots=True)
class Fault:
    """One switch. `count` is how often it still strikes (None: until switched off).

    It lets `skip` requests pass before that it would strike. `path` limits it to requests whose name starts so;
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
        self.clock = clock
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

    def request(self, of: str, *names: str) -> "FaultyRequest":
        """Return a request of a group (`Kind.of`) as what a fault may strike, by its names for `path`."""
        return FaultyRequest(self, of, names or ("",))

    def take(self, kinds: Collection[str], names: Collection[str]) -> Fault | None:
        """Return the fault of these kinds for these names that was switched on first, and use it up by one."""
        for fault in self._active:
            if fault.kind in kinds and any(name.startswith(fault.path) for name in names):
                if fault.skip:
                    fault.skip -= 1
                    continue
                self._use(fault)
                return fault
        return None

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


class FaultyRequest:
    """One request, which one fault strikes at most: before the operation, or after it was carried out."""

    def __init__(self, faults: Faults, of: str, names: Collection[str]) -> None:
        self._faults = faults
        self._of = of
        self._names = names
        self.is_struck = False

    def take(self, *kinds: str) -> Fault | None:
        """Return the fault of these kinds that strikes now, unless one has struck the request already."""
        if self.is_struck:
            return None
        fault = self._faults.take(kinds, self._names)
        self.is_struck = fault is not None
        return fault

    async def answer(
        self,
        refusals: Refusals,
        carry_out: Callable[[], Coroutine[None, None, Response]],
        shown: Callable[[Refusal], Response] = Refusal.answer,
    ) -> Response:
        """Return what arrives: something else, a refusal, or the answer to what was carried out, perhaps spoilt.

        `shown` makes the answer of a refusal.
        """
        instead, spoils = effects(self._of)
        fault = self.take(*instead, *refusals)
        if fault is not None and fault.kind in instead:
            return instead[fault.kind]()
        try:
            if fault is not None:
                raise refusals[fault.kind](fault)
            answer = await carry_out()
        except Refusal as refused:
            return shown(refused)
        if answer.status_code >= HTTPStatus.BAD_REQUEST or (fault := self.take(*spoils)) is None:
            return answer
        return spoils[fault.kind](answer, fault.value, self._faults.clock)


Instead = Callable[[], Response]


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault: which requests it strikes, and when.

    It strikes requests of the groups in `of`: before the operation, which is not carried out (`instead` is the
    answer then, or the stand-in does what `words` describe), or `after` it (`spoil` returns what arrives).
    """

    of: tuple[str, ...]
    words: str
    after: bool = False
    instead: Instead | None = None
    spoil: Spoil | None = None


def _before(of: str, words: str, instead: Instead | None = None) -> FaultKind:
    return FaultKind(tuple(of.split(", ")), words, instead=instead)


def _after(of: str, words: str, spoil: Spoil | None = None) -> FaultKind:
    return FaultKind(tuple(of.split(", ")), words, after=True, spoil=spoil)


KINDS: dict[str, FaultKind] = {
    "latency": _before("processor", "The processor answers after `value` seconds (default 1)."),
    "rate_limit": _before("processor", "The processor answers 429 before it looks at the request."),
    "server_error": _before(
        "processor", "The processor fails with a 500, which it stores under the idempotency key."
    ),
    "html_200": _before("processor", "Something in front of the processor answers 200 with HTML.", HTML_200),
    "html_502": _before("processor", "Something in front of the processor answers 502 with HTML.", HTML_502),
    "cut": _before("processor", "The connection is cut before the request is carried out.", CutConnection),
    "cut_after": _after("processor", "The request is carried out, then the connection is cut.", cut),
    "lost_answer": _after(
        "processor", "The request is carried out; the answer comes after `value` seconds, or never.", late
    ),
    "no_permission": _before(
        "processor", "The processor answers 403, as to a restricted key without the permission."
    ),
    "patch_404": _before("processor", "The processor does not know the verb PATCH, as documented."),
    "unpaid": _after("payment", "The next payment is accepted and stays unpaid until it is settled."),
    "webhook_down": _before("webhook", "The webhook endpoint cannot be reached."),
    "webhook_duplicate": _after("webhook", "A webhook is delivered twice."),
    "webhook_reorder": _before("webhook", "A webhook is delivered after the one that follows it."),
    "mail_451": _before("mail", "The mail server refuses for now."),
    "mail_550": _before("mail", "The mail server refuses permanently."),
    "mail_sender": _before("mail", "The mail server refuses the sender, which the owner can fix."),
    "mail_timeout": _after(
        "mail", "The mail server takes the message and does not answer for `value` seconds (default 30)."
    ),
    "push_500": _before("push", "The push server fails."),
    "push_403": _before("push", "The push server forbids the topic."),
    "push_413": _before("push", "The push server finds the message too large."),
    "push_429": _before("push", "The push server limits the rate."),
    "push_timeout": _before("push", "The push server does not answer.", hang),
    "push_lost_answer": _after("push", "The push server takes the message and does not answer.", late),
    "push_unreadable": _before(
        "push reads", "The push server forbids to read the topic, as to a token that may only write."
    ),
    "tracker_500": _before("tracker, tracker writes", "The issue tracker fails before it looks at the request."),
    "tracker_401": _before("tracker, tracker writes", "The issue tracker does not accept the token."),
    "tracker_lost_answer": _after(
        "tracker writes", "The issue tracker carries a change out, then the connection is cut.", cut
    ),
    "analytics_401": _before("analytics", "The analytics provider finds the token invalid."),
    "analytics_403": _before("analytics", "The analytics provider forbids the property."),
    "analytics_429_concurrent": _before(
        "analytics", "The analytics provider answers that too many requests run at once."
    ),
    "analytics_429_hour": _before("analytics", "The analytics provider answers that the hour's tokens are gone."),
    "analytics_429_day": _before("analytics", "The analytics provider answers that the day's tokens are gone."),
    "analytics_429_thresholded": _before(
        "analytics", "The analytics provider answers that the thresholded requests are gone."
    ),
    "analytics_500": _before(
        "analytics", "The analytics provider fails with a 500, which counts among its server errors."
    ),
    "analytics_html_404": _before(
        "analytics", "The analytics provider answers 404 with HTML, as to a wrong path.", HTML_404
    ),
    "analytics_html_200": _before(
        "analytics", "Something in front of the analytics provider answers 200 with HTML.", HTML_200
    ),
    "analytics_cut": _before(
        "analytics", "The connection is cut before the analytics provider carries out the request.", CutConnection
    ),
    "analytics_timeout": _after(
        "analytics", "The report is made and charged; it comes after `value` seconds, or never.", late
    ),
    "analytics_down": _before(
        "analytics, analytics token",
        "The analytics provider and its token endpoint cut every connection until switched off.",
        CutConnection,
    ),
    "analytics_token_down": _before(
        "analytics token", "The token endpoint of the analytics provider cuts the connection.", CutConnection
    ),
    "cloud_401": _before("cloud", "The cloud finds the token expired."),
    "cloud_403": _before("cloud, cloud job", "The cloud forbids the request."),
    "cloud_409": _before("cloud, cloud job", "The cloud answers that another operation is in progress."),
    "cloud_unregistered": _before(
        "cloud", "The cloud answers that the subscription has not registered the resource's provider."
    ),
    "cloud_429": _before(
        "cloud, cloud job", "The cloud limits the rate: try again after `value` seconds (default 1)."
    ),
    "cloud_500": _before("cloud, cloud job", "The cloud fails with a 500, and does nothing."),
    "cloud_cut": _before(
        "cloud, cloud call", "The connection is cut before the cloud carries out the request.", CutConnection
    ),
    "cloud_hang": _before("cloud, cloud call", "The cloud does not answer, and does nothing.", hang),
    "cloud_html_200": _before(
        "cloud, cloud call", "Something in front of the cloud answers 200 with HTML.", HTML_200
    ),
    "cloud_html_502": _before(
        "cloud, cloud call", "Something in front of the cloud answers 502 with HTML.", HTML_502
    ),
    "cloud_empty": _before("cloud, cloud call", "The cloud answers 200 with nothing.", EMPTY),
    "cloud_odd": _after(
        "cloud, cloud call",
        "The cloud's answer is JSON of another shape; `value` chooses one of several, from 0 on.",
        reshaped,
    ),
    "cloud_lost_answer": _after(
        "cloud, cloud call",
        "The cloud carries the request out; the answer comes after `value` seconds, or never.",
        late,
    ),
    "graph_401": _before("graph", "Microsoft Graph finds the token invalid."),
    "graph_403": _before("graph", "Microsoft Graph denies access."),
    "graph_429": _before(
        "graph", "Microsoft Graph limits the rate: try again after `value` seconds (default 10)."
    ),
    "graph_503": _before("graph", "Microsoft Graph is unavailable, and does nothing."),
    "graph_cut": _before(
        "graph", "The connection is cut before Microsoft Graph carries out the request.", CutConnection
    ),
    "graph_hang": _before("graph", "Microsoft Graph does not answer, and does nothing.", hang),
    "graph_html_200": _before("graph", "Something in front of Microsoft Graph answers 200 with HTML.", HTML_200),
    "graph_half": _after("graph", "Microsoft Graph carries the request out; half of the answer comes.", half),
    "graph_lost_answer": _after(
        "graph", "Microsoft Graph carries it out; the answer comes after `value` seconds, or never.", late
    ),
}
"""Each kind. One fault strikes a request: the first that was switched on, of those that are for it.

A fault *before* the operation strikes whatever is asked, and nothing is carried out; `latency` alone waits, and
lets it be. One *after* it strikes only what was carried out: a request that is refused does not use it up. Without
a `path` it strikes any request of its groups. It limits a webhook's fault to event types, one of analytics to
dimensions (`total` without one), one of the cloud to operations (`PUT webhook`, `job POST start` of a job), one of
Microsoft Graph to an account, a call, or a call of an account (`ann@corp.example GET /me/messages/{id}`), others
to paths. Each attempt to deliver a webhook is a request, and so are a mail's sender and its text.
"""


@cache
def effects(of: str) -> tuple[dict[str, Instead], dict[str, Spoil]]:
    """Return what comes in the place of an answer to such a request, and what spoils one, by kind of fault."""
    kinds = {name: kind for name, kind in KINDS.items() if of in kind.of}
    return (
        {name: kind.instead for name, kind in kinds.items() if kind.instead},
        {name: kind.spoil for name, kind in kinds.items() if kind.spoil},
    )

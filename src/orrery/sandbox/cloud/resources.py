"""The cloud's resources, what is due, the log of events; ids, times and errors of the resource manager."""

import json
import socket
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from orrery.ports.cloud.machine import Restart
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document, SandboxGround

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
TENANT = "00000000-0000-4000-8000-000000000002"
RESOURCE_GROUP = "gateway-sandbox"
MACHINE = "gateway"
LOCATION = "westeurope"
MACHINE_ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{RESOURCE_GROUP}"
    f"/providers/Microsoft.Compute/virtualMachines/{MACHINE}"
)

TOKEN_PATH = "/msi/token"  # noqa: S105  a path
"""Where a managed identity asks for a token, as on App Service (IDENTITY_ENDPOINT)."""

IDENTITY_HEADER = "sandbox-identity-header"
"""What it shows there: no real cloud knows it."""


@dataclass(frozen=True, slots=True)
class CloudConfig:
    """The configuration of the cloud.

    `listener` is the bound socket on which it is asked by https with `certificate`, a file of key and certificate.
    `restart` is what a job runs in the runbook's place. Delays are divided by `factor`, and drawn by `seed`. With
    `owner`, an e-mail address, everything that brings the machine back is there from the start; without it the
    cloud is empty but for the machine.
    """

    listener: socket.socket
    certificate: Path
    restart: Restart | None = None
    factor: float = 1.0
    seed: int = 0
    owner: str | None = None
    subscription: str = SUBSCRIPTION
    resource_group: str = RESOURCE_GROUP
    machine: str = MACHINE
    location: str = LOCATION

    @property
    def url(self) -> str:
        """Return the address of the management API."""
        return f"https://localhost:{self.listener.getsockname()[1]}"

    @property
    def group_id(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.resource_group}"

    @property
    def machine_id(self) -> str:
        return f"{self.group_id}/providers/Microsoft.Compute/virtualMachines/{self.machine}"


def arm_error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Refusal:
    """Return a refusal, as the resource manager words it."""
    return Refusal(status, {"error": {"code": code, "message": message}}, dict(headers or {}))


def bad_request(message: str, code: str = "BadRequest") -> Refusal:
    return arm_error(400, code, message)


def not_found(resource_id: str) -> Refusal:
    kind = "/".join(resource_id.rpartition("/providers/")[2].split("/")[:2])
    name = resource_id.rpartition("/")[2]
    return arm_error(404, "ResourceNotFound", f"The Resource '{kind}/{name}' was not found.")


def part(document: Document, name: str) -> Document:
    """Return an object inside of an object, empty when it is missing or null."""
    return document.get(name) or {}


def contains(scope: str, resource_id: str) -> bool:
    """Return whether a resource is the scope or below it; ids are compared as the vendor does."""
    wide, narrow = normal(scope), normal(resource_id)
    return narrow == wide or narrow.startswith(f"{wide}/")


def normal(resource_id: str) -> str:
    """Return an id as it is compared: without regard to capitals, to a slash at the end, and to a doubled one."""
    return "/" + resource_id.strip("/").lower()


def timestamp(seconds: float) -> str:
    return instant(seconds).isoformat(timespec="microseconds")


def instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def seconds_of(text: str) -> float:
    """Return a time as Unix seconds; `Refusal` for what is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise bad_request(f"'{text}' is no date and time.") from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


_RESOURCE, _DUE, _EVENT, _VALUE = "_cloud_resource", "_cloud_due", "_cloud_event", "_cloud_value"

DELAYS: dict[str, tuple[float, float]] = {
    "stop": (10, 20),
    "health": (30, 30),
    "alert": (60, 300),
    "job": (5, 10),
    "start": (60, 120),
}
"""Seconds, from and to, until a machine is off, its health changes, an alert fires, a job starts, a machine runs.

Spec 3, States and transitions; `stop` is made up, and shorter than `health`.
"""


@dataclass(frozen=True, slots=True)
class Moment:
    """When something happens: `at` by the clock (Unix time), and `after` true seconds since its `cause`."""

    at: float
    after: float
    cause: str


Handler = Callable[["Cloud", Moment, Document], None]


class Cloud:
    """Everything that the cloud knows. What is due happens when somebody looks, in order and at its own time."""

    def __init__(self, config: CloudConfig, ground: SandboxGround) -> None:
        self.config = config
        self.faults = ground.faults
        self.state = ground.state
        self._clock = ground.clock
        self.switch = ground.machine
        self.handlers: dict[str, Handler] = {}

    def now(self) -> Moment:
        """Return this moment, as part of what is going on: an outage, or else something new."""
        at = self._clock.now().timestamp()
        outage = self.value("outage")
        if outage.get("cause"):
            return Moment(at, (at - outage["at"]) * self.config.factor, outage["cause"])
        return Moment(at, 0.0, new_guid())

    def find(self, resource_id: str) -> Document | None:
        """Return a copy of what is stored of a resource, or None: its `body`, and what else is known of it."""
        return self.state.get(_RESOURCE, normal(resource_id))

    def require(self, resource_id: str) -> Document:
        found = self.find(resource_id)
        if found is None:
            raise not_found(resource_id)
        return found

    def put(self, resource: Document) -> Document:
        """Store a resource under the id in its body."""
        stored = resource | {"object": _RESOURCE, "id": normal(resource["body"]["id"])}
        self.state.save(stored)
        return stored

    def stored(
        self, resource_id: str, kind: str, given: Document, properties: Document, **more: object
    ) -> tuple[int, Document]:
        """Create a resource of a PUT, or replace it; return the status and the body. `more` is known besides."""
        body = {
            "id": resource_id,
            "name": resource_id.rpartition("/")[2],
            "type": kind,
            "location": given.get("location", self.config.location),
            "tags": part(given, "tags"),
            **({"identity": given["identity"]} if given.get("identity") else {}),
            "properties": properties,
        }
        return 200 if self.find(resource_id) else 201, self.put({"body": body, **more})["body"]

    def remove(self, resource_id: str) -> bool:
        """Remove a resource with all below it; return whether it was there."""
        there = self.find(resource_id) is not None
        for one in list(self.below(resource_id)):
            self.state.remove(_RESOURCE, one["id"])
        return there

    def below(self, scope: str, kind: str = "") -> Iterator[Document]:
        """Yield the resources in a scope, oldest first, of a type if one is given."""
        for one in reversed(list(self.state.newest_first(_RESOURCE))):
            if contains(scope, one["body"]["id"]) and one["body"]["type"].lower().startswith(kind.lower()):
                yield json.loads(json.dumps(one))

    def value(self, name: str) -> Document:
        """Return an internal note, empty when it is missing."""
        found = self.state.get(_VALUE, name) or {}
        return {key: value for key, value in found.items() if key not in ("object", "id")}

    def set_value(self, name: str, **value: object) -> None:
        self.state.save(value | {"object": _VALUE, "id": name})

    def record(self, kind: str, moment: Moment, **details: object) -> None:
        """Write one event to the log."""
        event = {"kind": kind, "at": moment.at, "after": round(moment.after, 3), "cause": moment.cause}
        self.state.save({"object": _EVENT, "id": self._number(), **event, "details": details})

    def events(self) -> list[Document]:
        """Return the log, oldest first."""
        found = reversed(list(self.state.newest_first(_EVENT)))
        return [{key: value for key, value in one.items() if key not in ("object", "id")} for one in found]

    def later(self, delay: str | float, moment: Moment, kind: str, **data: object) -> None:
        """Let `kind` happen some true seconds after a moment, or after the delay of that name."""
        number = self._number()
        seconds = self._drawn(delay, number) if isinstance(delay, str) else delay
        due = {
            "at": moment.at + seconds / self.config.factor,
            "after": moment.after + seconds,
            "cause": moment.cause,
        }
        self.state.save({"object": _DUE, "id": number, "kind": kind, "data": data, **due})

    def waiting(self) -> list[Document]:
        """Return what is going to happen, in its order."""
        return sorted(self.state.newest_first(_DUE), key=lambda one: (one["at"], one["id"]))

    def catch_up(self) -> None:
        """Let everything happen that is due, each at its own time."""
        now = self._clock.now().timestamp()
        while (due := self.waiting()) and due[0]["at"] <= now:
            first = due[0]
            self.state.remove(_DUE, first["id"])
            self.handlers[first["kind"]](self, Moment(first["at"], first["after"], first["cause"]), first["data"])

    def _drawn(self, delay: str, number: str) -> float:
        planned = self.value("delays")
        match planned.get(delay):
            case [first, *rest]:
                if rest:
                    self.set_value("delays", **planned | {delay: rest})
                return float(first)
            case _:
                chance = Random(f"{self.config.seed} {delay} {number}")  # noqa: S311  a delay, no secret
                return chance.uniform(*DELAYS[delay])

    def _number(self) -> str:
        number = self.value("number").get("last", 0) + 1
        self.set_value("number", last=number)
        return f"{number:09}"


def new_guid() -> str:
    return str(uuid.uuid4())

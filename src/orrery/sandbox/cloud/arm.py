"""The resource manager's way of speaking: errors, resource ids, times."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

from orrery.sandbox.state import Document


@dataclass
class ArmError(ValueError):
    """A refusal, as the resource manager words it."""

    status: int
    code: str
    message: str
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return self.message

    def body(self) -> Document:
        return {"error": {"code": self.code, "message": self.message}}


def bad_request(message: str, code: str = "BadRequest") -> ArmError:
    return ArmError(400, code, message)


def not_found(resource_id: str) -> ArmError:
    kind = "/".join(resource_id.rpartition("/providers/")[2].split("/")[:2])
    name = resource_id.rpartition("/")[2]
    return ArmError(404, "ResourceNotFound", f"The Resource '{kind}/{name}' was not found.")


def part(document: Document, name: str) -> Document:
    """Return an object inside of an object, empty when it is missing or null."""
    return document.get(name) or {}


def contains(scope: str, resource_id: str) -> bool:
    """Return whether a resource is the scope or stands below it; ids are compared as the vendor does."""
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
    """Return a time as Unix seconds; `ArmError` for what is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise bad_request(f"'{text}' is no date and time.") from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()

"""The base classes of all stored values, with which a release can be rolled back (decision 45).

Older and newer releases than the one that wrote a record read it. A field that a release does not know comes from
the store and is written back; code never makes one. Within one version `v` only optional fields are added, whose
absence means what it always meant. A new value, type or meaning raises `v`.

Each text of a record is marked: `Personal`, or one of the impersonal kinds. The export of personal data, their
erasure and what a `repr` hides follow from the mark; a test refuses a text without one.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Annotated, Any, Literal, Self, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, PrivateAttr


class Personal:
    """The mark of what may name a person, or is about one."""


class Impersonal:
    """The mark of a text that names no person, by the way in which it is made."""


PersonalText = Annotated[str, Personal]

Id = Annotated[str, Impersonal]
"""What a program made to tell things apart: an id, a key, a digest, a signature."""

Code = Annotated[str, Impersonal]
"""A word that a vendor, the owner's settings or Orrery has for a thing or a state."""

Sentence = Annotated[str, Impersonal]
"""A text in Orrery's words, or a reason of the owner's, which may hold no address (`checked_reason`)."""


class RecordPart(BaseModel):
    """A frozen value within a record: it is stored as JSON and keeps the fields that this release does not know.

    Those fields may name a person, as the marked ones do: no `repr`, and so no log, shows either, and an erasure
    drops them.
    """

    # Names come again in the next record, ids, times and addresses do not: looking those up took a quarter.
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True, cache_strings="keys")

    def __new__(cls, **fields: object) -> Self:
        """Refuse names that are no fields: with `extra="allow"` a mistyped name would be stored.

        Only calls from code come with fields; what is read from the store is filled in by pydantic.
        """
        if fields:
            _refuse_unknown(cls, fields)
        return super().__new__(cls)

    @classmethod
    def from_bytes(cls, value: bytes) -> Self:
        """Return the record in stored bytes; raise pydantic's `ValidationError`."""
        return cls.model_validate_json(value)

    def to_bytes(self) -> bytes:
        """Return the JSON that is stored, with the fields that this release does not know."""
        return self.model_dump_json().encode()

    def change(self, **fields: object) -> Self:
        """Return a copy with other values, which are not validated; `TypeError` for what is no field."""
        _refuse_unknown(type(self), fields)
        return self.model_copy(update=fields)

    def without_unknown_fields(self) -> Self:
        """Return a copy without unknown fields: an erasure cannot know which of them are personal."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields})

    def without_person(self) -> Self:
        """Return a copy without the marked fields and the unknown ones: each is its default, or empty."""
        return self.without_unknown_fields().change(
            **{name: _blank(type(self), name) for name in personal_fields(type(self))}
        )

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        shown = type(self).model_fields.keys() - personal_fields(type(self))
        return [pair for pair in super().__repr_args__() if pair[0] in shown]


class Record(RecordPart):
    """What is stored under one key, or in one file, with the version of its meaning."""

    v: Literal[1] = 1


@cache
def personal_fields(kind: type[BaseModel]) -> frozenset[str]:
    """Return the fields of a record in which there is a mark `Personal`, at any depth."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name in kind.model_fields if Personal in _parts(hints[name]))


def _parts(annotation: object) -> Iterator[object]:
    """Yield an annotation and everything in it: types, marks, and the fields of records inside."""
    yield annotation
    for inner in get_args(annotation):
        yield from _parts(inner)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and personal_fields(annotation):
        yield Personal


def _blank(kind: type[BaseModel], name: str) -> object:
    """Return the value of a field that holds nothing."""
    field = kind.model_fields[name]
    if not field.is_required():
        return field.get_default(call_default_factory=True)
    return None if type(None) in get_args(field.annotation) else ""


class Sealed(Record):
    """A record that is signed or chained: it is checked over its stored bytes, and never written again.

    A release that gave it another field would else reckon another digest than the one that was signed.
    """

    _stored: bytes = PrivateAttr(b"")

    @classmethod
    def from_bytes(cls, value: bytes) -> Self:
        """Return the record, which remembers the bytes that it came from."""
        read = super().from_bytes(value)
        read._stored = value  # noqa: SLF001  an instance of this class
        return read

    def to_bytes(self) -> bytes:
        """Return the bytes that it came from, or the JSON of a new one."""
        return self._stored or super().to_bytes()

    def change(self, **fields: object) -> Self:
        """Return a new one with other values, not yet stored."""
        changed = super().change(**fields)
        changed._stored = b""  # noqa: SLF001  an instance of this class
        return changed

    def sha256(self, *, without: frozenset[str]) -> str:
        """Return the SHA-256 of its JSON, keys in order and without some, in hexadecimal digits."""
        content = {name: value for name, value in json.loads(self.to_bytes()).items() if name not in without}
        return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sealed)
            and type(other) is type(self)
            and json.loads(self.to_bytes()) == json.loads(other.to_bytes())
        )

    def __hash__(self) -> int:
        return hash(self.sha256(without=frozenset()))


def _refuse_unknown(kind: type[BaseModel], fields: dict[str, object]) -> None:
    known = kind.__pydantic_fields__.keys()
    if not fields.keys() <= known:
        raise TypeError(f"{kind.__name__} has no field {', '.join(sorted(fields.keys() - known))}.")

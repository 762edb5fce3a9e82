"""The sandbox's own description of the requests agrees with the published contract, name by name."""

import pytest

from orrery.sandbox.processor.api import OPERATIONS
from orrery.sandbox.processor.call import ApiOperation
from orrery.sandbox.processor.parameters import (
    Choice,
    Flag,
    Kind,
    Labels,
    Many,
    NotAllowed,
    Shape,
    Text,
    Whole,
)
from tests.sandbox.contract import EXCEPTIONS, Schema, document, needs_contract, query_schema, request_schema

pytestmark = needs_contract
WITH_BODY = [one for one in OPERATIONS if one.method == "POST"]
WITH_QUERY = [one for one in OPERATIONS if one.method == "GET"]
MARKED = {"PATCH /v1/account"}


def disagreements(kind: Kind, published: Schema, name: str) -> list[str]:  # noqa: PLR0911 - one return a kind
    """Return where the description and the contract differ, as sentences."""
    published = simplest(published, kind)
    match kind:
        case NotAllowed():
            return []
        case Shape():
            return differing_fields(kind, published, name)
        case Many():
            wrong = differing_type(published, "array", name)
            return wrong or disagreements(kind.item, published["items"], f"{name}[]")
        case Labels():
            return [] if "additionalProperties" in published else [f"{name} has no free names"]
        case Choice():
            return differing_values(kind, published, name)
        case Text():
            return differing_text(kind, published, name)
        case Whole():
            return differing_type(published, "integer", name)
        case Flag():
            return differing_type(published, "boolean", name)


def simplest(published: Schema, kind: Kind) -> Schema:
    """Return the alternative of an `anyOf` that is not the empty string: a map for a map, else the first."""
    while "anyOf" in published:
        choices = [one for one in published["anyOf"] if one.get("enum") != [""]]
        maps = [one for one in choices if one.get("type") == "object"]
        published = maps[0] if maps and isinstance(kind, Shape | Labels) else choices[0]
    return published


def differing_type(published: Schema, wanted: str, name: str) -> list[str]:
    """Compare the type."""
    return [] if published.get("type") == wanted else [f"{name} is {published}, not {wanted}"]


def differing_text(kind: Text, published: Schema, name: str) -> list[str]:
    """Compare a string: its type, its limit where one is published, and that it has no list of values."""
    wrong = differing_type(published, "string", name)
    limit = published.get("maxLength")
    if limit is not None and limit != kind.limit:
        wrong.append(f"{name} has at most {limit} characters, not {kind.limit}")
    if "enum" in published and name.removesuffix("[]") not in EXCEPTIONS:
        wrong.append(f"{name} has a list of values")
    return wrong


def differing_values(kind: Choice, published: Schema, name: str) -> list[str]:
    """Compare a set of values; those beyond the contract must be marked exceptions."""
    unmarked = set(kind.beyond) - set(EXCEPTIONS)
    difference = (set(kind.values) ^ set(published.get("enum", ()))) | unmarked
    return [f"{name}: {sorted(difference)}"] if difference else []


def differing_fields(kind: Shape, published: Schema, name: str) -> list[str]:
    """Compare a map: its names, of which there may be fewer, what it requires at least, and each below."""
    fields = published.get("properties", {})
    wrong = [f"{name}[{key}] is not published" for key in set(kind.fields) - set(fields)]
    required = frozenset[str](published.get("required", ()))
    if not kind.required >= required:
        wrong.append(f"{name} requires {sorted(required)}, not {sorted(kind.required)}")
    for key in set(fields) & set(kind.fields):
        wrong += disagreements(kind.fields[key], fields[key], f"{name}[{key}]" if name else key)
    return wrong


@pytest.mark.parametrize("operation", WITH_BODY, ids=lambda one: f"{one.method} {one.path}")
def test_bodies(operation: ApiOperation) -> None:
    """Names, types, values, limits and required parameters of the body are the contract's."""
    assert disagreements(operation.parameters, request_schema(operation.path), "") == []


@pytest.mark.parametrize("operation", WITH_QUERY, ids=lambda one: f"{one.method} {one.path}")
def test_queries(operation: ApiOperation) -> None:
    """Names, types, values and required parameters of the query are the contract's."""
    assert disagreements(operation.parameters, query_schema(operation.path), "") == []


def test_every_operation_is_published() -> None:
    """The sandbox has no operation beyond the contract but the marked one."""
    published = {f"{method.upper()} {path}" for path, methods in document()["paths"].items() for method in methods}
    assert {f"{one.method} {one.path}" for one in OPERATIONS} - published == MARKED
    assert set(EXCEPTIONS) >= MARKED


def test_the_comparison_sees_a_difference() -> None:
    """A name too many, another type, a missing value and another limit are each seen."""
    kind = Shape({"a": Text(5), "b": Whole(), "c": Choice(("x",)), "d": Flag()}, frozenset({"a"}))
    properties = {
        "a": {"type": "string", "maxLength": 6},
        "b": {"type": "string"},
        "c": {"type": "string", "enum": ["x", "y"]},
    }
    assert len(disagreements(kind, {"type": "object", "properties": properties}, "")) == 4

"""The sandbox's own description of the requests agrees with the published contract, name by name."""

from collections.abc import Iterator

import pytest

from orrery.sandbox.operations import Operation
from orrery.sandbox.processor.api import OPERATIONS
from orrery.sandbox.processor.call import ApiRun
from orrery.sandbox.processor.parameters import Kind, Shape, choice
from orrery.sandbox.processor.world import VERSIONS
from tests.sandbox.contract import EXCEPTIONS, Schema, document, needs_contract, query_schema, request_schema

pytestmark = needs_contract
MARKED = {"PATCH /v1/account"}
ENDIVE = "2026-09-30.endive"
"""Newer than the contract: the version that the product must not be given (decision 1)."""


def differences(kind: Kind, published: Schema, name: str) -> Iterator[str]:
    """Yield where the description has a name, a shape or a requirement that the contract has not."""
    while "anyOf" in published:
        choices = [one for one in published["anyOf"] if one.get("enum") != [""]]
        maps = [one for one in choices if one.get("type") == "object"]
        published = maps[0] if maps and isinstance(kind, Shape) else choices[0]
    wanted = "object" if isinstance(kind, Shape) else None if callable(kind) else "array"
    if wanted not in {None, published.get("type")}:
        yield f"{name} is {published.get('type')}, not {wanted}"
        return
    match kind:
        case [item]:
            yield from differences(item, published["items"], f"{name}[]")
        case Shape(refused=""):
            fields = published.get("properties", {})
            if not kind.required >= {*published.get("required", ())}:
                yield f"{name} requires {published['required']}"
            yield from (f"{name}[{key}] is not published" for key in kind.fields.keys() - fields.keys())
            for key in kind.fields.keys() & fields.keys():
                yield from differences(kind.fields[key], fields[key], f"{name}[{key}]")
        case _:
            pass


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.call)
def test_what_is_taken_is_published(operation: Operation[ApiRun]) -> None:
    """Each operation but the marked one, with the names, lists, maps and requirements of its body or query."""
    assert (operation.method.lower() in document()["paths"].get(operation.path, {})) == (
        operation.call not in MARKED
    )
    schemas = {"POST": request_schema, "GET": query_schema}
    if (schema := schemas.get(operation.method)) is not None:
        assert [*differences(operation.run.parameters, schema(operation.path), "")] == []


def test_a_difference_is_seen() -> None:
    """A name too many, another type and a requirement that lacks are each seen."""
    kind = Shape({"a": choice("x"), "b": [choice("x")], "c": Shape({"d": choice("x")})})
    below: Schema = {"type": "object", "required": ["e"], "properties": {"d": {"type": "string"}}}
    properties: Schema = {"b": {"type": "string"}, "c": below}
    assert len([*differences(kind, {"type": "object", "properties": properties}, "")]) == 3


def test_the_versions_that_there_are() -> None:
    """All named versions that the vendor publishes are known, and one that came after them."""
    published: list[str] = request_schema("/v1/webhook_endpoints")["properties"]["api_version"]["enum"]
    assert {one for one in published if "." in one} == VERSIONS - {ENDIVE}
    assert set(EXCEPTIONS) >= MARKED

"""Microsoft Graph's published description, made into strict validators; absent outside a full checkout."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, cast

import httpx2
import jsonschema
import pytest

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "contracts"
DESCRIPTION, PERMISSIONS = FOLDER / "mail.openapi.json", FOLDER / "mail.permissions.json"

needs_contract = pytest.mark.skipif(
    not DESCRIPTION.exists(), reason=f"the vendor's contract is not here: {FOLDER}"
)

EXCEPTIONS = {
    "microsoft.graph.user": ("id", "proxyAddresses"),
    "microsoft.graph.conversationMember": ("userId", "email", "tenantId"),
    "microsoft.graph.identity": ("userIdentityType",),
    "microsoft.graph.message": ("singleValueExtendedProperties",),
}
"""Fields of derived types, which the description leaves out."""

NULLABLE = {"microsoft.graph.chat": ("lastMessagePreview",)}
"""What is null by the vendor's documentation, and not by its description: here a chat without messages."""

Schema = dict[str, Any]


def check_answer(answer: httpx2.Response) -> str:
    """Fail unless an answer is as described, with no field beyond; return the operation."""
    method, path = answer.request.method.lower(), answer.request.url.path.removeprefix("/v1.0")
    for template, operations in _document()["paths"].items():
        if method in operations and re.fullmatch(re.sub(r"\{[\w-]+\}", "[^/]+", template), path):
            answers = operations[method]["responses"]
            described = answers[str(answer.status_code) if answer.is_success else "4XX"]
            _check(described["content"]["application/json"]["schema"], answer.json())
            return f"{method.upper()} {template}"
    raise AssertionError(f"{method} {path} is not described")


def operations() -> set[str]:
    """Return all operations that are described."""
    paths: Schema = _document()["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


@cache
def _document() -> Schema:
    return json.loads(DESCRIPTION.read_text(encoding="utf-8"))


@cache
def _components() -> Schema:
    """Return the schemas twice: closed, and open for those that are part of another."""
    schemas: Schema = _document()["components"]["schemas"]
    for name, fields in EXCEPTIONS.items():
        described: Schema = schemas[name]
        part = described["allOf"][-1] if "allOf" in described else described
        part["properties"] |= {field: {} for field in fields}
    for name, fields in NULLABLE.items():
        for field in fields:
            schemas[name]["allOf"][-1]["properties"][field]["nullable"] = True
    closed = {name: _closed(one) for name, one in schemas.items()}
    return {"schemas": closed, "open": {name: _inside(one) for name, one in schemas.items()}}


def _closed(schema: Schema) -> Schema:
    """Return the schema as JSON Schema: nullable spelt out, fields beyond the named ones refused."""
    inside = _inside(schema)
    if {"properties", "allOf"} & inside.keys():
        inside |= cast("Schema", {"patternProperties": {"^@": {}}, "unevaluatedProperties": False})
    return {"anyOf": [inside, {"type": "null"}]} if schema.get("nullable") is True else inside


def _inside(schema: Schema) -> Schema:
    found: Schema = {key: value for key, value in schema.items() if key != "nullable"}
    if "properties" in found:
        found["properties"] = {name: _closed(one) for name, one in found["properties"].items()}
    if "items" in found:
        found["items"] = _closed(found["items"])
    if "allOf" in found:
        found["allOf"] = [_open(_inside(one)) for one in cast("list[Schema]", found["allOf"])]
    return found


def _open(schema: Schema) -> Schema:
    return {"$ref": schema["$ref"].replace("/schemas/", "/open/")} if "$ref" in schema else schema


def _check(schema: Schema, answer: object) -> None:
    validator = jsonschema.Draft202012Validator(_closed(schema) | {"components": _components()})
    found = validator.iter_errors(cast("Any", answer))  # pyright: ignore[reportUnknownMemberType]  its stub is partial
    assert [f"{error.json_path}: {error.message}"[:400] for error in found] == []

"""The processor's published contract, made into strict validators; absent outside a full checkout."""

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest

PATH = Path(__file__).resolve().parents[3] / "shared" / "contracts" / "processor.openapi.json"

needs_contract = pytest.mark.skipif(not PATH.exists(), reason=f"the vendor's contract is not here: {PATH.name}")

EXCEPTIONS = {
    "any_3ds_required": "spec 1 permits this value of request_three_d_secure; the vendor publishes three others",
    "PATCH /v1/account": "spec 1 has it for branding; the vendor publishes no such verb (decision 17)",
    "enabled_events": "any well-formed event type is taken: the vendor's list has 267 and grows monthly",
    "api_version": "named versions are known, and one newer than the contract; the vendor takes older ones",
}
"""Where the sandbox goes beyond the contract, and why."""

Schema = dict[str, Any]


@cache
def document() -> Schema:
    """Return the contract."""
    return json.loads(PATH.read_text(encoding="utf-8"))


def request_schema(path: str) -> Schema:
    """Return the schema of the form body of POST `path`."""
    body = document()["paths"][path]["post"]["requestBody"]
    return body["content"]["application/x-www-form-urlencoded"]["schema"]


def query_schema(path: str) -> Schema:
    """Return the schema of the query of GET `path`, as if it were one object."""
    queries = [one for one in document()["paths"][path]["get"]["parameters"] if one["in"] == "query"]
    required = [one["name"] for one in queries if one.get("required")]
    return {"type": "object", "properties": {one["name"]: one["schema"] for one in queries}, "required": required}


def check_answer(method: str, path: str, answer: object) -> None:
    """Fail unless the answer is as the contract has this operation, with no field beyond."""
    answers = document()["paths"][path][method.lower()]["responses"]
    check(answers["200"]["content"]["application/json"]["schema"], answer)


def check_object(name: str, answer: object) -> None:
    """Fail unless the answer is an object of that schema."""
    check({"$ref": f"#/components/schemas/{name}"}, answer)


def check(schema: Schema, answer: object) -> None:
    """Fail unless the answer fits the schema, strictly."""
    validator = jsonschema.Draft202012Validator(_strict(schema) | {"components": _components()})
    found = validator.iter_errors(cast("Any", answer))  # pyright: ignore[reportUnknownMemberType] - its stub is partial
    assert [f"{error.json_path}: {error.message}"[:500] for error in found] == []


@cache
def _components() -> Schema:
    schemas = document()["components"]["schemas"]
    return {"schemas": {name: _strict(schema) for name, schema in schemas.items()}}


def _strict(schema: Schema) -> Schema:
    """Return the OpenAPI 3.0 schema as JSON Schema: nullable spelt out, fields beyond the named ones refused."""
    strict: Schema = {key: _strict_inside(value) for key, value in schema.items() if key != "nullable"}
    named: object = strict.get("properties")
    if isinstance(named, dict) and set(cast("Schema", named)) - {"id"}:
        strict.setdefault("additionalProperties", False)
    return {"anyOf": [strict, {"type": "null"}]} if schema.get("nullable") is True else strict


def _strict_inside(value: object) -> object:
    if isinstance(value, list):
        return [_strict_inside(one) for one in cast("list[object]", value)]
    return _strict(cast("Schema", value)) if isinstance(value, dict) else value

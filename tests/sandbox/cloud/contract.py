"""The cloud's published descriptions, made into strict validators; absent outside a full checkout."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import jsonschema
import pytest

from tests.sandbox.cloud.official import Exchange

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "contracts" / "cloud"

needs_contract = pytest.mark.skipif(not FOLDER.exists(), reason=f"the vendor's contracts are not here: {FOLDER}")

EXCEPTIONS: dict[str, dict[str, object]] = {
    "RunbookProperties": {"runtimeEnvironment": {"type": "string"}, "runbookType": {"type": "string"}},
    "AutomationAccount": {"identity": {"type": "object"}},
    "RoleAssignmentPropertiesWithScope": {
        name: {"type": "string"} for name in ("principalType", "createdOn", "updatedOn")
    },
    "JobProperties": {"exception": {"type": ["string", "null"]}},
    "JobCollectionItemProperties": {"startedBy": {"type": "string"}},
}
"""What today's versions have and the older descriptions do not: the official libraries read it."""

Schema = dict[str, Any]


def check_answer(exchange: Exchange) -> bool:
    """Fail unless an answer is as described; return whether there is one."""
    found = _described(exchange)
    if found is None:
        return False
    document, operation = found
    answers = operation["responses"]
    assert str(exchange.status) in answers, f"{exchange.method} {exchange.url}: {exchange.status}"
    schema = answers[str(exchange.status)].get("content", {}).get("application/json", {}).get("schema")
    if schema is not None:
        answer = exchange.answer if schema.get("type") == "string" else json.loads(exchange.answer)
        _check(_strict(schema) | _components(document), answer, exchange)
    return True


def check_request(exchange: Exchange) -> bool:
    """Fail unless the body of a PUT is as a template may have this resource; return whether it is known."""
    path, version = urlsplit(exchange.url).path, exchange.url.partition("api-version=")[2].partition("&")[0]
    provider, *words = path.rpartition("/providers/")[2].split("/")
    kind, file = "/".join([provider, *words[::2]]), FOLDER / "arm-schemas" / version / f"{provider}.json"
    definition = _json(file)["resourceDefinitions"].get("_".join(words[::2])) if file.exists() else None
    if exchange.method != "PUT" or definition is None or words[-1] == "content":
        return False
    whole = json.loads(exchange.request or "{}") | {
        "apiVersion": version,
        "type": kind,
        "name": path.rpartition("/")[2],
    }
    _check(definition | {"definitions": _json(file)["definitions"] | {"expression": False}}, whole, exchange)
    return True


@cache
def _json(file: Path) -> Schema:
    text = file.read_text(encoding="utf-8")
    # In a template a value may be an expression instead, which no caller sends.
    return json.loads(text.replace("https://schema.management.azure.com/schemas/common/definitions.json", ""))


@cache
def _documents() -> tuple[Schema, ...]:
    return tuple(_json(file) for file in sorted((FOLDER / "swagger-older").glob("*.json")))


def _described(exchange: Exchange) -> tuple[Schema, Schema] | None:
    path = "/" + urlsplit(exchange.url).path.strip("/")
    for document in _documents():
        for template, operations in document["paths"].items():
            words = re.escape(template).replace(r"\{scope\}", ".+").replace(r"/\{roleId\}", "-")
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", words)
            if re.fullmatch(pattern, path, re.IGNORECASE) and exchange.method.lower() in operations:
                return document, operations[exchange.method.lower()]
    return None


def _components(document: Schema) -> Schema:
    """Return the schemas twice: closed, and open for those that are part of another."""
    schemas: Schema = document["components"]["schemas"]
    for name in schemas.keys() & EXCEPTIONS.keys():
        schemas[name]["properties"] |= EXCEPTIONS[name]
    closed = {name: _strict(one) for name, one in schemas.items()}
    return {"components": {"schemas": closed, "open": {name: _inside(one) for name, one in schemas.items()}}}


def _strict(schema: Schema) -> Schema:
    """Return an OpenAPI schema as JSON Schema: nullable spelt out, fields beyond the named ones refused."""
    inside = _inside(schema)
    if "properties" in inside:
        inside = inside | {"unevaluatedProperties": False}
    return {"anyOf": [inside, {"type": "null"}]} if schema.get("nullable") is True else inside


def _inside(schema: Schema) -> Schema:
    found: Schema = {key: value for key, value in schema.items() if key != "nullable"}
    if "properties" in found:
        found["properties"] = {name: _strict(one) for name, one in found["properties"].items()}
    if "items" in found:
        found["items"] = _strict(found["items"])
    if "allOf" in found:
        found["allOf"] = [_open(_inside(one)) for one in cast("list[Schema]", found["allOf"])]
    return found


def _open(schema: Schema) -> Schema:
    return {"$ref": schema["$ref"].replace("/schemas/", "/open/")} if "$ref" in schema else schema


def _check(schema: Schema, instance: object, exchange: Exchange) -> None:
    validator = jsonschema.Draft202012Validator(schema)
    found = validator.iter_errors(cast("Any", instance))  # pyright: ignore[reportUnknownMemberType]  its stub is partial
    wrong = [f"{error.json_path}: {error.message}"[:500] for error in found]
    assert (exchange.method, exchange.url, wrong) == (exchange.method, exchange.url, [])

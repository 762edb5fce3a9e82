"""The vendors' published descriptions, made into strict validators; absent outside a full checkout."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import jsonschema
import pytest

from tests.support.azure import Exchange

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "contracts"

needs_contract = pytest.mark.skipif(not FOLDER.exists(), reason=f"the vendors' contracts are not here: {FOLDER}")

PROCESSOR_EXCEPTIONS = {
    "any_3ds_required": "spec 1 permits this value of request_three_d_secure; the vendor publishes three others",
    "PATCH /v1/account": "spec 1 has it for branding; the vendor publishes no such verb (decision 17)",
    "enabled_events": "any well-formed event type is taken: the vendor's list has 267 and grows monthly",
    "api_version": "named versions are known, and one newer than the contract; the vendor takes older ones",
}
"""Where the sandbox goes beyond the contract, and why."""

_ANY: Mapping[str, object] = {}
_EXCEPTIONS: Mapping[str, Mapping[str, object]] = {
    "RunbookProperties": {"runtimeEnvironment": {"type": "string"}, "runbookType": {"type": "string"}},
    "AutomationAccount": {"identity": {"type": "object"}},
    "RoleAssignmentPropertiesWithScope": {
        name: {"type": "string"} for name in ("principalType", "createdOn", "updatedOn")
    },
    "JobProperties": {"exception": {"type": ["string", "null"]}},
    "JobCollectionItemProperties": {"startedBy": {"type": "string"}},
    "microsoft.graph.user": {"id": _ANY, "proxyAddresses": _ANY},
    "microsoft.graph.conversationMember": {"userId": _ANY, "email": _ANY, "tenantId": _ANY},
    "microsoft.graph.identity": {"userIdentityType": _ANY},
    "microsoft.graph.message": {"singleValueExtendedProperties": _ANY},
    "microsoft.graph.chat": {"lastMessagePreview": _ANY},
}
"""What today's versions have and the older descriptions do not, fields of derived types, and one that is null."""

Schema = dict[str, Any]


@cache
def published(name: str) -> Any:  # noqa: ANN401  any JSON
    """Return a file of the contracts, by its name without `.json`."""
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    # In a template of the cloud a value may be an expression instead, which no caller sends.
    return json.loads(text.replace("https://schema.management.azure.com/schemas/common/definitions.json", ""))


def processor() -> Schema:
    """Return the processor's description."""
    return published("processor.openapi")


def request_schema(path: str) -> Schema:
    """Return the schema of the form body of the processor's POST `path`."""
    body = processor()["paths"][path]["post"]["requestBody"]
    return body["content"]["application/x-www-form-urlencoded"]["schema"]


def query_schema(path: str) -> Schema:
    """Return the schema of the query of the processor's GET `path`, as if it were one object."""
    queries = [one for one in processor()["paths"][path]["get"]["parameters"] if one["in"] == "query"]
    required = [one["name"] for one in queries if one.get("required")]
    return {"type": "object", "properties": {one["name"]: one["schema"] for one in queries}, "required": required}


def check_processor(method: str, path: str, answer: object) -> None:
    """Fail unless the processor's answer is as the contract has this operation, with no field beyond."""
    answers = processor()["paths"][path][method.lower()]["responses"]
    _check(_shut(answers["200"]["content"]["application/json"]["schema"]), answer, _all_shut("processor.openapi"))


def check_object(name: str, answer: object, document: str = "processor.openapi") -> None:
    """Fail unless the answer is an object of that schema; pass without the contract."""
    if FOLDER.exists():
        _check({"$ref": f"#/components/schemas/{name}"}, answer, _all_shut(document))


def check_cloud(exchange: Exchange) -> bool:
    """Fail unless an answer of the cloud is as described; return whether it is described."""
    path = "/" + urlsplit(exchange.url).path.strip("/")
    for file in sorted((FOLDER / "cloud" / "swagger-older").glob("*.json")):
        name = f"cloud/swagger-older/{file.stem}"
        found = _operation(published(name), exchange.method, path, _as_pattern)
        if found is None:
            continue
        answers = found[1]["responses"]
        assert str(exchange.status) in answers, f"{exchange.method} {exchange.url}: {exchange.status}"
        schema = answers[str(exchange.status)].get("content", {}).get("application/json", {}).get("schema")
        if schema is not None:
            answer = exchange.answer if schema.get("type") == "string" else json.loads(exchange.answer)
            _check(_closed(schema), answer, _all_closed(name))
        return True
    return False


def check_request(exchange: Exchange) -> bool:
    """Fail unless the body of a PUT is as a template may have this resource; return whether it is known."""
    path, version = urlsplit(exchange.url).path, exchange.url.partition("api-version=")[2].partition("&")[0]
    provider, *words = path.rpartition("/providers/")[2].split("/")
    kind, name = "/".join([provider, *words[::2]]), f"cloud/arm-schemas/{version}/{provider}"
    known: Schema = published(name) if (FOLDER / f"{name}.json").exists() else {}
    definition: Schema | None = known.get("resourceDefinitions", {}).get("_".join(words[::2]))
    if exchange.method != "PUT" or definition is None or words[-1] == "content":
        return False
    asked = {"apiVersion": version, "type": kind, "name": path.rpartition("/")[2]}
    whole = json.loads(exchange.request or "{}") | asked
    _check(definition | {"definitions": known["definitions"] | {"expression": False}}, whole, {})
    return True


def check_graph(answer: httpx2.Response) -> str:
    """Fail unless an answer of Microsoft Graph is as described, with no field beyond; return the operation."""
    method, path = answer.request.method, answer.request.url.path.removeprefix("/v1.0")
    found = _operation(published("mail.openapi"), method, path, lambda one: re.sub(r"\{[\w-]+\}", "[^/]+", one))
    assert found is not None, f"{method} {path} is not described"
    described = found[1]["responses"][str(answer.status_code) if answer.is_success else "4XX"]
    schema = described["content"]["application/json"]["schema"]
    _check(_closed(schema), answer.json(), _all_closed("mail.openapi"))
    return f"{method} {found[0]}"


def _as_pattern(template: str) -> str:
    words = re.escape(template).replace(r"\{scope\}", ".+").replace(r"/\{roleId\}", "-")
    return re.sub(r"\\\{\w+\\\}", "[^/]+", words)


def _operation(
    document: Schema, method: str, path: str, pattern: Callable[[str], str]
) -> tuple[str, Schema] | None:
    for template, operations in document["paths"].items():
        if method.lower() in operations and re.fullmatch(pattern(template), path, re.IGNORECASE):
            return template, operations[method.lower()]
    return None


def _check(schema: Schema, answer: object, components: Schema) -> None:
    validator = jsonschema.Draft202012Validator(schema | {"components": components})
    found = validator.iter_errors(cast("Any", answer))  # pyright: ignore[reportUnknownMemberType]  its stub is partial
    assert [f"{error.json_path}: {error.message}"[:500] for error in found] == []


@cache
def _all_shut(document: str) -> Schema:
    """Return a document's schemas; those of a discovery document name others without their place."""
    found: Schema = published(document)
    if "components" in found:
        schemas = found["components"]["schemas"]
    else:
        text = re.sub(r'"\$ref": "(\w+)"', r'"$ref": "#/components/schemas/\1"', json.dumps(found["schemas"]))
        schemas = json.loads(text)
    return {"schemas": {name: _shut(one) for name, one in schemas.items()}}


def _shut(schema: Schema) -> Schema:
    """Return a schema without inheritance as JSON Schema: nullable spelt out, no fields beyond the named ones."""
    shut: Schema = {key: _shut_inside(value) for key, value in schema.items() if key != "nullable"}
    named: object = shut.get("properties")
    if isinstance(named, dict) and set(cast("Schema", named)) - {"id"}:
        shut.setdefault("additionalProperties", False)
    return {"anyOf": [shut, {"type": "null"}]} if schema.get("nullable") is True else shut


def _shut_inside(value: object) -> object:
    if isinstance(value, list):
        return [_shut_inside(one) for one in cast("list[object]", value)]
    return _shut(cast("Schema", value)) if isinstance(value, dict) else value


@cache
def _all_closed(document: str) -> Schema:
    """Return a document's schemas twice: closed, and open for those that are part of another."""
    schemas: Schema = published(document)["components"]["schemas"]
    for name in schemas.keys() & _EXCEPTIONS.keys():
        described = schemas[name]
        part = described["allOf"][-1] if "allOf" in described else described
        part["properties"] |= _EXCEPTIONS[name]
    closed = {name: _closed(one) for name, one in schemas.items()}
    return {"schemas": closed, "open": {name: _inside(one) for name, one in schemas.items()}}


def _closed(schema: Schema) -> Schema:
    """Return a schema with inheritance as JSON Schema: nullable spelt out, no field beyond the named ones."""
    inside = _inside(schema)
    if {"properties", "allOf"} & inside.keys():
        inside |= {"patternProperties": {"^@": {}}, "unevaluatedProperties": False}
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

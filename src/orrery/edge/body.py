"""Reading a request's body with a limit in size and time."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from orrery.edge.problem import Problem

BODY_SECONDS = 10.0
"""How long a client may take to send a body."""

FORM = "application/x-www-form-urlencoded"
"""What a browser sends a form as."""

_FORMS = frozenset({FORM, "multipart/form-data", "text/plain"})
"""What a page's `enctype` can make of a form."""

B = TypeVar("B", bound=BaseModel)


def json_body(kind: type[BaseModel], form: type[BaseModel] | None = None) -> dict[str, Any]:
    """Return the description of an operation's body, which may come as a form, too."""
    kinds = {"application/json": kind, **({FORM: form} if form else {})}
    template = "#/components/schemas/{model}"
    content = {name: {"schema": one.model_json_schema(ref_template=template)} for name, one in kinds.items()}
    return {"requestBody": {"required": True, "content": content}}


async def read_model(request: Request, kind: type[B], limit: int) -> B:
    """Return the JSON object in the body as a model; raise what `read_object` raises, and 422."""
    return _valid(kind, await read_object(request, limit))


def is_form(request: Request) -> bool:
    """Return whether a browser sends a form, in whatever way."""
    return _media_type(request) in _FORMS


async def read_form(request: Request, kind: type[B], limit: int) -> B:
    """Return the form in the body as a model; raise what `read_fields` raises."""
    return _valid(kind, await read_fields(request, limit))


def wrong_field(error: ValidationError, *, within: int = 0) -> Problem:
    """Return 422 for the first wrong field; `within` is how many parts of its place are not the request's."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    # The caller has named an unknown field, and a caller's words are not repeated.
    place = first["loc"][within : -1 if first["type"] == "extra_forbidden" else None]
    where = ".".join(map(str, place)) or "The request"
    return Problem(422, "invalid-field", f"{where}: {first['msg'].removeprefix('Value error, ')}.")


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body; raise 413 beyond `limit` bytes and 408 when it does not arrive in time."""
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _read(request, limit)
    except TimeoutError:
        raise Problem(
            408, "timeout", "The request's body did not arrive in time.", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise Problem(400, "disconnected", "The request's body did not arrive.") from None


async def read_object(request: Request, limit: int) -> dict[str, object]:
    """Return the JSON object in the body; raise 415, 413, 408 or 400 (decision 3)."""
    if _media_type(request) != "application/json":
        raise Problem(415, "unsupported-media-type", "Send the request as application/json.")
    try:
        found = json.loads(await read_body(request, limit))
    except (ValueError, RecursionError):
        raise _not_an_object() from None
    if not isinstance(found, dict):
        raise _not_an_object()
    return found  # pyright: ignore[reportUnknownVariableType] JSON objects have string keys


async def read_fields(request: Request, limit: int) -> dict[str, str]:
    """Return the fields of the form in the body; raise 415, 413, 408, 400 or 422."""
    charset = request.headers.get("content-type", "").lower().partition("charset=")[2]
    if _media_type(request) != FORM or charset.strip(' "') not in {"", "utf-8"}:
        raise Problem(415, "unsupported-media-type", f"Send the form as {FORM}, in UTF-8.")
    body = await read_body(request, limit)
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict")
    except ValueError:
        raise Problem(400, "not-a-form", "The request's body is not a form.") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Problem(422, "invalid-field", "The form has a field more than once.")
    return fields


def _valid(kind: type[B], given: Mapping[str, object]) -> B:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        raise wrong_field(error) from None


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def _read(request: Request, limit: int) -> bytes:
    chunks = bytearray()
    async for chunk in request.stream():
        chunks += chunk
        if len(chunks) > limit:
            raise _too_large(limit)
    return bytes(chunks)


def _too_large(limit: int) -> Problem:
    return Problem(413, "too-large", f"The request's body is larger than {limit} bytes.", {"Connection": "close"})


def _not_an_object() -> Problem:
    return Problem(400, "not-json", "The request's body is not a JSON object.")

"""Good answers of another shape."""

import json
from collections.abc import Callable
from typing import Any, cast

from starlette.responses import Response

from orrery.sandbox.state import Document


def _leaves(found: Any, change: Callable[[Any], Any]) -> Any:  # noqa: ANN401  JSON of any shape
    if isinstance(found, dict):
        return {name: _leaves(value, change) for name, value in cast("Document", found).items()}
    if isinstance(found, list):
        return [_leaves(value, change) for value in cast("list[Any]", found)]
    return change(found)


SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda _: [],
    lambda _: {},
    lambda _: None,
    lambda _: "text",
    lambda found: _leaves(found, lambda _: None),
    lambda found: _leaves(found, lambda _: ["a list"]),
    lambda found: dict.fromkeys(found) | {"id": "/of/another", "value": [None]},
)
"""What becomes of an answer."""


def odd(answer: Response, shape: int) -> Response:
    """Return an answer in another shape."""
    try:
        found = json.loads(bytes(answer.body))
    except ValueError:
        found = {}
    return Response(json.dumps(SHAPES[shape](found)), answer.status_code, media_type="application/json")

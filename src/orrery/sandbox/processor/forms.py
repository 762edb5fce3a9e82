"""Form bodies and queries in the vendor's bracket notation: `a[0][b]=c`, `metadata[k]=v`, `expand[]=x`."""

import re
from urllib.parse import unquote_to_bytes

from orrery.sandbox.processor.errors import ApiError, invalid

Form = str | list["Form"] | dict[str, "Form"]
"""A parsed parameter: text, a list or a map."""

_NAME = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")
_PART = re.compile(r"\[([^\[\]]*)\]")
_Tree = dict[str, "str | _Tree"]
MAX_PARAMETERS = 1000
"""More than this many pairs in one request are refused."""


def parse_form(encoded: bytes) -> dict[str, Form]:
    """Return the nested parameters of a form-encoded body or query; `ApiError` when it is malformed."""
    tree: _Tree = {}
    pairs = [pair for pair in encoded.split(b"&") if pair]
    if len(pairs) > MAX_PARAMETERS:
        raise invalid("Too many parameters.")
    for pair in pairs:
        name, _, value = pair.partition(b"=")
        _plant(tree, _path(_decode(name)), _decode(value))
    return {name: _grow(value, name) for name, value in tree.items()}


def _decode(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as error:
        raise invalid("Invalid UTF-8 in the request.") from error


def _path(name: str) -> list[str]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise invalid(f"Invalid parameter name: {name[:80]}", name[:80])
    return [match[1], *_PART.findall(match[2])]


def _plant(tree: _Tree, path: list[str], value: str) -> None:
    *branches, leaf = path
    for number, part in enumerate(branches):
        below = tree.setdefault(part or str(len(tree)), {})
        if isinstance(below, str):
            raise _conflict(path[: number + 1])
        tree = below
    leaf = leaf or str(len(tree))
    if leaf in tree:
        raise _conflict(path)
    tree[leaf] = value


def _conflict(path: list[str]) -> ApiError:
    name = path[0] + "".join(f"[{part}]" for part in path[1:])
    return invalid(f"Invalid request: {name} is given more than once.", name)


def _grow(value: str | _Tree, name: str) -> Form:
    if isinstance(value, str):
        return value
    if all(key.isascii() and key.isdigit() for key in value):
        return _array(value, name)
    return {key: _grow(below, f"{name}[{key}]") for key, below in value.items()}


def _array(value: _Tree, name: str) -> Form:
    places = sorted(value, key=int)
    if [int(place) for place in places] != list(range(len(places))):
        raise invalid(f"Invalid array: {name} must be numbered from 0 without gaps.", name)
    return [_grow(value[place], f"{name}[{place}]") for place in places]

"""Extended properties of a message: what an application writes on it for itself."""

import re
from collections.abc import Mapping
from typing import cast

from orrery.sandbox.graph.conditions import Condition, at, parsed
from orrery.sandbox.graph.errors import bad_argument, bad_query
from orrery.sandbox.state import Document

NAME = "singleValueExtendedProperties"
_GUID = r"\{[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}"
_SHAPE = re.compile(
    rf"(?:String|Integer|Boolean|SystemTime|CLSID) (?:0x[0-9a-fA-F]+|{_GUID} (?:Name .+|Id 0x[0-9a-fA-F]+))"
)
_EXPANSION = re.compile(rf"\s*{NAME}\s*\(\s*\$filter\s*=\s*(.+)\)\s*", re.DOTALL)


def given(body: Document) -> dict[str, str]:
    """Return the properties that a body sets, by their ids; the GUID in an id is kept in lower case."""
    found: dict[str, str] = {}
    for one in cast("list[Document]", body.get(NAME) or []):
        name = str(one.get("id", ""))
        if not _SHAPE.fullmatch(name):
            raise bad_argument(f"The extended property '{name}' is not valid.")
        found[re.sub(_GUID, lambda guid: guid[0].lower(), name)] = str(one.get("value", ""))
    return found


def expanded(text: str, properties: Mapping[str, str]) -> Document:
    """Return what `$expand` adds to a message: nothing where it has none of the properties."""
    if not text:
        return {}
    asked = _EXPANSION.fullmatch(text)
    if asked is None:
        raise bad_query(f"$expand takes {NAME}($filter=id eq '...') here, not '{text}'.")
    condition = parsed(asked[1])
    shown = [{"id": name, "value": value} for name, value in properties.items()]
    found = [one for one in shown if condition.holds(lambda path, one=one: at(one, path))]
    return {NAME: found} if found else {}


def needs_names(condition: Condition) -> bool:
    """Return whether a filter asks for extended properties."""
    return condition.within == NAME

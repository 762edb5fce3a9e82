"""The parsed tree of a PowerShell script: its statements and its conditions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import tree_sitter
import tree_sitter_powershell

_WHOLE = frozenset({"command", "pipeline", "variable", "expandable_string_literal"})
_UNSAID = frozenset({"comment", "command_argument_sep"})

Place = tuple[int, int]
"""Where a node begins and ends, in bytes."""


class Unsupported(Exception):
    """The script uses what the interpreter does not walk."""


@dataclass(frozen=True, slots=True, eq=False)  # each is itself only: quick to look up
class Node:
    """A node of the tree. `parts` are its children without words, signs and comments; `words` are the rest.

    `inner` is what an expression is, below those that only pass it on; None where it is the node itself.
    """

    kind: str
    text: str
    place: Place
    parts: tuple["Node", ...]
    words: tuple[str, ...]
    inner: "Node | None" = field(repr=False)

    def within(self) -> Iterator["Node"]:
        """Yield this node and all below it."""
        yield self
        for part in self.parts:
            yield from part.within()

    def first(self, kind: str) -> "Node":
        """Return the first part of a kind."""
        for part in self.parts:
            if part.kind == kind:
                return part
        raise Unsupported(f"{self.kind} without {kind}")


def parsed(script: str) -> Node:
    """Return the tree; raise `SyntaxError` for a text that is not PowerShell."""
    language = tree_sitter.Language(tree_sitter_powershell.language())
    return _node(tree_sitter.Parser(language).parse(script.encode()).root_node)


def _node(raw: tree_sitter.Node) -> Node:
    text = (raw.text or b"").decode()
    if raw.is_error or raw.is_missing:
        raise SyntaxError(f"line {raw.start_point[0] + 1}: {text!r}")
    children = [(child, _node(child)) for child in raw.children]
    parts = tuple(node for child, node in children if child.is_named and node.kind not in _UNSAID)
    words = tuple(node.text.lower() for child, node in children if not child.is_named)
    passes_on = len(parts) == 1 and not words and raw.type not in _WHOLE
    return Node(raw.type, text, raw.byte_range, parts, words, innermost(parts[0]) if passes_on else None)


def statements(tree: Node) -> list[Node]:
    """Return every statement."""
    return [part for node in tree.within() if node.kind == "statement_list" for part in node.parts]


def conditions(tree: Node) -> list[Node]:
    """Return every condition of an `if`, an `elseif` or a loop, and every operand of `-and` and `-or`."""
    found: list[Node] = []
    for node in tree.within():
        if node.kind in {"if_statement", "elseif_clause"}:
            found.append(node.parts[0])
        elif node.kind == "for_condition":
            found.append(node)
        elif node.kind == "logical_expression" and len(node.parts) > 1:
            found.extend(node.parts)
    return found


@cache
def parameters(declared: Node) -> tuple[tuple[str, str], ...]:
    """Return the name and the type of each parameter."""
    found = [[*one.within()] for one in declared.within() if one.kind == "script_parameter"]
    return tuple(
        (
            next(name_of(one) for one in nodes if one.kind == "variable"),
            "".join(one.text for one in nodes if one.kind == "type_identifier"),
        )
        for nodes in found
    )


def innermost(node: Node) -> Node:
    """Return what an expression is, below those that only pass it on."""
    return node.inner or node


def name_of(variable: Node) -> str:
    """Return the name of a variable, in lower case."""
    return variable.text.strip("${}").lower()

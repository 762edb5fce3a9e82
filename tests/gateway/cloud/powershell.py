"""Walks the parsed tree of a PowerShell script, as far as the runbook uses the language: anything else raises.

No test can run PowerShell: this shows what the text decides, not that a vendor's engine reads it in the same way.
It follows PowerShell where that may surprise: operators ignore case, a variable that was never set is nothing, a
function sees its caller's variables, and the script goes on after the error of a command unless it says otherwise.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.gateway.cloud.powershell_tree import Node, Place, Unsupported, innermost, name_of, parameters
from tests.gateway.cloud.powershell_values import (
    Properties,
    Value,
    are_equal,
    as_integer,
    as_text,
    as_truth,
    single,
    unescaped,
)

Command = Callable[[Mapping[str, Value], Sequence[Value]], Sequence[Value]]
"""What a command does: it takes named and other arguments, returns what it writes, and raises `CommandFailed`."""


class CommandFailed(Exception):
    """A command failed, in a way that ends the script only where it is told to stop."""


class Thrown(Exception):
    """The script threw."""


class _Return(Exception):
    """Ends the script or the function."""


class _Continue(Exception):
    """Goes on with the next turn of the loop."""


_CONSTANTS = {"null": None, "true": True, "false": False}


@dataclass
class Visited:
    """Which statements were run, and which ways each condition went."""

    statements: set[Place] = field(default_factory=set[tuple[int, int]])
    ways: set[tuple[Place, bool]] = field(default_factory=set[tuple[tuple[int, int], bool]])


class Script:
    """A script and the commands that it may use. One is run once: its variables stay."""

    def __init__(self, tree: Node, commands: Mapping[str, Command], visited: Visited | None = None) -> None:
        self._tree = tree
        self._commands = {name.lower(): command for name, command in commands.items()}
        self._functions: dict[str, Node] = {}
        self._scopes: list[dict[str, Value]] = [{}]
        self._written: list[Value] = []
        self._visited = visited or Visited()
        self._statements: dict[str, Callable[[Node], None]] = {
            "pipeline": self._pipeline,
            "if_statement": self._if,
            "for_statement": self._for,
            "try_statement": self._try,
            "flow_control_statement": self._flow,
            "function_statement": self._define,
        }
        self._values: dict[str, Callable[[Node], Value]] = {
            "pipeline": lambda it: single(self._captured(lambda: self._pipeline(it))),
            "variable": lambda it: self._variable(name_of(it)),
            "parenthesized_expression": lambda it: self._value(it.parts[0]),
            "sub_expression": lambda it: single(self._captured(lambda: self._block(it))),
            "decimal_integer_literal": lambda it: int(it.text),
            "verbatim_string_characters": lambda it: it.text[1:-1].replace("''", "'"),
            "expandable_string_literal": self._expanded,
            "logical_expression": self._logical,
            "comparison_expression": self._comparison,
            "additive_expression": self._sum,
            "expression_with_unary_operator": self._unary,
            "cast_expression": self._cast,
            "member_access": self._member,
            "element_access": self._element,
            "invokation_expression": self._invocation,
        }

    def run(self, **parameters: Value) -> list[Value]:
        """Run it, and return what it wrote."""
        for part in self._tree.parts:
            if part.kind == "param_block":
                self._bind(part, parameters)
            else:
                self._body(part)
        return self._written

    # Statements

    def _body(self, node: Node) -> None:
        """Run a script or a function, until its end or its `return`."""
        with suppress(_Return):
            self._block(node)

    def _block(self, node: Node) -> None:
        for part in node.parts:
            if part.kind in {"statement_list", "script_block_body"}:
                self._block(part)
            elif node.kind == "statement_list":
                self._visited.statements.add(part.place)
                self._statement(part)
            else:
                raise Unsupported(part.kind)

    def _statement(self, node: Node) -> None:
        if node.kind not in self._statements:
            raise Unsupported(node.kind)
        self._statements[node.kind](node)

    def _if(self, node: Node) -> None:
        condition, block, *clauses = node.parts
        others = [one for clause in clauses for one in _clauses(clause)]
        for one, then in [(condition, block), *others]:
            if self._decides(one):
                self._block(then)
                return

    def _for(self, node: Node) -> None:
        start, condition, after, block = node.parts
        self._pipeline(start.parts[0])
        while self._decides(condition):
            with suppress(_Continue):
                self._block(block)
            self._pipeline(after.parts[0])

    def _try(self, node: Node) -> None:
        block, clauses = node.parts
        (clause,) = clauses.parts
        try:
            self._block(block)
        except (CommandFailed, Thrown) as error:
            self._scopes[-1]["_"] = str(error)
            self._block(clause.parts[0])

    def _flow(self, node: Node) -> None:
        match node.words[0]:
            case "return":
                for part in node.parts:
                    self._pipeline(part)
                raise _Return
            case "continue":
                raise _Continue
            case "throw":
                raise Thrown(as_text(self._value(node.parts[0])))
            case other:
                raise Unsupported(other)

    def _define(self, node: Node) -> None:
        self._functions[node.first("function_name").text.lower()] = node

    def _decides(self, condition: Node) -> bool:
        went = as_truth(self._value(condition))
        self._visited.ways.add((condition.place, went))
        return went

    # Pipelines: what an expression or a command writes

    def _pipeline(self, node: Node) -> None:
        (only,) = node.parts
        if only.kind == "assignment_expression":
            self._assign(only)
        elif only.kind == "pipeline_chain":
            self._chain(only)
        else:
            raise Unsupported(only.kind)

    def _chain(self, node: Node) -> None:
        first, *then = node.parts
        if not then:
            self._write(first)
        elif [one.text.strip().lower() for one in then] == ["out-null"]:
            _ = self._captured(lambda: self._write(first))
        else:
            raise Unsupported(node.text)

    def _write(self, node: Node) -> None:
        inner = innermost(node)
        if inner.kind == "command":
            self._command(inner)
        elif inner.kind == "post_increment_expression":  # as a statement it writes nothing
            name = name_of(inner.parts[0])
            self._scopes[-1][name] = as_integer(self._variable(name)) + 1
        else:
            self._written.append(self._value(node))

    def _captured(self, write: Callable[[], None]) -> list[Value]:
        before, self._written = self._written, []
        try:
            write()
            return self._written
        finally:
            self._written = before

    def _assign(self, node: Node) -> None:
        target, operator, value = node.parts
        inner = innermost(target)
        if operator.text != "=" or inner.kind != "variable":
            raise Unsupported(node.text)
        self._scopes[-1][name_of(inner)] = self._value(value)

    # Expressions

    def _value(self, node: Node) -> Value:
        node = innermost(node)
        if node.kind not in self._values:
            raise Unsupported(f"{node.kind}: {node.text}")
        return self._values[node.kind](node)

    def _variable(self, name: str) -> Value:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    def _expanded(self, node: Node) -> str:
        whole, at, pieces = node.text.encode(), 1, list[str]()
        for part in node.parts:
            begins, ends = (place - node.place[0] for place in part.place)
            pieces += [unescaped(whole[at:begins]), as_text(self._value(part))]
            at = ends
        return "".join([*pieces, unescaped(whole[at:-1])])

    def _logical(self, node: Node) -> bool:
        left, right = node.parts
        (operator,) = node.words
        if operator not in {"-and", "-or"}:
            raise Unsupported(operator)
        if self._decides(left) == (operator == "-or"):
            return operator == "-or"
        return self._decides(right)

    def _comparison(self, node: Node) -> Value:
        left, operator, right = node.parts
        word, one = operator.text.lower(), self._value(left)
        if word == "-replace":
            pattern, by = [as_text(self._value(part)) for part in innermost(right).parts]
            return re.sub(pattern, by, as_text(one), flags=re.IGNORECASE)
        other = self._value(right)
        rules: dict[str, Callable[[], bool]] = {
            "-eq": lambda: are_equal(one, other),
            "-ne": lambda: not are_equal(one, other),
            "-gt": lambda: as_integer(one) > as_integer(other),
            "-le": lambda: as_integer(one) <= as_integer(other),
            "-match": lambda: self._matches(one, other),
            "-notmatch": lambda: not self._matches(one, other),
        }
        if word not in rules:
            raise Unsupported(word)
        return rules[word]()

    def _matches(self, text: Value, pattern: Value) -> bool:
        found = re.search(as_text(pattern), as_text(text), re.IGNORECASE)
        if found:
            groups = enumerate([found[0], *found.groups()])
            self._scopes[-1]["matches"] = Properties({str(number): group for number, group in groups})
        return found is not None

    def _sum(self, node: Node) -> Value:
        left, right = [self._value(step) for step in node.parts]
        if node.words != ("+",) or not isinstance(left, str):
            raise Unsupported(node.text)
        return left + as_text(right)

    def _unary(self, node: Node) -> bool:
        if node.words != ("-not",):
            raise Unsupported(node.text)
        return not as_truth(self._value(node.parts[-1]))

    def _cast(self, node: Node) -> int:
        kind, value = node.parts
        if kind.text not in {"[int]", "[long]"}:
            raise Unsupported(kind.text)
        return as_integer(self._value(value))

    def _member(self, node: Node) -> Value:
        owner, name = node.parts
        value = self._value(owner)
        return value.values.get(name.text) if isinstance(value, Properties) else None

    def _element(self, node: Node) -> Value:
        owner, index = (self._value(part) for part in node.parts)
        if not isinstance(owner, Properties):
            raise Unsupported(node.text)
        return owner.values.get(as_text(index))

    def _invocation(self, node: Node) -> Value:
        owner, name, arguments = node.parts
        given = [self._value(one) for part in arguments.parts for one in part.parts]
        if (owner.text, name.text) == ("[regex]", "Escape"):
            return re.escape(as_text(given[0]))
        value = self._value(owner)
        if isinstance(value, datetime) and (name.text, given) == ("ToUniversalTime", []):
            return value.astimezone(UTC)
        if isinstance(value, datetime) and (name.text, given) == ("ToString", ["yyyyMMddHHmmss"]):
            return f"{value:%Y%m%d%H%M%S}"
        raise Unsupported(node.text)

    # Commands

    def _command(self, node: Node) -> None:
        name = node.first("command_name").text.lower()
        named, others = self._arguments(node)
        if name in self._functions:
            self._call(self._functions[name], others)
        elif name in self._commands:
            self._ask(self._commands[name], named, others)
        else:
            raise Unsupported(name)

    def _ask(self, command: Command, named: Mapping[str, Value], others: Sequence[Value]) -> None:
        try:
            self._written.extend(command(named, others))
        except CommandFailed:
            if are_equal(self._variable("erroractionpreference"), "Stop"):
                raise

    def _arguments(self, node: Node) -> tuple[dict[str, Value], list[Value]]:
        named: dict[str, Value] = {}
        others: list[Value] = []
        waiting = ""
        for part in [one for elements in node.parts[1:] for one in elements.parts]:
            if part.kind == "command_parameter":
                waiting = part.text.removeprefix("-")
                named[waiting] = True
            elif waiting:
                named[waiting], waiting = self._value(part), ""
            else:
                others.append(self._value(part))
        return named, others

    def _call(self, function: Node, values: Sequence[Value]) -> None:
        declared = function.first("function_parameter_declaration")
        names = [name for name, _ in parameters(declared)]
        self._scopes.append({})
        try:
            self._bind(declared, dict(zip(names, values, strict=True)))
            self._body(function.first("script_block"))
        finally:
            _ = self._scopes.pop()

    def _bind(self, declared: Node, given: Mapping[str, Value]) -> None:
        by_name = {name.lower(): value for name, value in given.items()}
        for name, kind in parameters(declared):
            value = by_name.get(name)
            if kind not in {"object", "string"}:
                raise Unsupported(kind)
            self._scopes[-1][name] = as_text(value) if kind == "string" else value


def _clauses(node: Node) -> list[tuple[Node, Node]]:
    """Return the condition and the block of each `elseif`."""
    if node.kind != "elseif_clauses":
        raise Unsupported(node.kind)
    return [(one.parts[0], one.parts[1]) for one in node.parts]

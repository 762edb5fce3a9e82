"""A walk through the source: what of the processor can be reached, and from where (decision 16, change rule 4)."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

import stripe

VENDOR = PurePosixPath("adapters/stripe")
PORT = PurePosixPath("ports/processor/__init__.py")
CARRIES_OUT = PurePosixPath("approvals/execution.py")
"""The one module that performs operations; `approvals/approvals.py` alone asks it to."""

LIBRARY = frozenset({"StripeClient", "RequestsClient", "StripeError", "AuthenticationError", "APIError"})
"""What the adapter uses of the vendor's module: nothing that is an object of the processor."""

_REQUEST = re.compile(r'_request\(\s*"(?P<verb>get|post|delete)",\s*"(?P<path>/v1/[^"]+)"')
_PATH = re.compile(r"/?v[12]/")
_OTHER_DOORS = frozenset(
    {"raw_request", "rawRequest", "v2", "_requestor", "deserialize", "post", "put", "request", "send"}
)
type_of_function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Module:
    """One file of the package, by its path inside it."""

    path: PurePosixPath
    tree: ast.Module
    nodes: tuple[ast.AST, ...]

    def where(self, node: ast.AST, what: str) -> str:
        """Return where something is."""
        return f"{self.path}:{getattr(node, 'lineno', 0)}: {what}"


@cache
def modules(package: Path) -> list[Module]:
    """Return every module that can run in production: all but the sandbox."""
    paths = (path for path in sorted(package.rglob("*.py")) if path.relative_to(package).parts[0] != "sandbox")
    return [module(package, PurePosixPath(path.relative_to(package))) for path in paths]


def module(package: Path, path: PurePosixPath, planted: str = "") -> Module:
    """Return one module, with a few more lines at its end."""
    tree = ast.parse(f"{(package / path).read_text()}\n{planted}\n")
    return Module(path, tree, tuple(ast.walk(tree)))


def reached(found: list[Module]) -> set[str]:
    """Return every operation of the processor that the source reaches, as `POST /v1/checkout/sessions`."""
    return {call for module in found for call in (*_library_calls(module), *_own_calls(module))}


def other_doors(found: list[Module]) -> Iterator[str]:
    """Yield whatever could reach an operation of the processor in a way that `reached` cannot see."""
    for module in found:
        at_home = module.path.is_relative_to(VENDOR)
        for node in module.nodes:
            if isinstance(node, ast.Constant) and _is_a_path(node.value) and not _is_known_path(module, node):
                yield module.where(node, f"the path {node.value!r}")
            if at_home:
                yield from _odd(module, node)


def stray_writes(found: list[Module]) -> Iterator[str]:
    """Yield each way to a change at the processor that does not lead through an approved operation."""
    writes = port_methods(found, "ProcessorWrites")
    for module in found:
        if module.path == PORT or module.path.is_relative_to(VENDOR):
            continue
        yield from _ways_past_an_operation(module, writes)
        for node in module.nodes:
            performs = isinstance(node, ast.Attribute) and node.attr == "perform" and module.path != CARRIES_OUT
            if performs and not _in_an_operation(module, node):
                yield module.where(node, "performs an operation")


def port_methods(found: list[Module], protocol: str) -> set[str]:
    """Return the methods of one of the processor's ports."""
    tree = next(module.tree for module in found if module.path == PORT)
    (found_class,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == protocol)
    return {node.name for node in found_class.body if isinstance(node, type_of_function)}


def _library_calls(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Call) and (chain := _chain(node.func)) and "v1" in chain:
            yield _operation(chain[chain.index("v1") + 1 :])


def _operation(names: list[str]) -> str:
    """Return what a method of the library sends, by the library's own source."""
    there: object = stripe.StripeClient("sk_test_nobody").v1
    for name in names:
        there = getattr(there, name)
    sent = _REQUEST.search(inspect.getsource(there))  # pyright: ignore[reportArgumentType]  a method of the library
    assert sent is not None, f"{'.'.join(names)} sends what this walk cannot read"
    return f"{sent['verb'].upper()} {re.sub(r'{[a-z_]+}', '{id}', sent['path'])}"


def _own_calls(module: Module) -> Iterator[str]:
    """Yield what is sent without the library: `connection.patch("/v1/…")`."""
    for node in module.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "patch":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and _is_a_path(first.value):
                yield f"PATCH {first.value}"


def _odd(module: Module, node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        chain = _chain(node) or []
        if node.attr in _OTHER_DOORS and "v1" not in chain and chain[:2] != ["self", "_work"]:
            yield module.where(node, ast.unparse(node))
        if chain[:1] == ["stripe"] and chain[1] not in LIBRARY:
            yield module.where(node, ast.unparse(node))
        if node.attr == "v1" and not _is_called_further(module, node):
            yield module.where(node, f"{ast.unparse(node)} without a call")
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "stripe":
        yield module.where(node, ast.unparse(node))
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "eval", "exec")
    ):
        subject = ast.unparse(node.args[0])
        if subject not in ("error", "value"):
            yield module.where(node, ast.unparse(node))


def _is_called_further(module: Module, node: ast.Attribute) -> bool:
    """Tell whether `client.v1` is the beginning of a call such as `client.v1.charges.list(…)`."""
    calls = (call.func for call in module.nodes if isinstance(call, ast.Call))
    return any(node in ast.walk(function) for function in calls)


def _is_a_path(value: object) -> bool:
    return isinstance(value, str) and _PATH.match(value) is not None


def _is_known_path(module: Module, node: ast.Constant) -> bool:
    """Tell whether a path is one that `reached` counts, or the push server's own."""
    if module.path.is_relative_to(VENDOR):
        patches = (call for call in module.nodes if isinstance(call, ast.Call))
        return any(node in call.args and ast.unparse(call.func).endswith(".patch") for call in patches)
    return module.path == PurePosixPath("adapters/ntfy.py") and node.value == "/v1/health"


def _ways_past_an_operation(module: Module, writes: set[str]) -> Iterator[str]:
    """Follow each write to what calls it, until an `Operation(…)` is given it; yield where it leads elsewhere."""
    led, seen = [*_mentions(module, writes)], set[str]()
    while led:
        node = led.pop()
        if _in_an_operation(module, node):
            continue
        function = _function_around(module, node)
        if function is None or not _mentioned(module, function.name):
            yield module.where(node, f"{ast.unparse(node)} outside an operation")
        elif function.name not in seen:
            seen.add(function.name)
            led += _mentions(module, {function.name})


def _mentions(module: Module, names: set[str]) -> list[ast.AST]:
    return [node for node in module.nodes if isinstance(node, ast.Attribute) and node.attr in names]


def _mentioned(module: Module, name: str) -> bool:
    return bool(_mentions(module, {name}))


def _in_an_operation(module: Module, node: ast.AST) -> bool:
    calls = (call for call in module.nodes if isinstance(call, ast.Call))
    return any(ast.unparse(call.func) == "Operation" and node in call.args for call in calls)


def _function_around(module: Module, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    functions = (one for one in module.nodes if isinstance(one, type_of_function))
    around = [one for one in functions if node in ast.walk(one)]
    return around[-1] if around else None


def _chain(node: ast.AST) -> list[str] | None:
    """Return the names of `a.b.c`, or None when it begins with anything but a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return [node.id, *names] if isinstance(node, ast.Name) else None

"""What the cockpit's source asks of others, found by a walk over its syntax (decision 36)."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "orrery"

ROOMS = (
    "cockpit",
    "ports/comms",
    "app/adapters/comms.py",
    "app/cli/cockpit.py",
    "app/cli/cockpit_server.py",
)
"""The cockpit without its adapters."""

VERBS = frozenset(
    {"get", "follow", "post", "put", "patch", "delete", "request", "stream", "send", "build_request"}
)
"""The methods of an HTTP client."""

_ANY = "{}"
_DEEPEST = 5


@dataclass(frozen=True)
class Place:
    """A function of a module, or what stands outside of them."""

    module: ast.Module
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None

    @property
    def node(self) -> ast.AST:
        """What is walked; outside of functions that is each of the other statements."""
        return self.function or ast.Module([one for one in self.module.body if not _has_functions(one)], [])


def places(module: ast.Module) -> Iterator[Place]:
    """Yield each function of a module, and what is outside."""
    yield Place(module)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Place(module, node)


def _has_functions(node: ast.stmt) -> bool:
    return any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in ast.walk(node))


def adapters() -> list[str]:
    """Return the adapters of the port, by their folder: a new one is walked, too."""
    return sorted(
        f"adapters/{one.name}" for one in (SOURCE / "adapters").iterdir() if one.name.endswith("_mailbox")
    )


def modules(*rooms: str) -> dict[str, str]:
    """Return the text of each module of these rooms by its path."""
    found = [path for room in rooms for path in ([SOURCE / room] if room.endswith(".py") else _of(SOURCE / room))]
    return {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in found}


def _of(room: Path) -> list[Path]:
    return sorted(room.rglob("*.py"))


def http_calls(texts: Mapping[str, str]) -> set[str]:
    """Return what is asked over a session, as `METHOD /path/{}`; a path that is not seen here is `{}`."""
    return {
        f"{call.func.attr.upper()} {path}"
        for place in _places(texts)
        for call in calls(place.node)
        if isinstance(call.func, ast.Attribute) and call.func.attr in VERBS and "session" in _name(call.func.value)
        for path in _texts(call.args[0] if call.args else None, place)
    }


def clients(texts: Mapping[str, str]) -> set[str]:
    """Return the calls of an HTTP client's methods on anything but a session or a mapping, `path: what`."""
    return {
        f"{path}: {ast.unparse(call.func)}"
        for path, text in texts.items()
        for call in calls(ast.parse(text))
        if isinstance(call.func, ast.Attribute) and call.func.attr in VERBS - {"get", "follow"}
        if "session" not in _name(call.func.value)
    }


def mail_commands(texts: Mapping[str, str], offered: Iterable[str]) -> set[str]:
    """Return what is asked of a mail server: the library's methods, `uid` and `xatom` with their command."""
    found = set[str]()
    for place in _places(texts):
        for call in calls(place.node):
            if isinstance(call.func, ast.Attribute) and call.func.attr in set(offered):
                given = _texts(call.args[0] if call.args else None, place)
                with_command = call.func.attr in {"uid", "xatom", "_simple_command", "_command"}
                found |= {f"{call.func.attr} {one}" for one in given} if with_command else {call.func.attr}
    return found


def imports(texts: Mapping[str, str]) -> set[str]:
    """Return the modules beyond the product that are imported anywhere, by whole name; also by a call."""
    found = set[str]()
    for tree in map(ast.parse, texts.values()):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
                found |= {f"by a call: {ast.unparse(node)}"}
    return {one for one in found if one.split(".")[0] != "orrery"}


def strings(text: str) -> Iterator[str]:
    """Yield each string that is not a docstring."""
    tree = ast.parse(text)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value


def calls(tree: ast.AST) -> list[ast.Call]:
    """Return every call."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _places(texts: Mapping[str, str]) -> Iterator[Place]:
    for text in texts.values():
        yield from places(ast.parse(text))


def _name(node: ast.expr) -> str:
    return ast.unparse(node).rsplit(".", 1)[-1].lower()


def _texts(node: ast.expr | None, place: Place, depth: int = 0) -> set[str]:
    """Return the texts that an expression may be; what is only known later is `{}`."""
    found = set[str]()
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.FormattedValue(value=inner):
            return _texts(inner, place, depth)
        case ast.JoinedStr(values=parts):
            found = {""}
            for part in parts:
                found = {before + one for before in found for one in _texts(part, place, depth)}
            return {re.sub(r"(\{\})+", _ANY, one) for one in found}
        case ast.IfExp(body=one, orelse=other):
            return _texts(one, place, depth) | _texts(other, place, depth)
        case ast.Name() | ast.Call() if depth < _DEEPEST:
            known = (
                _values(node.id, place) if isinstance(node, ast.Name) else _returned(ast.unparse(node.func), place)
            )
            found = {text for value, there in known for text in _texts(value, there, depth + 1)}
        case _:
            pass
    return found or {_ANY}


def _values(name: str, place: Place) -> Iterator[tuple[ast.expr | None, Place]]:
    """Yield what a name is given: in its function, where that is called, or else in its module."""
    function = place.function
    if function is None:
        yield from ((value, place) for node in place.module.body for value in _assigned(name, node))
        return
    inside = [value for node in ast.walk(function) for value in _assigned(name, node)]
    parameters = [one.arg for one in function.args.args if one.arg != "self"]
    if inside:
        yield from ((value, place) for value in inside)
    elif name in parameters:
        for there in places(place.module):
            for call in calls(there.node):
                if ast.unparse(call.func).removeprefix("self.") == function.name:
                    yield _argument(call, name, parameters.index(name)), there
    else:
        yield from _values(name, Place(place.module))


def _assigned(name: str, node: ast.AST) -> Iterator[ast.expr | None]:
    if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
        yield node.value
    if isinstance(node, ast.AnnAssign | ast.NamedExpr) and ast.unparse(node.target) == name:
        yield node.value


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    named = [one.value for one in call.keywords if one.arg == name]
    return next(iter([*named, *call.args[position : position + 1]]), None)


def _returned(function: str, place: Place) -> Iterator[tuple[ast.expr | None, Place]]:
    """Yield what a function of the module returns."""
    for there in places(place.module):
        if there.function and there.function.name == function:
            yield from ((one.value, there) for one in ast.walk(there.function) if isinstance(one, ast.Return))

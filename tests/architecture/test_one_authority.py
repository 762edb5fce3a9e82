"""Every client for the outside is given the owner's authority: one that forgets it is found (decision 0048)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "orrery"

CLIENTS = {
    **dict.fromkeys(("Client", "httpx2.AsyncClient", "httpx2.Client"), "verify"),
    **dict.fromkeys(("httpx2.AsyncHTTPTransport", "httpx2.HTTPTransport"), "verify"),
    "aiosmtplib.SMTP": "tls_context",
    "aiosmtplib.send": "tls_context",
}
"""What opens a connection, and the argument by which it is given a context."""

_VERBS = ("delete", "get", "head", "options", "patch", "post", "put", "request")
SESSIONS = frozenset({"requests.Session", "requests.session", "Session"})
AT_ONCE = frozenset(f"{library}.{verb}" for library in ("httpx2", "requests") for verb in (*_VERBS, "stream"))
OTHERS = {"urlopen", "urllib.request.urlopen", "http.client.HTTPSConnection", "smtplib.SMTP", "smtplib.SMTP_SSL"}
"""What must not be used, for it would be one more way to be given one."""
_OPENS = re.compile(r"httpx2|Client|aiosmtplib|requests|[Ss]ession\(|urlopen|http\.client|smtplib")

ONE_PLACE = "outside.py"
"""Where every web client and every session is made; the import rule `one-way-to-ask` holds the clients."""


def forgetful(text: str) -> Iterator[str]:
    """Yield the calls that open a connection without the owner's authority, `line: what`."""
    calls = _calls(text) if _OPENS.search(text) else []  # to read every module takes seconds
    bounds = sum(name == "_bound" and _is_given(node, "context", 2) for name, node in calls)
    for name, node in calls:
        if name in AT_ONCE | OTHERS:
            yield f"{node.lineno}: {name}"
        if name in CLIENTS and not _is_given(node, CLIENTS[name]):
            yield f"{node.lineno}: {name} without {CLIENTS[name]}"
        if name in SESSIONS:
            bounds -= 1
            if bounds < 0:
                yield f"{node.lineno}: {name} that is not bound with a context"


def unwired(text: str, adapters: set[str]) -> Iterator[str]:
    """Yield the adapters that are made without a `Trust`."""
    for name, node in _calls(text) if any(one in text for one in adapters) else []:
        if name in adapters and not any("trust" in ast.unparse(one) for one in _arguments(node)):
            yield f"{node.lineno}: {name} without trust"


def _calls(text: str) -> list[tuple[str, ast.Call]]:
    """Return each call with what is called."""
    return [(ast.unparse(node.func), node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(one.value for one in node.keywords)]


def _is_given(node: ast.Call, argument: str, position: int | None = None) -> bool:
    named = [one.value for one in node.keywords if one.arg == argument]
    placed = node.args[position : position + 1] if position is not None else []
    return any("trust." in ast.unparse(one) for one in (*named, *placed))


def takers() -> set[str]:
    """Return the classes of adapters that take a `Trust`."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (SOURCE / "adapters").rglob("*.py")]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    return {one.name for one in classes if not one.name.startswith("_") and "trust: Trust" in ast.unparse(one)}


def sources() -> dict[str, str]:
    """Return the text of every module by its path."""
    return {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}


def test_no_client_forgets_it() -> None:
    """Each client in the source takes its TLS from a `Trust`; the stand-in's own may take the well-known one."""
    own = {
        path: text.replace("WELL_KNOWN.", "trust.")
        for path, text in sources().items()
        if path.startswith("sandbox/")
    }
    found = {path: list(forgetful(text)) for path, text in (sources() | own).items()}
    assert {path: what for path, what in found.items() if what} == {}


def test_sessions_are_made_in_one_place() -> None:
    """A vendor's library that asks by `requests` is given the one kind of session."""
    made = {path for path, text in sources().items() for name, _ in _calls(text) if name in SESSIONS}
    assert made == {ONE_PLACE}


def test_no_adapter_is_made_without_it() -> None:
    """Wherever the product makes an adapter that asks outside, it hands the deployment's `Trust` over."""
    adapters = takers()
    assert len(adapters) > 10, adapters
    outside = {path: list(unwired(text, adapters)) for path, text in sources().items() if "sqlite" not in path}
    assert {path: what for path, what in outside.items() if what} == {}

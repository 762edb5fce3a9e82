"""What is used of uvicorn's private parts is as it was when `edge/uvicorn_protocol.py` was written."""

import ast
import inspect
import re
from hashlib import sha256
from pathlib import Path

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from orrery.edge import uvicorn_protocol
from tests.support.tables import each_case

CLASSES = {"protocol": HttpToolsProtocol, "cycle": RequestResponseCycle, "flow": FlowControl}

METHODS = {
    "protocol.__init__": "4f0899941034",
    "protocol._start_asgi_task": "9c08c2571ae9",
    "protocol.connection_lost": "c91a4c9bf2e2",
    "protocol.connection_made": "6efb565ff3d3",
    "protocol.data_received": "010a7ae59a5d",
    "protocol.on_headers_complete": "1ea8589acfad",
    "protocol.on_message_begin": "96d377fdc7c2",
    "protocol.on_message_complete": "1fbad42dc31f",
    "protocol.on_response_complete": "64e254f28e38",
    "protocol.send_400_response": "ae5a4a3782b6",
    "cycle.__init__": "4d2f220910c3",
    "flow.__init__": "0152d94a0407",
}
"""The methods that are extended, and in which what is used is set, each with a digest of its source."""

REPLACED = {"cycle.send": "abdd8601b326"}
"""What an answer in one write does without: everything that it does is done there, too."""

ATTRIBUTES = {
    *("protocol.connections", "protocol.cycle", "protocol.flow", "protocol.headers", "protocol.loop"),
    *("protocol.pipeline", "protocol.server_state", "protocol.transport", "protocol.url"),
    *("cycle.body", "cycle.default_headers", "cycle.disconnected", "cycle.flow", "cycle.keep_alive"),
    *("cycle.message_event", "cycle.on_response", "cycle.response_complete", "cycle.response_started"),
    *("cycle.transport", "cycle.waiting_for_100_continue", "flow.write_paused"),
}


def members(kind: type) -> set[str]:
    """Return what a class of uvicorn defines, or sets on itself."""
    return {*vars(kind), *re.findall(r"self\.(\w+)(?:: .*)? = ", inspect.getsource(kind))}


def used() -> set[str]:
    """Return every name that our file takes of an object or defines in its classes."""
    tree = ast.parse(Path(uvicorn_protocol.__file__).read_text(encoding="utf-8"))
    taken = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return taken | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_private_thing_is_named() -> None:
    """What our file uses is in these tables, and uvicorn still has it."""
    found = {f"{name}.{member}" for name, kind in CLASSES.items() for member in members(kind) & used()}
    assert found == ATTRIBUTES | set(METHODS)
    assert STATUS_LINE[431] == b"HTTP/1.1 431 Request Header Fields Too Large\r\n"


@each_case(("method", "digest"), (METHODS | REPLACED).items())
def test_a_private_method_is_the_one_that_was_read(method: str, digest: str) -> None:
    """A new version of uvicorn that changes one is read beside our file; then its digest is written here."""
    name, _, member = method.partition(".")
    source = inspect.getsource(vars(CLASSES[name])[member])
    assert sha256(source.encode()).hexdigest()[:12] == digest


def test_nothing_else_reaches_into_the_server() -> None:
    """No other file of the package imports a part of uvicorn: its documented names stand in `uvicorn` itself."""
    package, reaching = Path(uvicorn_protocol.__file__).parents[1], re.compile(r"(from|import) uvicorn\.")
    files = [file.name for file in package.rglob("*.py") if reaching.search(file.read_text("utf-8"))]
    assert files == ["uvicorn_protocol.py"]

"""The cockpit cannot send: each lock, and that one who adds a way to send is found (decision 36)."""

import imaplib
import re

import pytest

from orrery.adapters.microsoft_mailbox.client import GraphSession
from orrery.sandbox.graph.api import OPERATIONS, SENDS
from orrery.tenants.scopes import not_allowed
from tests.architecture.sending_walk import (
    ROOMS,
    SOURCE,
    adapters,
    clients,
    http_calls,
    imports,
    mail_commands,
    modules,
    strings,
)
from tests.support.tables import each_case

GRAPH = "adapters/microsoft_mailbox"
IMAP = "adapters/imap_mailbox"

NEXT_PAGE = "FOLLOW {}"
"""An address that Graph gave for the next page: asked for by GET."""

GRAPH_CALLS = {
    "GET /me",
    "GET /me/chats",
    "GET /me/calendarView",
    "GET /me/events/{}",
    "GET /me/messages/{}",
    "GET /me/mailFolders/drafts/messages",
    "GET /me/mailFolders/{}/messages",
    "GET /me/mailFolders/{}/messages/delta",
    "GET /chats/{}/messages/{}",
    NEXT_PAGE,
    "GET /me/todo/lists",
    "GET /me/todo/lists/{}/tasks",
    "POST /me/todo/lists",
    "POST /me/todo/lists/{}/tasks",
    "PATCH /me/todo/lists/{}/tasks/{}",
    "POST /me/messages",
    "GET /me/messages/{}/attachments",
    "POST /me/messages/{}/createReply",
    "POST /me/messages/{}/createReplyAll",
    "PATCH /me/messages/{}",
}
"""All that is asked of Microsoft Graph. Those that POST make drafts and tasks."""

MAIL_COMMANDS = {
    *("login", "authenticate", "capability", "response", "logout", "shutdown", "xatom STARTTLS"),
    *("select", "status", "list", "append", "uid SEARCH", "uid FETCH", "uid STORE", "uid EXPUNGE"),
    *("close", "search"),  # of a socket and a pattern, which look the same from here
}
"""All that is asked of a mail server; `append` is to the folder for drafts alone."""

LIBRARIES = {
    *(
        "asyncio",
        "base64",
        "binascii",
        "errno",
        "hashlib",
        "heapq",
        "html",
        "io",
        "itertools",
        "json",
        "json.encoder",
        "os",
        "re",
    ),
    *(
        "secrets",
        "signal",
        "socket",
        "ssl",
        "sys",
        "tempfile",
        "threading",
        "time",
        "traceback",
        "tomllib",
        "webbrowser",
    ),
    *(
        "collections",
        "collections.abc",
        "concurrent.futures",
        "contextlib",
        "dataclasses",
        "datetime",
        "functools",
        "http",
    ),
    *("importlib.resources", "importlib.resources.abc", "pathlib", "typing", "urllib.parse"),
    *("email", "email.errors", "email.header", "email.mime.text", "email.policy", "email.utils", "imaplib"),
    *("cachetools", "fastapi", "fastapi.responses", "httpx2", "pydantic", "pydantic.alias_generators"),
    *("quopri", "bisect", "zoneinfo", "selectolax.lexbor", "typer", "uvicorn", "uvloop", "_typeshed"),
}
"""What the cockpit and its adapters import. None of it can send mail, but for an HTTP client that is asked to."""

SENDING = re.compile(
    r"send_?mail|/send\b|/reply(all)?\b|/forward\b|/accept\b|/decline\b|/invite\b|smtp|submission|sendmessage"
    r"|\.send\b|mail from:|rcpt to:",
    re.IGNORECASE,
)
"""Words of a call, a command or a scope that sends."""

PAGE_CALLS = {
    *(
        "/api/session",
        "/api/health",
        "/api/comms/rows",
        "/api/comms/message-body",
        "/api/comms/message-head",
        "/api/comms/draft-reply",
    ),
    *("/api/comms/add-to-tasks", "/api/comms/set-aside", "/api/comms/sign-in", "/api/action-hub/action"),
}

SCOPES = {one.call: one.right for one in OPERATIONS}
SCOPES_NAMED = re.compile(r"^#?\s*scopes = (\[.*\])", re.MULTILINE)
ROOT = SOURCE.parents[1]


def everything() -> dict[str, str]:
    """Return every module of the cockpit and its adapters."""
    return modules(*ROOMS, *adapters())


def scripts() -> dict[str, str]:
    """Return the scripts of the page."""
    return {one.name: one.read_text(encoding="utf-8") for one in (SOURCE / "web" / "cockpit").glob("*.js")}


def methods(kind: type) -> set[str]:
    """Return the public methods of a class."""
    return {name for name in vars(kind) if not name.startswith("_")}


def test_what_is_asked_of_graph() -> None:
    """The adapter has these calls and no other; none of them is one by which Graph sends."""
    assert http_calls(modules(GRAPH)) == GRAPH_CALLS
    assert not {re.sub(r"\{\w+\}", "{}", one) for one in SENDS} & GRAPH_CALLS


def test_every_call_goes_through_the_session() -> None:
    """Its session can GET, POST, PATCH and follow a link by GET; no HTTP client is used anywhere else."""
    assert methods(GraphSession) == {"get", "follow", "post", "patch"}
    assert clients(everything()) == {
        f"{GRAPH}/client.py: self._http.build_request",
        f"{GRAPH}/client.py: self._http.send",
    }


def test_what_is_asked_of_a_mail_server() -> None:
    """The adapter uses these commands of the library and no other."""
    offered = {name for name in dir(imaplib.IMAP4) if not name.startswith("__")}
    own = {"open", "read", "readline", "send"}
    assert mail_commands(modules(IMAP), offered - own) == MAIL_COMMANDS


def test_what_is_imported() -> None:
    """The cockpit and its adapters import nothing else: a library that can send would be one more."""
    assert imports(everything()) <= LIBRARIES


def test_no_word_of_sending() -> None:
    """No string of the cockpit and its adapters, and nothing in its page's scripts, names a way to send."""
    found = {path: [one for one in strings(text) if SENDING.search(one)] for path, text in everything().items()}
    assert {path: what for path, what in found.items() if what} == {}
    assert {name: SENDING.findall(text) for name, text in scripts().items() if SENDING.search(text)} == {}


def test_what_the_page_asks() -> None:
    """The page asks the cockpit for these and nothing else, by one function."""
    asked = {path for text in scripts().values() for path in re.findall(r"[\"'`](/[\w/-]+)", text)}
    assert asked == PAGE_CALLS
    doors = re.compile(r"\bfetch\(|XMLHttpRequest|sendBeacon|WebSocket|EventSource|mailto:|\.submit\(|\bimport\(")
    assert {name: doors.findall(text) for name, text in scripts().items() if doors.search(text)} == {
        "server.js": ["fetch("]
    }


@each_case("call", sorted(SENDS))
def test_a_permission_that_sends_is_refused(call: str) -> None:
    """Whatever permission a sending call takes: it is asked for by nobody, and a token that has it is refused."""
    assert not_allowed(SCOPES[call]) == sorted(SCOPES[call])


def test_the_permissions_that_are_named() -> None:
    """What the documents and the first settings tell an owner to ask for is allowed."""
    places = [*(ROOT / "docs").rglob("*.md"), *SOURCE.rglob("*.toml")]
    found = {one: SCOPES_NAMED.findall(one.read_text(encoding="utf-8")) for one in places}
    named = {scope for lists in found.values() for text in lists for scope in re.findall(r'"([^"]+)"', text)}
    assert "Mail.ReadWrite" in named
    assert not_allowed(named) == []


PLANTED = {
    'session.post("/me/sendMail", body)': "POST /me/sendMail",
    'self.session.post(f"{path}/send", {})': "POST {}/send",
    'self.session.post(f"/me/messages/{one}/reply", {})': "POST /me/messages/{}/reply",
    'name = "forward"\nsession.post(f"/me/messages/{one}/{name}", {})': "POST /me/messages/{}/forward",
    'session.post(f"/chats/{chat}/messages", {})': "POST /chats/{}/messages",
    'session.post(f"/me/events/{one}/accept", {})': "POST /me/events/{}/accept",
    "session.post(link, {})": "POST {}",
    'graph_session.put("/me/messages/1")': "PUT /me/messages/1",
}


@each_case(("line", "call"), PLANTED.items())
def test_a_call_that_is_added_is_found(line: str, call: str) -> None:
    """Whatever way its path is written."""
    assert http_calls({"added.py": line}) == {call}
    assert call not in GRAPH_CALLS


@pytest.mark.parametrize(
    "line",
    [
        "http.post(url)",
        "httpx2.AsyncClient().request('POST', url)",
        "client.stream('POST', url)",
        "sock.send(data)",
    ],
)
def test_a_client_that_is_added_is_found(line: str) -> None:
    """One that does not go through the session, too."""
    assert clients({"added.py": line})


@pytest.mark.parametrize(
    "line", ["connection.uid('COPY', uid, 'x')", "connection.xatom('XSEND')", "client.copy(1, x)"]
)
def test_a_command_that_is_added_is_found(line: str) -> None:
    """A command of a mail server that is not in the table."""
    assert not mail_commands({"added.py": line}, dir(imaplib.IMAP4)) <= MAIL_COMMANDS


@pytest.mark.parametrize(
    "line",
    ["import smtplib", "from aiosmtplib import send", "def f():\n    import smtplib", "import_module('smtplib')"],
)
def test_a_library_that_is_added_is_found(line: str) -> None:
    """Wherever it is imported."""
    assert not imports({"added.py": line}) <= LIBRARIES

"""No secret and nothing personal reaches a log line, no matter who wrote it."""

import contextvars
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from traceback import format_exception
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.logs import HIDDEN, EventFormatter, EventHandler, LogEvent, Redaction, event_of, refer_to_sessions
from orrery.runtime.references import References
from tests.log_speaker import SECRETS, fail
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

SPEAKER = Path(__file__).with_name("log_speaker.py")
SECRET = "marked-value-0x5eed"  # noqa: S105  a test's own text
REDACTION = Redaction([SECRET])
REFERENCES = References.of_store(b"k" * 32)


def redacted(redaction: Redaction = REDACTION, /, **event: object) -> LogEvent:
    """Return an event as it is handed to the renderer."""
    return redaction(event)


@each_case(
    ("text", "shown"),
    [
        (SECRET, HIDDEN),
        (f"a {SECRET} b", f"a {HIDDEN} b"),
        (f"{SECRET}{SECRET}", HIDDEN * 2),
        (f"https://u:{SECRET}@host", f"https://u:{HIDDEN}@host"),
        (f"x{SECRET.upper()}", f"x{SECRET.upper()}"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
def test_by_value(text: str, shown: str) -> None:
    """A registered secret is hidden wherever it stands in a text, and nothing else."""
    assert redacted(event=text) == {"event": shown}


@each_case(
    "shape",
    [
        "sk_live_abc123",
        "sk_test_abc",
        "rk_live_abc",
        "rk_test_abc",
        "whsec_abc123",
        "Bearer abc.def-ghi",
        "bearer   abc",
        "Basic dXNlcjpwYXNz",
        "ann@example.org",
        "Ann.Other+tag@sub.Example.co.uk",
        "jürgen@exämple.org",
    ],
)
def test_by_shape(shape: str) -> None:
    """What looks like a key, credentials or an e-mail address is hidden though nobody registered it."""
    for text in (shape, f"before {shape} after", f'{{"a": "{shape}"}}', f"({shape})", f"'{shape}'"):
        shown = str(redacted(event=text)["event"])
        assert HIDDEN in shown
        assert shape.rpartition(" ")[2] not in shown


@each_case(
    "text",
    [
        "evt_1",
        "price_sandbox",
        "task_live_1",
        "a basic idea",
        "12:30 @ noon",
        "user@host",
        "@example.org",
    ],
)
def test_innocent_texts(text: str) -> None:
    """Ids and plain words stay readable."""
    assert redacted(event=text) == {"event": text}


def test_session_ids() -> None:
    """A session id is hidden until the store's key is known; from then on its reference stands in its place."""
    text = "Session cs_test_a1b2: access:cs_live_Zz9"
    context = contextvars.Context()  # another test may have left its store's key in this one
    hidden = context.run(redacted, session="cs_test_a1b2", event=text)
    assert hidden["event"] == f"Session {HIDDEN}: access:{HIDDEN}"
    context.run(refer_to_sessions, REFERENCES.within)
    shown = context.run(redacted, session="cs_test_a1b2", event=text)
    first, second = REFERENCES.of("cs_test_a1b2"), REFERENCES.of("cs_live_Zz9")
    assert shown == {"session": first, "event": f"Session {first}: access:{second}"}


@each_case(
    "name",
    [
        "secret",
        "webhook_signing_secret",
        "token",
        "access_token",
        "password",
        "api_key",
        "apikey",
        "API_KEY",
        "Authorization",
        "email",
        "mail",
        "buyer_email",
        "client_address",
    ],
)
def test_by_name(name: str) -> None:
    """A field that is named after something secret or personal is hidden whatever it holds, at any depth."""
    for value in ("x", 7, None, ["x"], {"a": "x"}):
        assert redacted(REDACTION, **{name: value}) == {name: HIDDEN}
        assert redacted(outer=[{name: value}]) == {"outer": [{name: HIDDEN}]}


@each_case("name", ["session", "event_id", "status", "address", "id", "channel"])
def test_innocent_names(name: str) -> None:
    """Other fields keep their values."""
    assert redacted(REDACTION, **{name: "x"}) == {name: "x"}


def test_plain_values_keep_their_kind() -> None:
    """Numbers, truth values and nothing stay what they are."""
    event = {"a": 1, "b": 0.5, "c": True, "d": None, "e": [1, [2]], "f": {"g": 3}}
    assert redacted(REDACTION, **event) == event


@pytest.mark.parametrize("number", [98765432101, 1298765432101.0, -98765432101])
def test_a_secret_of_digits(number: float) -> None:
    """A secret that is a number is hidden when it is logged as one."""
    assert str(98765432101) not in str(redacted(Redaction(["98765432101"]), event=number)["event"])


def test_no_empty_secret_hides_everything() -> None:
    """An empty text among the secrets hides nothing."""
    assert redacted(Redaction(["", SECRET]), event="abc") == {"event": "abc"}


def test_one_secret_within_another() -> None:
    """A secret that contains another is hidden as a whole."""
    redaction = Redaction(["marked-value", "marked-value-longer"])
    assert redacted(redaction, event="marked-value-longer") == {"event": HIDDEN}


def test_a_long_text_takes_no_time() -> None:
    """A text of a megabyte without a blank, as a stranger may send it, is looked through in one go."""
    assert redacted(event="a" * 1_000_000)["event"] == "a" * 1_000_000
    assert redacted(event="a-" * 500_000)["event"] == "a-" * 500_000


class Shown:
    """Something unknown that shows what it holds when it is printed."""

    def __init__(self, held: object) -> None:
        self.held = held

    def __repr__(self) -> str:
        return f"Shown({self.held!r})"


def traceback_of(secret: str) -> str:
    """Return a trace-back that holds a secret in text, arguments and cause."""
    try:
        fail(secret)
    except ValueError as error:
        return "".join(format_exception(error))


PLACES: dict[str, Callable[[str], object]] = {
    "itself": lambda secret: secret,
    "in text": lambda secret: f"before {secret} after",
    "in a list": lambda secret: ["x", [secret]],
    "in a tuple": lambda secret: ("x", (secret,)),
    "in a set": lambda secret: {frozenset({secret})},
    "as a value": lambda secret: {"a": {"b": secret}},
    "as a key": lambda secret: {"a": {secret: "b"}},
    "as bytes": lambda secret: secret.encode(),
    "in an object": Shown,
    "in objects": lambda secret: Shown([Shown(secret.encode())]),
    "in an error": ValueError,
    "in an error's arguments": lambda secret: ValueError("x", {"a": secret}),
    "in a group of errors": lambda secret: ExceptionGroup("x", [KeyError(secret)]),
    "in a trace-back": traceback_of,
    "printed": lambda secret: repr({"a": secret}),
    "printed with both quotes": lambda secret: repr(f'"it\'s" {secret}'),
    "as JSON": lambda secret: json.dumps({"a": secret}),
    "as JSON with letters": lambda secret: json.dumps({"a": secret}, ensure_ascii=False),
    "in an address": lambda secret: f"https://x.example/?key={quote(secret, safe='')}",
}

letters = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"])
secret_texts = st.text(letters | st.sampled_from("'\"\\ %/"), min_size=8, max_size=30)


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=40)
@given(secret=secret_texts)
def test_a_secret_never_survives(place: str, secret: str) -> None:
    """Wherever a registered secret is placed in an event, the line holds neither it nor a spelling of it."""
    if secret in HIDDEN or secret in f"before {HIDDEN} after x.example":
        return
    shown = redacted(Redaction([secret]), event="x", found=PLACES[place](secret))
    line = json.dumps(shown, ensure_ascii=False)
    texts = [line, str(json.loads(line)["found"])]
    for spelling in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe="")):
        assert all(spelling not in text for text in texts)


@pytest.fixture(scope="module", params=["json", "console"])
def spoken(request: pytest.FixtureRequest) -> list[str]:
    """Return the lines of a program that logs its secrets in every way, and crashes."""
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, str(SPEAKER), request.param, "crash"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_nothing_secret_is_printed(spoken: list[str]) -> None:
    """Our loggers, libraries' loggers, warnings, threads, destructors and a crash print no secret."""
    text = "\n".join(spoken)
    for secret in SECRETS:
        assert secret not in text
        assert repr(secret)[1:-1] not in text
    assert "marked" not in text


@each_case(
    "said",
    [
        "begin",
        "event",
        "a warning about",
        "Traceback",
        "KeyError",
        "a note on",
        "failed",
        "could not be written",
        "crashed",
        "end",
    ],
)
def test_the_rest_is_printed(spoken: list[str], said: str) -> None:
    """What is not secret can be read: messages, warnings, trace-backs and crashes."""
    assert any(said in line for line in spoken)


def test_every_line_is_json() -> None:
    """In JSON every line, a library's and a crash's too, is one object with time, level and event."""
    done = subprocess.run(  # noqa: S603  our own program
        [sys.executable, str(SPEAKER), "json", "crash"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert all({"timestamp", "level", "event"} <= set(line) for line in lines)
    assert lines[0] | {"timestamp": ""} == {
        "event": "begin",
        "level": "info",
        "number": 7,
        "share": 0.5,
        "nothing": None,
        "yes": True,
        "timestamp": "",
    }
    unwritten = [line for line in lines if line["event"] == "a log record could not be written"]
    assert [(line["logger"], line["error"]) for line in unwritten] == [
        ("orrery", "ValueError"),
        ("library", "TypeError"),
    ] * len(SECRETS)
    assert lines[-2]["event"] == "crashed"
    assert lines[-1]["event"] == "Orrery ended by an error in its code: ValueError, traced above."
    assert lines[-1]["level"] == logging.getLevelName(logging.CRITICAL).lower()


def test_a_library_s_record() -> None:
    """Whatever a library names its extra fields, they are kept, as the stack is; no error is not told as one."""
    given = {"msg": "said", "fields": "any", "stack_info": "Stack", "exc_info": (None, None, None)}
    event = event_of(logging.makeLogRecord({**given, "levelname": "INFO", "created": 0}))
    assert event == {
        "event": "said",
        "level": "info",
        "timestamp": "1970-01-01T00:00:00.000000Z",
        "fields": "any",
        "stack_info": "Stack",
    }


def test_a_field_that_contains_itself() -> None:
    """The line says that it could not be written; whoever logs goes on."""
    stream, endless = StringIO(), list[object]()
    endless.append({"again": endless})
    handler = EventHandler(stream)
    handler.setFormatter(EventFormatter(json.dumps, REDACTION))
    handler.handle(logging.makeLogRecord({"msg": "said", "found": endless}))
    assert json.loads(stream.getvalue())["event"] == "a log record could not be written"


def test_a_stream_that_is_closed() -> None:
    """Where nothing can be written any more, who logs goes on."""
    closed = StringIO()
    closed.close()
    handler = EventHandler(closed)
    handler.setFormatter(EventFormatter(json.dumps, REDACTION))
    handler.handle(logging.makeLogRecord({"msg": "said"}))

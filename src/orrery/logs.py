"""Logging: JSON for machines, colour for people, one redaction for both.

No secret, no personal data and no session id reaches a log line, whether it is an event of ours, a library's
record or a traceback. The reference of a session replaces its id (decision 46).
"""

import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, TextIO, cast
from urllib.parse import quote, quote_plus

from orrery.syntax.session_id import SESSION_ID

LogEvent = dict[str, object]
"""The fields of a line, by their names."""


_FIELDS = "_orrery_fields"
"""Where a record of ours keeps its fields; a library's record may have extra ones of every other name."""


class EventLog(logging.LoggerAdapter[logging.Logger]):
    """Logs events with fields: `log.info("session created", product="example-101")`."""

    def process(self, msg: object, kwargs: MutableMapping[str, Any]) -> tuple[object, MutableMapping[str, Any]]:
        error = kwargs.pop("exc_info", None)
        return msg, {"exc_info": error, "extra": {_FIELDS: kwargs}}


log = EventLog(logging.getLogger("orrery"))
"""The log of the whole package."""

HIDDEN = "[hidden]"

_PATTERNS = re.compile(
    r"\b[sr]k_(?:live|test)_\w+|\bwhsec_\w+|(?i:\bbearer\s+)[^\s\"']+|(?i:\bbasic\s+)[\w+/=]{8,}"
    r"|(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+"
)
_REFERRING: ContextVar[Callable[[str], str]] = ContextVar("referring")
"""Replaces session ids with references. Until the store with their key is open, ids are hidden."""

_NAMES = re.compile(r"secret|token|password|api_?key|authorization|e?mail$|client_address", re.IGNORECASE)


class Redaction:
    """Hides secrets by value, by shape and by field name, and session ids by shape."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        spellings = {spelling for value in values if value for spelling in _spellings(value)}
        self._values = sorted(spellings, key=len, reverse=True)

    def __call__(self, event: Mapping[str, object]) -> LogEvent:
        """Return the event with everything secret or personal hidden."""
        return {
            self.text(name): HIDDEN if _NAMES.search(name) else self.hide(value) for name, value in event.items()
        }

    def hide(self, value: object) -> object:
        """Return `value` with hidden parts; containers are walked, unknown objects become their text."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self({str(name): one for name, one in cast("Mapping[object, object]", value).items()})
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.hide(one) for one in cast("Iterable[object]", value)]
        shown = str(value)
        hidden = self.text(shown)
        return value if shown == hidden and isinstance(value, (int, float, type(None))) else hidden

    def text(self, text: str) -> str:
        """Return `text` with hidden parts."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        return _REFERRING.get(_without_sessions)(_PATTERNS.sub(HIDDEN, text))


def _spellings(value: str) -> set[str]:
    """Return a secret as it is, and as it looks inside what Python, JSON and web addresses print."""
    doubled = value.replace("\\", "\\\\")
    quoted = {doubled, doubled.replace("'", "\\'"), doubled.replace('"', '\\"')}
    printed = {repr(value)[1:-1], ascii(value)[1:-1], repr(value.encode())[2:-1], json.dumps(value)[1:-1]}
    return {value, *quoted, *printed, quote(value), quote(value, safe=""), quote_plus(value)}


def _without_sessions(text: str) -> str:
    return SESSION_ID.sub(HIDDEN, text)


def refer_to_sessions(within: Callable[[str], str]) -> None:
    """Let `within` put references in the place of session ids, in this task and in those that it starts."""
    _ = _REFERRING.set(within)


_OF_EACH_RECORD = {*vars(logging.makeLogRecord({})), "message", "asctime"}


def event_of(record: logging.LogRecord) -> LogEvent:
    """Return the fields of a record, a library's extra ones among them."""
    more = {name: value for name, value in vars(record).items() if name not in _OF_EACH_RECORD}
    event: LogEvent = {**more.pop(_FIELDS, {}), **more, "event": record.getMessage()}
    event["level"] = record.levelname.lower()
    event["timestamp"] = f"{datetime.fromtimestamp(record.created, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    if record.stack_info:
        event["stack_info"] = record.stack_info
    if record.exc_info and record.exc_info[0]:  # a library may ask for an error that was not raised
        event["exception"] = logging.Formatter().formatException(record.exc_info)
    return event


class EventFormatter(logging.Formatter):
    """Writes a record as the line of its redacted event."""

    def __init__(self, line: Callable[[LogEvent], str], redaction: Redaction) -> None:
        super().__init__()
        self._line = line
        self._redaction = redaction

    def format(self, record: logging.LogRecord) -> str:
        try:
            return self._line(self._redaction(event_of(record)))
        except RecursionError:  # logging would raise it where the line was written
            raise ValueError("a field contains itself") from None


class EventHandler(logging.StreamHandler[TextIO]):
    """Writes events to standard error."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name is logging's
        """Say that a record could not be written, without its words: Python's own report has them unredacted."""
        kind = sys.exc_info()[0]
        fields = {"logger": record.name, "error": kind and kind.__name__}
        said = {"levelname": "ERROR", "msg": "a log record could not be written", _FIELDS: fields}
        with suppress(OSError, ValueError):  # the stream is broken or closed
            _ = self.stream.write(self.format(logging.makeLogRecord(said)) + self.terminator)
            self.flush()


_PLAIN, _BRIGHT, _DIM, _RED, _CYAN = (f"\x1b[{number}m" for number in (0, 1, 2, 31, 36))
_COLOURS = {"debug": "\x1b[32m", "info": "\x1b[32m", "warning": "\x1b[33m"}


def _in_colour(event: LogEvent) -> str:
    time, level, said, error = (str(event.pop(name, "")) for name in ("timestamp", "level", "event", "exception"))
    head = f"{_DIM}{time}{_PLAIN} [{_COLOURS.get(level, _RED)}{level:<8}{_PLAIN}] {_BRIGHT}{said:<30}{_PLAIN}"
    fields = "".join(f" {_CYAN}{name}{_PLAIN}={_quoted(value)}" for name, value in event.items())
    return f"{head}{fields}\n{error}" if error else head + fields


def _quoted(value: object) -> str:
    """Return a word as it is, and anything else as Python writes it."""
    is_word = isinstance(value, str) and value.isprintable() and re.fullmatch(r"[^\s\"'=]+", value)
    return str(value) if is_word else repr(value)


def configure(form: Literal["auto", "json", "console"], level: str, redaction: Redaction) -> None:
    """Send every log line of the process to standard error, redacted."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    handler = EventHandler(sys.stderr)
    handler.setFormatter(EventFormatter(_in_colour if console else json.dumps, redaction))
    chosen = logging.getLevelNamesMapping()[level.upper()]
    # Libraries speak from warnings on: below, the processor's quotes a part of a refused key, and whole bodies.
    logging.basicConfig(handlers=[handler], level=max(chosen, logging.WARNING), force=True)
    logging.getLogger("orrery").setLevel(chosen)
    logging.captureWarnings(capture=True)
    sys.excepthook = _end_with_sentence
    threading.excepthook = lambda crash: _log_crash(crash.exc_type, crash.exc_value)
    sys.unraisablehook = lambda crash: _log_crash(crash.exc_type, crash.exc_value)


def _end_with_sentence(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Log what ended the process; the sentence comes last, and the trace is for who looks for the fault."""
    _log_crash(kind, error)
    if not issubclass(kind, KeyboardInterrupt | SystemExit):
        when = "".join(f" {note}" for note in getattr(error, "__notes__", ()) if note.startswith("while "))
        sentence = f"Orrery ended by an error in its code{when}: {kind.__name__}, traced above."
        log.critical(sentence)


def _log_crash(kind: type[BaseException], error: BaseException | None) -> None:
    if not issubclass(kind, KeyboardInterrupt | SystemExit):
        log.critical("crashed", exc_info=error)

"""Logging: JSON for machines, colour for people, one redaction for both.

No secret, no personal data and no session id reaches a log line, whether it is an event of ours, a library's
record or a traceback. The reference of a session replaces its id (decision 46).
"""

import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import Literal, cast
from urllib.parse import quote, quote_plus

import structlog
from structlog.typing import EventDict, WrappedLogger

from orrery.runtime.references import SESSION_ID

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

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """Return the event with everything secret or personal hidden: a structlog processor."""
        return {
            self.text(name): HIDDEN if _NAMES.search(name) else self.hide(value) for name, value in event.items()
        }

    def hide(self, value: object) -> object:
        """Return `value` with hidden parts; containers are walked, unknown objects become their text."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self(None, "", {str(name): one for name, one in cast("Mapping[object, object]", value).items()})
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


def configure(form: Literal["auto", "json", "console"], level: str, redaction: Redaction) -> None:
    """Send every log line of the process to standard error, redacted."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        redaction,
    ]
    renderer = structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    chosen = logging.getLevelNamesMapping()[level.upper()]
    # Libraries speak from warnings on: below, the processor's quotes a part of a refused key, and whole bodies.
    logging.basicConfig(handlers=[handler], level=max(chosen, logging.WARNING), force=True)
    logging.getLogger("orrery").setLevel(chosen)
    logging.captureWarnings(capture=True)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(chosen),
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    sys.excepthook = _end_with_sentence
    threading.excepthook = lambda crash: _log_crash(crash.exc_type, crash.exc_value, crash.exc_traceback)
    sys.unraisablehook = lambda crash: _log_crash(crash.exc_type, crash.exc_value, crash.exc_traceback)


def _end_with_sentence(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Log what ended the process; the sentence comes last, and the trace is for who looks for the fault."""
    _log_crash(kind, error, trace)
    if not issubclass(kind, KeyboardInterrupt | SystemExit):
        when = "".join(f" {note}" for note in getattr(error, "__notes__", ()) if note.startswith("while "))
        sentence = f"Orrery ended by an error in its code{when}: {kind.__name__}, traced above."
        structlog.get_logger().critical(sentence)


def _log_crash(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt | SystemExit):
        return
    structlog.get_logger().critical("crashed", exc_info=(kind, error, trace))

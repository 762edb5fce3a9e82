"""The key to a local page: one token a process, and single-use codes that are exchanged for it (decision 37).

A code travels in a link, which browsers keep in their history and processes show in their arguments: it opens the
page once, within a minute. The token travels in a header only, and opens nothing once the process has ended.
"""

import hmac
import secrets

from orrery.ports.clock import Clock

CODE_SECONDS = 60.0
"""How long a code may be exchanged (decision 37)."""

_BYTES = 32


class Launch:
    """The token of this process, and the one code that is good at the moment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._token = secrets.token_urlsafe(_BYTES)
        self._code = ""
        self._until = 0.0

    def new_code(self) -> str:
        """Return a code for a link; the one before opens nothing from now on."""
        self._code, self._until = secrets.token_urlsafe(_BYTES), self._clock.monotonic() + CODE_SECONDS
        return self._code

    def exchange(self, code: str) -> str | None:
        """Return the token for the code, once; None when it is used, too old or another one."""
        if not self._code or not _same(code, self._code):
            return None
        in_time = self._clock.monotonic() < self._until
        self._code = ""
        return self._token if in_time else None

    def is_token(self, given: bytes | None) -> bool:
        """Return whether this is the token, in constant time."""
        return given is not None and hmac.compare_digest(given, self._token.encode())


def _same(given: str, code: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), code.encode())

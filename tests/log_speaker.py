"""A program that logs marked secrets in every way there is: `log_speaker.py FORM [CRASH]`."""

import gc
import logging
import sys
import threading
import warnings
from pathlib import Path
from typing import NoReturn

from orrery.logs import Redaction, configure, log

SECRETS = ["marked-token-0x5eed", "marked pass phrase", "marked\\back'slash\"quote", "marked-žluť", "98765432101"]
"""The secrets: of one word, of several, of signs that are escaped, of letters that are, of digits."""


class Holder:
    """Something that shows a secret when it is printed."""

    def __repr__(self) -> str:
        return f"Holder({SECRETS[0]})"

    def __del__(self) -> None:
        raise ValueError(SECRETS[0])


class Unprintable:
    """Something that cannot be printed, and whose error shows a secret."""

    def __repr__(self) -> str:
        raise ValueError(SECRETS[0])


def fail(secret: str) -> NoReturn:
    """Raise an error that holds the secret in its text, its arguments, its note and its cause."""
    error = ValueError(f"no {secret}", {"deep": [secret]})
    error.add_note(f"a note on {secret}")
    raise error from KeyError(secret)


def speak(secret: str) -> None:
    """Log the secret by our logger and by a library's, as text, argument, field and error."""
    theirs = logging.getLogger("library")
    log.info(f"event {secret}", plain=secret, nested={"a": [{secret: secret}], "b": (secret, {secret})})  # noqa: G004  what must not be written either
    log.info("bytes", raw=secret.encode(), error=ValueError(secret), shown=[ValueError(secret)])
    log.info("no text", plain=secret, shown=Unprintable())
    theirs.warning("bad %d", secret)
    theirs.warning("text %s and %r", secret, {"a": secret}, extra={"more": secret, "fields": secret})
    warnings.warn(f"a warning about {secret}", stacklevel=1)
    try:
        fail(secret)
    except ValueError:
        log.exception("failed")
        theirs.exception("failed %s", secret)


def main(form: str, crash: str = "") -> None:
    """Say everything, then end or crash."""
    configure("json" if form == "json" else "console", "debug", Redaction(SECRETS))
    log.info("begin", number=7, share=0.5, nothing=None, yes=True)
    for secret in SECRETS:
        speak(secret)
    thread = threading.Thread(target=fail, args=(SECRETS[0],), name="speaker")
    thread.start()
    thread.join()
    Holder()
    gc.collect()
    log.info("end")
    if crash:
        fail(SECRETS[1])


if __name__ == "__main__":
    warnings.simplefilter("always")
    assert Path(__file__).name == "log_speaker.py"
    main(*sys.argv[1:])

"""The scripts that a site embeds, without their comments. `edge/scripts.py` serves them."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from orrery.syntax.web_file import web_file

_COMMENT = re.compile(r"^ *//.*\n", re.MULTILINE)
"""A line of nothing but a comment: readers of the source want it, visitors do not."""


@dataclass(frozen=True, slots=True)
class Script:
    """One script as it is served; `etag` changes with its text."""

    text: str
    etag: str

    @classmethod
    def of_file(cls, path: str, defaults: Mapping[str, str] | None = None) -> "Script":
        """Return the script in a file of `web`, with a deployment's `defaults` in the place of those written."""
        text = _COMMENT.sub("", web_file(path))
        for written, wanted in (defaults or {}).items():
            text = text.replace(f"const {written}", f"const {wanted}")
        return cls(text, f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"')

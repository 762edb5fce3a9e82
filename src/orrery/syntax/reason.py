"""The owner's reasons, which are kept permanently, also after an erasure."""

import re

from orrery.errors import Invalid
from orrery.syntax.lines import is_line

LONGEST_REASON = 500
"""Characters of a reason."""

_SOMEWHERE_AN_EMAIL = re.compile(r"[^\s@]@[^\s@]+\.[^\s@.]")


def normal_reason(text: str) -> str:
    """Return a reason as it is stored permanently; raise `Invalid` when it is empty, too long, or not one line."""
    reason = text.strip()
    if not is_line(reason, LONGEST_REASON):
        raise Invalid(f"A reason of 1 to {LONGEST_REASON} printable characters on one line is needed.")
    return reason


def checked_reason(reason: str) -> None:
    """Raise `Invalid` when a reason is empty or has an e-mail address in it."""
    if not reason.strip():
        raise Invalid("A reason is needed.")
    if _SOMEWHERE_AN_EMAIL.search(reason):
        raise Invalid("The reason must hold no e-mail address: it is kept, also after an erasure.")

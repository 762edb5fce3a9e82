"""The syntax of e-mail addresses, and when two are the same.

The rule of browsers, with letters beyond ASCII and a dot in the domain; addresses that differ in the case of ASCII
letters only are the same.
"""

import re
import string

LONGEST = 254
"""Octets of an address (RFC 3696, erratum 1690). Every server accepts at least 64 before the @."""

# Each class by what is not in it: with every character beyond ASCII named in it, compiling takes 12 ms.
_LOCAL = r"[^\x00- \"(),:;<>@\[\\\]\x7f]+"
_LETTER = r"[^\x00-@\[-`{-\x7f]"
_INNER = r"[^\x00-/:-@\[-`{-\x7f]"
_REST = rf"(?:[^\x00-,./:-@\[-`{{-\x7f]{{0,61}}{_INNER})?"
_ADDRESS = re.compile(rf"(?!.*=\?){_LOCAL}@(?:{_INNER}{_REST}\.)+{_LETTER}{_REST}")

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

_KELVIN_SIGN = "\N{KELVIN SIGN}"
"""The one character beyond ASCII whose lower case is ASCII: a `k`."""


def is_email_address(text: str) -> bool:
    """Return whether a text is one address, which no header or list could read as more than one.

    It accepts every address that a buyer can type on a payment page: some carriers use two dots in a row
    (https://html.spec.whatwg.org, valid e-mail address; RFC 6531 for letters beyond ASCII). It refuses the
    beginning of an encoded word (RFC 2047): in a header it would be decoded to another address.
    """
    return text.isprintable() and len(text.encode()) <= LONGEST and _ADDRESS.fullmatch(text) is not None


def normal_email(text: str) -> str:
    """Return an address as it is stored and compared: trimmed, its ASCII letters in lower case.

    A mailbox beyond ASCII is another one in another case (RFC 6531), so it is not changed.
    """
    return text.strip().translate(_ASCII_LOWER)


def without_case(text: str) -> str:
    """Return a text with every letter in lower case, unless that would make it another's ASCII letter.

    So addresses were stored before only ASCII letters were compared without their case.
    """
    return _KELVIN_SIGN.join(part.lower() for part in text.split(_KELVIN_SIGN))


def masked(email: str) -> str:
    """Return an address by which its owner is recognised, and cannot be written to: `a…@example.org`."""
    mailbox, _, domain = email.rpartition("@")
    return f"{mailbox[:1]}…@{domain}"

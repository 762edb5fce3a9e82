"""The syntax of e-mail addresses, and when two are the same.

The rule of browsers, with letters beyond ASCII and a dot in the domain; addresses that differ in the case of ASCII
letters only are the same.
"""

import re
import string

LONGEST = 254
"""Octets of an address (RFC 3696, erratum 1690). Every server accepts at least 64 before the @."""

_BEYOND_ASCII = "\u0080-\U0010ffff"
_LOCAL = rf"[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~{_BEYOND_ASCII}-]+"
_INNER = rf"A-Za-z0-9{_BEYOND_ASCII}"
_REST = rf"(?:[{_INNER}-]{{0,61}}[{_INNER}])?"
_ADDRESS = re.compile(rf"(?!.*=\?){_LOCAL}@(?:[{_INNER}]{_REST}\.)+[A-Za-z{_BEYOND_ASCII}]{_REST}")

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

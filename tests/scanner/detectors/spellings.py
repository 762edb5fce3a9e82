"""Ways in which a term of the watch-list comes to be written: each takes a text and gives another."""

import unicodedata
from collections.abc import Callable
from random import Random

Way = Callable[[str, Random], str]

ZERO_WIDTH = "\u200b\u200c\u200d\u00ad\ufeff\u2060\ufe0f\u202e\U000e0041"
JOINS = ("", "-", "_", ".", "/", "+", "  ", "\n", "\r\n    # ", "\\n", "%20", "&nbsp;", "\u00a0")
LOOKS = str.maketrans("aceijopsxyABCEHIKMOPTXaekmo", "асеіјорѕхуАВСЕНІКМОРТХаекмо")
GREEK = str.maketrans("ABEHIKMNOPTXYovu", "ΑΒΕΗΙΚΜΝΟΡΤΧΥονυ")  # noqa: RUF001  look-alikes


def _each(change: Callable[[str], str]) -> Way:
    """Change each letter and digit with an even chance, and at least one."""

    def way(text: str, random: Random) -> str:
        letters = [at for at, one in enumerate(text) if one.isalnum()]
        chosen = {at for at in letters if random.random() < 0.5} or {random.choice(letters)}
        return "".join(change(one) if at in chosen else one for at, one in enumerate(text))

    return way


def _moved(one: str, upper: int, lower: int) -> str:
    if "A" <= one <= "Z":
        return chr(ord(one) - ord("A") + upper)
    return chr(ord(one) - ord("a") + lower) if "a" <= one <= "z" else one


def _utf16(one: str) -> str:
    units = one.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def joined(text: str, random: Random) -> str:
    """Put something else than a space between words."""
    return text.replace(" ", random.choice(JOINS))


def cased(text: str, random: Random) -> str:
    return random.choice((str.upper, str.lower, str.swapcase, str.title))(text)


def hidden(text: str, random: Random) -> str:
    """Put characters between that are not seen."""
    return _each(lambda one: one + random.choice(ZERO_WIDTH))(text[:-1], random) + text[-1]


CHARACTERS: dict[str, Way] = {
    "case": cased,
    "word joins": joined,
    "characters of no width": hidden,
    "decomposed": lambda text, _: unicodedata.normalize("NFD", text),
    "composed": lambda text, _: unicodedata.normalize("NFC", text),
    "full width": _each(lambda one: _moved(one, 0xFF21, 0xFF41)),
    "mathematical": _each(lambda one: _moved(one, 0x1D400, 0x1D41A)),
    "Cyrillic look-alikes": lambda text, _: text.translate(LOOKS),
    "Greek look-alikes": lambda text, _: text.translate(GREEK),
    "combining marks": _each(lambda one: one + "\u0301"),
}
"""Other characters for the same letters."""


def _octets(form: str, one: str) -> str:
    return "".join(form.format(octet) for octet in one.encode())


OF_ONE: dict[str, Callable[[str], str]] = {
    "entities": lambda one: f"&#{ord(one)};",
    "hexadecimal entities": lambda one: f"&#x{ord(one):06X};",
    "percent": lambda one: _octets("%{:02x}", one),
    "percent of JavaScript": lambda one: f"%u{ord(one):04x}" if ord(one) < 0x10000 else one,
    "entities in percent": lambda one: f"%26%23{ord(one)}%3B",
    "percent in an entity": lambda one: _octets("&#37;{:02X}", one),
    "percent twice": lambda one: _octets("%25{:02X}", one),
    "an ampersand twice": lambda one: f"&amp;#{ord(one)};",
    "escapes of JSON": _utf16,
    "escapes in JSON in JSON": lambda one: _utf16(one).replace("\\", "\\\\"),
    "escapes with braces": lambda one: f"\\u{{{ord(one):x}}}",
    "escapes of octets": lambda one: _octets("\\x{:02x}", one),
    "octal escapes": lambda one: one if one.isascii() else _octets("\\{:03o}", one),
}
"""Another way of writing one character."""

ENCODINGS: dict[str, Way] = {
    **{name: _each(change) for name, change in OF_ONE.items()},
    "quoted-printable": _each(lambda one: _octets("={:02X}", one)),
    "soft line ends": _each(lambda one: f"{one}=\r\n"),
}
"""The same of some characters of a text."""


def in_two_encodings(text: str, first: str, second: str, random: Random) -> str:
    """Write each letter in one of two ways."""
    return "".join(OF_ONE[random.choice((first, second))](one) if one.isalnum() else one for one in text)


DEFANGED: dict[str, Way] = {
    form: (lambda text, _, form=form: text.replace(".", form))
    for form in ("[.]", "(.)", "{.}", "[dot]", "(DOT)", " dot ", " [.] ", "\\.", "。", "．")  # noqa: RUF001  dots of other scripts
}
"""A dot that makes no link."""

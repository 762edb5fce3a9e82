"""A term as a person wrote it: its words, the form that its spellings share, and whether it can be searched."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from orrery.syntax.character_folding import LOOKS, NATIVE, UNSPACED, plain

LONGEST = 200
"""Characters of a term: one that is longer would not be written the same twice."""

LEAST = 3
"""Letters and digits of a term in a script with letters."""

LEAST_UNSPACED = 2
"""Letters of a term in a script whose letters are syllables or words."""

_TOO_COMMON = """
the and for you not are all any but new old one two get set put add end key map log run try var let int str
api app web www com net org http https html json yaml xml csv pdf test tests data info user users admin root
name mail email null none true false main code file files home index config default example sample demo
"""
TOO_COMMON = frozenset(re.findall(r"\S+", _TOO_COMMON))
"""Words that nearly every text has."""

_LONGEST_COMMON = max(map(len, TOO_COMMON))

_COMMON_DOMAINS = """
gmail.com googlemail.com outlook.com hotmail.com live.com icloud.com yahoo.com gmx.de gmx.net web.de
github.com github.io gitlab.com google.com microsoft.com onmicrosoft.com microsoftonline.com sharepoint.com
azure.com windows.net amazonaws.com apple.com linkedin.com example.com example.org example.net
localhost.localdomain
"""
COMMON_DOMAINS = frozenset(re.findall(r"\S+", _COMMON_DOMAINS))
"""Domains that belong to everybody: as a term one would be found in nearly every text."""

_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")
_WORDS = re.compile(r"[^\W_]+|&")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WITH_E = frozenset("äöüøÄÖÜØ")


Word = Sequence[str]
"""The letters of a word, folded, each as a pattern: `ue?` for a letter after which some write an e."""

AND: Word = "&"


def value_of(text: str) -> str:
    """Return the form that all spellings of a term share: its words in lower case, without marks."""
    if text.isascii():
        return " ".join(_WORDS.findall(_apart(text).lower()))
    return " ".join(_folded(word, native=is_native(text), alike=False) for word in _split(text))


def address_of(text: str) -> str:
    """Return an address or a domain in the form that its spellings share."""
    if text.isascii():
        return text.strip().strip(".").lower()
    return _folded(_trimmed(text), native=is_native(text), alike=False)


def network_form(text: str) -> str:
    """Return an address or a domain as the network has it (`xn--…`), or nothing when that is the same."""
    local, at, domain = _trimmed(text).casefold().rpartition("@")
    try:
        made = domain.encode("idna").decode()
    except UnicodeError:
        return ""
    return _folded(local, native=False, alike=True) + at + made if made != domain else ""


def words_of(text: str, *, camel: bool = True) -> list[Word]:
    """Return the words of a term, letter by letter; each letter of a script without spaces is one."""
    if text.isascii():
        return list[Word](_WORDS.findall((_apart(text) if camel else text).lower()))
    native = is_native(text)
    split = _split(text) if camel else _WORDS.findall(_seen_part(text))
    parts = (part for word in split for part in (word if UNSPACED.search(word) else (word,)))
    return [word for part in parts if (word := tuple(_letters(part, native=native)))]


def is_native(text: str) -> bool:
    """Return whether a term has words of another script; not for a letter that looks Latin in a Latin word."""
    if text.isascii():
        return False
    foreign = [word for word in _WORDS.findall(plain(text)) if not word.isascii()]
    return any(not word.translate(LOOKS).isascii() or not re.search("[A-Za-z]", word) for word in foreign)


def why_unsearchable(kind: str, text: str) -> str:
    """Return why a term cannot be watched for, as a sentence, or nothing when it can."""
    if len(text) > LONGEST:
        return f"A term has at most {LONGEST} characters."
    if kind in {"domain", "address"}:
        return _why_no_address(kind, address_of(text))
    if text.isascii() and len(text) > _LONGEST_COMMON and text.replace(" ", "").isalpha():
        return ""  # most are so, and thousands are asked for at each start
    value = value_of(text)
    letters = value.replace(" ", "").replace("&", "")
    if len(letters) < (LEAST_UNSPACED if UNSPACED.search(letters) else LEAST):
        return f"A term needs at least {LEAST} letters: a shorter one is found in every text."
    if letters.isdigit():
        return "A term needs a letter: a number alone is found in every text."
    return "Nearly every text has this word." if value in TOO_COMMON else ""


def _why_no_address(kind: str, value: str) -> str:
    local, at, domain = value.rpartition("@")
    if kind == "address" and not (local and at):
        return "An address has a name, an @ and a domain."
    if (kind == "domain" and at) or not is_domain(domain):
        return "A domain has at least two parts with a dot between them."
    return "This domain belongs to everybody." if kind == "domain" and domain in COMMON_DOMAINS else ""


def is_domain(text: str) -> bool:
    """Return whether a text has the form of a domain of at least two parts."""
    return bool(_DOMAIN.fullmatch(text))


def _letters(word: str, *, native: bool) -> Iterator[str]:
    for one in word:
        folded = _folded(one, native=native, alike=True)
        yield from folded[:-1]
        yield folded[-1:] + ("e?" if one in _WITH_E else "")


def _split(text: str) -> list[str]:
    return _WORDS.findall(_apart(_seen_part(text)))


def _apart(text: str) -> str:
    """Return a text with a space where camel case has none: most terms have no capital letter."""
    return text if text.islower() else _CAMEL.sub(" ", text)


def _seen_part(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFC", text) if plain(one))


def _trimmed(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().strip(".")


def _folded(word: str, *, native: bool, alike: bool) -> str:
    read = plain(word)
    if not native:
        return read.translate(LOOKS).casefold()
    return read.casefold().translate(NATIVE) if alike else read.casefold()

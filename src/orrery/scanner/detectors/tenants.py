"""Tenant ids that are foreign, wherever a text names a GUID as one, and sites of sensitivity labels."""

import json
import re
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from typing import cast
from uuid import UUID

from orrery.scanner.detectors.hints import GUID, GUID_FORMS, JWT
from orrery.scanner.detectors.reading import Raw, Reading
from orrery.scanner.detectors.searching import Occurrence
from orrery.scanner.findings import Kind
from orrery.scanner.policy import Policy
from orrery.scanner.regex import compiled

BEFORE = 400
"""Characters before a GUID that name what it is."""

AFTER = 40

_GUID = r"[0-9A-Fa-f]{8}(?:-?[0-9A-Fa-f]{4}){3}-?[0-9A-Fa-f]{12}"
_KEY = (
    r"(?:tenants?|tenancy|(?<![A-Za-z])tid|(?-i:(?<=[a-z])Tid)|(?<![a-z])realm"
    r"|directory[ _-]?(?:\(tenant\)[ _-]?)?id)"
)
_WORD = (
    r"(?:ids?|guids?|uuids?|identifiers?|values?|type|string|key|name|default|is|was|equals|eq|be|urn|uuid)"
    r"(?![a-z])"
)
_GLUE = rf"(?:[\s\"'`:=|\[\](){{}}<>/\\*_.&?$@!#+~-]|</?\w{{1,20}}:?\w{{0,20}}>|{_WORD}){{0,40}}"
_COMMA = r"(?:,\s{0,40}[\"'`(\[{]{0,4}(?:values?[\"'`]?\s{0,4}[:=]+)?[\s\"'`(\[{]{0,8})?"
_LISTED = rf"(?:{_GUID}[\s\"'`,;|{{}}]{{1,40}}){{0,20}}"
_NAMED = re.compile(rf"{_KEY}(?:[_-]?(?:id|guid)s?)?{_GLUE}{_COMMA}{_LISTED}\Z", re.IGNORECASE)
_HOST = re.compile(
    r"(?:\b(?:login|sts|accounts|stsowners|device)[\w-]*\.[\w.-]{3,60}|\b[\w-]+\.(?:b2clogin|ciamlogin)\.com"
    r"|\bgraph\.windows\.net|\bgraph\.chinacloudapi\.cn|\b(?:portal|entra|admin)\.[\w.-]{3,60}/?#@?)(?::\d{1,5})?/[\s+{(<\"'$]{0,8}\Z",
    re.IGNORECASE,
)
_PRINCIPAL = re.compile(rf"{_GUID}(?:/[\w.-]{{1,100}})?@\Z")
_OPTION = re.compile(r"(?:\baz|\bazd|\blogin|\bConnect-\w{1,40})\b[^\n]{0,120}\s-t[ =][\"']?\Z", re.IGNORECASE)
_CALLED = re.compile(
    r"[\"'`,;)}\]]{0,4}\s{0,8}(?:#|//|--|<!--|/\*|\()\s?(?:\w{1,12} ){0,2}tenant\b", re.IGNORECASE
)
_NEAR = 12
_WORDS = ("tenan", "tid", "realm", "director")
"""One of these is before a GUID that is named; the expression is tried only then."""

_SITE = re.compile(
    r"(?:MSIP_Label_[^\s\"'<>=]{1,80}_SiteId(?:[\s\"'=:>,{(]|<[^<>]{1,120}>|value){0,12}"
    r"|<(?:\w{1,20}:)?label\b[^<>]{0,300}\bsiteId\s?=\s?[\"'][{(]?)\Z",
    re.IGNORECASE,
)
_TOKEN = compiled(JWT)
_IN_ISSUER = re.compile(_GUID)
_EXACT = re.compile(f"(?<![0-9A-Za-z])(?:{GUID_FORMS})(?![0-9A-Za-z])")
_PART = re.compile(r"0[xX]([0-9A-Fa-f]+)")
_WIDTHS = (8, 4, 4, *(2,) * 8)

CONSUMERS = "9188040d-6c67-4c5b-b112-36a304b66dad"
"""The tenant of all personal accounts: https://learn.microsoft.com/entra/identity-platform/id-token-claims-reference."""

_HEX_WORDS = re.compile(r"(?:dead|beef|cafe|babe|feed|face|f00d|c0de|0000|ffff)+")
_RISING = "0123456789abcdef0123456789abcdef"
_FALLING = _RISING[::-1]
_RISING_TENS = "1234567890" * 4


class TenantSearch:
    """Every tenant is foreign but the public ones, and that of all personal accounts."""

    def __init__(self, policy: Policy) -> None:
        self._public = {one.lower() for one in policy.public_tenants} | {CONSUMERS}
        self._internal = {one.lower() for one in policy.internal_tenants}
        self._encoded = {code: guid for guid in self._internal for code in encoded(guid)}

    def __call__(self, readings: Sequence[Reading]) -> Iterator[Occurrence]:
        """Yield the foreign tenant ids, and sites of labels, in a block."""
        for reading in readings:
            for start, end, guid in guids(reading):
                if kind := self._kind(reading, start, end, guid):
                    yield Occurrence(kind, reading, start, end, guid)
            if JWT in reading.hints:
                yield from self._in_tokens(reading)
            for code, guid in self._encoded.items():
                if (at := reading.octets.find(code)) >= 0:
                    yield Occurrence("tenant-id", reading, at, at + len(code), guid)

    def _kind(self, reading: Reading, start: int, end: int, guid: str) -> Kind | None:
        if guid in self._public:
            return None
        before = reading.text[max(0, start - BEFORE) : start]
        if _SITE.search(before) and not is_placeholder(guid):
            return "label-site"
        named = guid in self._internal or (
            not is_placeholder(guid) and is_named(before, reading.text[end : end + AFTER])
        )
        return "tenant-id" if named else None

    def _in_tokens(self, reading: Reading) -> Iterator[Occurrence]:
        """Yield the tenants that tokens name; one that is not encoded may be longer than its block."""
        found = _TOKEN.search(reading.octets)
        while found:
            start, end = found.start(), found.end()
            whole = _TOKEN.search(reading.whole, reading.start + start) if isinstance(reading, Raw) else None
            token = reading.whole[whole.start() : whole.end()] if whole and isinstance(reading, Raw) else None
            for guid in _tenants_of(token or reading.octets[start:end]):
                if guid in self._internal or not (guid in self._public or is_placeholder(guid)):
                    yield Occurrence("tenant-id", reading, start, end, guid)
            found = _TOKEN.search(reading.octets, end)


def is_named(before: str, after: str) -> bool:
    """Return whether the text around a GUID names it as the id of a tenant."""
    end = before[-_NEAR:]
    tried = (
        (_NAMED, any(word in before.lower() for word in _WORDS)),
        (_HOST, "/" in end),
        (_PRINCIPAL, "@" in end),
        (_OPTION, "-t" in end or "-T" in end),
    )
    return any(may and one.search(before) for one, may in tried) or bool(_CALLED.match(after))


def _tenants_of(token: bytes) -> set[str]:
    """Return the tenants that a token's payload names; its signature does not matter here."""
    payload = token.split(b".")[1]
    try:
        claims: object = json.loads(urlsafe_b64decode(payload + b"=" * (-len(payload) % 4)))
    except (ValueError, RecursionError):
        return set()
    if not isinstance(claims, dict):
        return set()
    named = [str(one) for name in ("tid", "iss") if (one := cast("dict[str, object]", claims).get(name))]
    return {found[0].lower() for one in named for found in _IN_ISSUER.finditer(one)}


def guids(reading: Reading) -> Iterator[tuple[int, int, str]]:
    """Yield where GUIDs are, and each in lower case with dashes."""
    for found in _EXACT.finditer(reading.text) if GUID in reading.hints else ():
        if reading.judges(*found.span()):
            yield found.start(), found.end(), _canonical(found[0])


def _canonical(written: str) -> str:
    if "x" in written.lower():
        written = "".join(
            part.rjust(width, "0") for part, width in zip(_PART.findall(written), _WIDTHS, strict=True)
        )
    return str(UUID(re.sub("[^0-9A-Fa-f]", "", written)))


def is_placeholder(guid: str) -> bool:
    """Return whether a GUID is a placeholder: nil, of one or two digits, of runs, counted up, or of words."""
    digits = guid.replace("-", "")
    fours = [digits[at : at + 4] for at in range(0, len(digits), 4)]
    return (
        len(set(digits)) <= 2  # noqa: PLR2004  such as the nil GUID and ...0001
        or all(len(set(four)) == 1 for four in fours)
        or all(any(part in row for row in (_RISING, _FALLING, _RISING_TENS)) for part in guid.split("-"))
        or bool(_HEX_WORDS.fullmatch(digits))
    )


def encoded(guid: str) -> frozenset[bytes]:
    """Return a GUID in base64 of both orders of its bytes, without the signs of equality."""
    one = UUID(guid)
    return frozenset(
        encode(data).rstrip(b"=")
        for data in (one.bytes, one.bytes_le)
        for encode in (b64encode, urlsafe_b64encode)
    )

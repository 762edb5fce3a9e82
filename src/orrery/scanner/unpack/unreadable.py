"""What is not unpacked: archives, databases and encrypted files of kinds that no library here reads."""

import re
from typing import Final

from orrery.scanner.unpack.encodings import is_text, is_utf8, wide
from orrery.scanner.unpack.parts import UnpackedFile

_ARCHIVE: Final = "is not unpacked: pack its files as zip or tar, or leave it out."
_ENCRYPTED: Final = "is encrypted: leave it out, or check what is in it yourself."
_CONVERT: Final = "is not read: save it as {}, or leave it out."

_BINARY: Final = (
    (rb"7z\xbc\xaf\x27\x1c", f"A 7z archive {_ARCHIVE}"),
    (rb"Rar!\x1a\x07", f"A RAR archive {_ARCHIVE}"),
    (rb"MSCF\x00\x00\x00\x00|ISc\(", f"A cabinet archive {_ARCHIVE}"),
    (rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", f"A zstd file {_ARCHIVE}"),
    (rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18", f"An lz4 file {_ARCHIVE}"),
    (
        rb"LZIP\x01|\x89LZO\x00|\x1f[\x9d\xa0\x1e]|\xff\x06\x00\x00sNaPpY",
        f"A compressed file of its kind {_ARCHIVE}",
    ),
    (rb"PACK\x00\x00\x00[\x02\x03]|# v[23] git bundle\n", "History of git is not read here: scan the repository."),
    (rb"\xed\xab\xee\xdb|!<arch>\ndebian-binary", f"A package of a Linux system {_ARCHIVE}"),
    (rb"xar!\x00\x1c|MSWIM\x00|hsqs.{24}\x04\x00|\x60\xea.{8}\x02", f"An archive of its kind {_ARCHIVE}"),
    (rb".{2}-lh[0-7d]-.{14}[\x00-\x02]|.{7}\*\*ACE\*\*", f"An archive of its kind {_ARCHIVE}"),
    (rb".{32769}CD001|KDMV|QFI\xfb|vhdxfile|conectix\x00", f"A disk image {_ARCHIVE}"),
    (rb"ITSF\x03\x00|.{60}BOOKMOBI|AT&TFORM", f"A book of its kind {_CONVERT.format('PDF or HTML')}"),
    (rb"PAR1|ORC[\x00-\x08]|Obj\x01|ARROW1\x00|FEA1", f"A table of its kind {_CONVERT.format('CSV or JSON')}"),
    (rb"!BDN.{4}SM|\x78\x9f\x3e\x22", f"A mailbox of Outlook {_CONVERT.format('eml')}"),
    (rb"\x00\x01\x00\x00Standard (?:ACE|Jet) DB", f"A database of Access {_CONVERT.format('CSV')}"),
    (rb".{0,256}X\x00P\x00r\x00e\x00s\x00s\x009\x00", f"A data model of Power BI {_CONVERT.format('a template')}"),
    (rb"AC10[123]\d\x00\x00", f"A drawing of AutoCAD {_CONVERT.format('DXF')}"),
    (rb"LUKS\xba\xbe|.{0,3}-FVE-FS-", f"A volume {_ENCRYPTED}"),
    (rb"age-encryption\.org/v1\n", f"A file of age {_ENCRYPTED}"),
    (rb"(?:\x84.|\x85..|\xc1.{1,2})\x03.{8}[\x01\x02\x10\x12\x19]", f"A file of OpenPGP {_ENCRYPTED}"),
    (rb"[\x8c\xc3][\x04-\x2f]\x04[\x01-\x0d][\x00\x01\x03]", f"A file of OpenPGP {_ENCRYPTED}"),
    (rb"Salted__", f"A file of OpenSSL {_ENCRYPTED}"),
    (rb"\x03\xd9\xa2\x9a", f"A store of passwords {_ENCRYPTED}"),
    (rb"\x00GITCRYPT\x00", f"A file of git-crypt {_ENCRYPTED}"),
)
_ARMOURED: Final = (
    (rb"\s*-----BEGIN AGE ENCRYPTED FILE-----", f"A file of age {_ENCRYPTED}"),
    (rb"\s*-----BEGIN PGP MESSAGE-----", f"A file of OpenPGP {_ENCRYPTED}"),
    (rb"\$ANSIBLE_VAULT;", f"A file of Ansible {_ENCRYPTED}"),
)


def _compiled(kinds: tuple[tuple[bytes, str], ...]) -> tuple[tuple[re.Pattern[bytes], str], ...]:
    return tuple((re.compile(pattern, re.DOTALL), why) for pattern, why in kinds)


_BINARY_KINDS: Final = _compiled(_BINARY)
_TEXT_KINDS: Final = _compiled(_ARMOURED)
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_MACROS: Final = "_VBA_PROJECT".encode("utf-16-le")
_ANDROID: Final = b"\x03\x00\x08\x00"
"""XML of Android in a binary form, whose strings are searched as those of any binary file."""

_APPLE: Final = ".iwa"
_DMG: Final = b"koly\x00\x00\x00\x04"
_DMG_SIZE: Final = 512
_NAMED: Final = re.compile(
    r"\.(zip|jar|war|ear|apk|aab|whl|nupkg|epub|doc[xm]|dot[xm]|xls[xmb]|xlt[xm]|pp[ts][xm]|pot[xm]|vsd[xm]|od[tspg]"
    r"|pages|numbers|pbi[xt]|7z|rar|cab|gz|tgz|bz2|xz|zst|lz4|br|tar|iso|dmg|pdf|p?pfile|doc|xls|ppt|msg|pst|kdbx|x?html?|xml|rels)$",
    re.IGNORECASE,
)


def unreadable(part: UnpackedFile, first: bytes, *, is_plain: bool) -> str:
    """Return why a file cannot be searched, and what to do; nothing if it can. `is_plain`: it has no controls."""
    for begins, why in _TEXT_KINDS if is_plain else _BINARY_KINDS:
        if begins.match(first):
            return why
    if first.startswith(_OLE):
        return _ole(part)
    return f"A disk image {_ARCHIVE}" if b"\0" in first and _is_dmg(part) else ""


def misnamed(name: str, first: bytes) -> str:
    """Return why a file that has the name of an archive or a document, and is none, cannot be searched."""
    if name.lower().endswith(_APPLE):
        return f"A document of Pages, Numbers or Keynote {_CONVERT.format('docx, xlsx or pptx')}"
    found = _NAMED.search(name)
    if not found or is_text(first) or is_utf8(first) or wide(first) or first.startswith(_ANDROID):
        return ""
    return f"It is no .{found[1].lower()}, or it is encrypted: open it and save it again, or leave it out."


def _ole(part: UnpackedFile) -> str:
    for piece in part.pieces():
        if _OLE_ENCRYPTED in piece:
            return f"An office document {_ENCRYPTED}"
        if _MACROS in piece and part.name.lower().endswith(".bin"):
            return "Macros are not read: save the document without them, and their code as text."
    return "A file of an older Office or Outlook, or an installer, " + _CONVERT.format("docx, xlsx, pptx or eml")


def _is_dmg(part: UnpackedFile) -> bool:
    size = part.content.seek(0, 2)
    _ = part.content.seek(max(0, size - _DMG_SIZE))
    return part.content.read(len(_DMG)) == _DMG

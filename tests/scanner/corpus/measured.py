"""How much of the corpus is found, and what is found although it should not be."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO

from orrery.ports.scanned import Item
from orrery.scanner.detectors.all import detectors
from orrery.scanner.detectors.secrets import SecretDetector
from orrery.scanner.findings import FingerprintKey, ScanFinding
from orrery.scanner.rules import secret_rules
from orrery.scanner.scanning import Scan
from tests.scanner.corpus.carriers import LEAKS as CARRIED
from tests.scanner.corpus.carriers import NEAR_MISSES as CARRIED_NEAR
from tests.scanner.corpus.texts import LEAKS, NEAR_MISSES
from tests.scanner.corpus.words import POLICY

PLANTED: dict[str, tuple[bytes, set[str]]] = {
    **{name: (text.encode(), kinds) for name, text, kinds in LEAKS},
    **CARRIED,
}
"""What must be found, by the name of its file: the content, and its kinds."""

HARMLESS: dict[str, bytes] = {**{name: text.encode() for name, text in NEAR_MISSES}, **CARRIED_NEAR}
"""In what nothing must be found."""


@dataclass(frozen=True, slots=True)
class OneFile:
    """A source with one file."""

    name: str
    content: bytes = field(repr=False)

    @property
    def bytes(self) -> int | None:
        """How large it is."""
        return len(self.content)

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing is left out."""
        return ()

    def items(self) -> Iterator[Item]:
        """Yield the file."""
        yield Item(self.name, self.name, len(self.content), BytesIO(self.content))

    def since(self, object_id: str) -> str:
        """Return nothing: it is in no history."""
        del object_id
        return ""


@dataclass(frozen=True, slots=True)
class Measured:
    """The counts, and what is wrong."""

    planted: int
    found: int
    near_misses: int
    false: int


def scan() -> Scan:
    """Return what searches the corpus."""
    return Scan([*detectors(POLICY), SecretDetector(secret_rules())], FingerprintKey(b"a key of the tests"))


def found_in(searching: Scan, name: str, content: bytes) -> list[ScanFinding]:
    """Return what is found in one file."""
    return list(searching.findings(OneFile(name, content)))


def measured() -> Measured:
    """Search all of it."""
    searching = scan()
    planted = {
        name: {one.kind for one in found_in(searching, name, content)} for name, (content, _) in PLANTED.items()
    }
    found = sum(kinds <= planted[name] for name, (_, kinds) in PLANTED.items())
    false = sum(bool(found_in(searching, name, content)) for name, content in HARMLESS.items())
    return Measured(len(PLANTED), found, len(HARMLESS), false)

"""What publishing stands on: the scanner, and the files."""

from orrery.adapters.no_scanner import NoScanner
from orrery.adapters.published_files import PublishedFiles
from orrery.app.adapters import Adapters
from orrery.ports.publications import Publications
from orrery.ports.scanner import Scanner


def scanner(_: Adapters) -> Scanner:
    return NoScanner()


def publications(_: Adapters) -> Publications:
    return PublishedFiles()

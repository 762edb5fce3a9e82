"""The scanner of a version that has none: nothing can be scanned, so nothing is published (decision 39)."""

from collections.abc import Mapping

from orrery.errors import NotConfigured
from orrery.ports.scanner import Leak


class NoScanner:
    """See `Scanner`."""

    def check(self) -> None:
        raise NotConfigured("Publishing needs the scanner, which this version does not have yet.")

    def scan(self, files: Mapping[str, bytes]) -> list[Leak]:
        del files
        self.check()
        return []

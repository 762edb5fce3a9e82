"""Where the reports of the cloud go: the site, which shows them and pushes what is wrong."""

from collections.abc import Mapping
from typing import Protocol


class SiteReports(Protocol):
    """The site of one deployment."""

    def send(self, report: Mapping[str, object]) -> None:
        """Send one report; raise `DeliveryFailed`."""
        ...

"""The addresses and domains of the deployment's own organisation."""

from collections.abc import Iterator

from orrery.scanner.detectors.engine import Engine
from orrery.scanner.detectors.reading import Reader
from orrery.scanner.findings import Match
from orrery.scanner.policy import Policy


class CorporateDetector:
    """See `Detector`. An address is one finding, and not its domain again."""

    def __init__(self, policy: Policy, reader: Reader | None = None) -> None:
        addresses = [("corporate-address", one) for one in sorted(policy.addresses)]
        domains = [("corporate-domain", one) for one in sorted(policy.domains)]
        self._engine = Engine([*addresses, *domains], reader or Reader())

    def matches(self, text: bytes, place: str | None) -> Iterator[Match]:
        del place
        yield from self._engine.matches(text)

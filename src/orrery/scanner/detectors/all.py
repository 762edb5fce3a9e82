"""All that is searched for without a file of rules."""

from orrery.scanner.detectors.canary import canaries
from orrery.scanner.detectors.engine import TermSearch
from orrery.scanner.detectors.labels import labels
from orrery.scanner.detectors.searching import SearchDetector
from orrery.scanner.detectors.tenants import TenantSearch
from orrery.scanner.detectors.terms import terms_of
from orrery.scanner.findings import Detector
from orrery.scanner.policy import Policy


def detectors(policy: Policy) -> list[Detector]:
    """Return the detectors of a policy: one, whose searches share what is read."""
    return [SearchDetector(TermSearch(terms_of(policy)), TenantSearch(policy), labels, canaries)]

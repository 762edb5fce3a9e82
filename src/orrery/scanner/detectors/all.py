"""All that is searched for without a file of rules."""

from orrery.scanner.detectors.canary import canaries
from orrery.scanner.detectors.engine import TermSearch
from orrery.scanner.detectors.labels import labels
from orrery.scanner.detectors.searching import SearchDetector
from orrery.scanner.detectors.spelling import is_domain, why_unsearchable
from orrery.scanner.detectors.tenants import TenantSearch
from orrery.scanner.findings import Detector, Kind
from orrery.scanner.policy import Policy


def detectors(policy: Policy) -> list[Detector]:
    """Return the detectors of a policy: one, whose searches share what is read."""
    return [SearchDetector(TermSearch(terms_of(policy)), TenantSearch(policy), labels, canaries)]


def terms_of(policy: Policy) -> list[tuple[Kind, str]]:
    """Return the terms of a policy that can be searched for."""
    addresses: list[tuple[Kind, str]] = [("corporate-address", one) for one in sorted(policy.addresses)]
    domains: list[tuple[Kind, str]] = [("corporate-domain", one) for one in sorted(policy.domains)]
    corporate = [one for one in (*addresses, *domains) if is_domain(one[1].rpartition("@")[2])]
    watched: list[tuple[Kind, str]] = [
        (one.kind, one.text) for one in policy.terms if not why_unsearchable(one.kind, one.text)
    ]
    return [*watched, *corporate]

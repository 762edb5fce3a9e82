"""The addresses and domains of the deployment's own organisation: found as the watch-list's are."""

from orrery.scanner.detectors.spelling import is_domain
from orrery.scanner.findings import Kind
from orrery.scanner.policy import Policy


def corporate(policy: Policy) -> list[tuple[Kind, str]]:
    """Return what is corporate, for the search."""
    addresses: list[tuple[Kind, str]] = [("corporate-address", one) for one in sorted(policy.addresses)]
    domains: list[tuple[Kind, str]] = [("corporate-domain", one) for one in sorted(policy.domains)]
    return [one for one in (*addresses, *domains) if is_domain(one[1].rpartition("@")[2])]

"""The terms that are searched for: those of the watch-list, and the organisation's own addresses and domains."""

from orrery.scanner.detectors.spelling import is_domain, why_unsearchable
from orrery.scanner.findings import Kind
from orrery.scanner.policy import Policy


def terms_of(policy: Policy) -> list[tuple[Kind, str]]:
    """Return the terms of a policy that can be searched for."""
    addresses: list[tuple[Kind, str]] = [("corporate-address", one) for one in sorted(policy.addresses)]
    domains: list[tuple[Kind, str]] = [("corporate-domain", one) for one in sorted(policy.domains)]
    corporate = [one for one in (*addresses, *domains) if is_domain(one[1].rpartition("@")[2])]
    watched: list[tuple[Kind, str]] = [
        (one.kind, one.text) for one in policy.terms if not why_unsearchable(one.kind, one.text)
    ]
    return [*watched, *corporate]

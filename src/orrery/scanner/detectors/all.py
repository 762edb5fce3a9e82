"""Every detector there is."""

from orrery.scanner.detectors.terms import TermDetector
from orrery.scanner.findings import Detector
from orrery.scanner.policy import Policy


def detectors(policy: Policy) -> list[Detector]:
    """Return what searches for all that a policy and the shipped rules name."""
    return [TermDetector(policy.terms)]

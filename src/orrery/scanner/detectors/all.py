"""All that is searched for without a rule file."""

from orrery.scanner.detectors.canary import CanaryDetector
from orrery.scanner.detectors.corporate import CorporateDetector
from orrery.scanner.detectors.labels import LabelDetector
from orrery.scanner.detectors.reading import Reader
from orrery.scanner.detectors.tenants import TenantDetector
from orrery.scanner.detectors.terms import TermDetector
from orrery.scanner.findings import Detector
from orrery.scanner.policy import Policy


def detectors(policy: Policy) -> list[Detector]:
    """Return the detectors of a policy. They share what they read, so each text is given to all, one by one."""
    reader = Reader()
    return [
        TermDetector(policy.terms, reader),
        CorporateDetector(policy, reader),
        TenantDetector(policy, reader),
        LabelDetector(reader),
        CanaryDetector(reader),
    ]

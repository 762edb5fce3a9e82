"""The versions of the processor's interface."""

from orrery.sandbox.processor.errors import invalid

_NAMED = (
    "2024-09-30.acacia 2024-10-28.acacia 2024-11-20.acacia 2024-12-18.acacia 2025-01-27.acacia 2025-02-24.acacia "
    "2025-03-01.dashboard 2025-03-31.basil 2025-04-30.basil 2025-05-28.basil 2025-06-30.basil 2025-07-30.basil "
    "2025-08-27.basil 2025-09-30.clover 2025-10-29.clover 2025-11-17.clover 2025-12-15.clover 2026-01-28.clover "
    "2026-02-25.clover 2026-03-25.dahlia 2026-04-22.dahlia 2026-05-27.dahlia 2026-06-24.dahlia 2026-07-29.dahlia "
    "2026-08-26.dahlia 2026-09-30.endive"
)
VERSIONS = frozenset(_NAMED.split())
"""Those with a name; the vendor takes older ones, too."""


def known_version(version: str, param: str | None = None) -> str:
    """Return the version, or raise the refusal of one that does not exist."""
    if version not in VERSIONS:
        raise invalid(f"Invalid Stripe API version: {version[:40]}", param)
    return version

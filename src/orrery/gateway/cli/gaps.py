"""How the commands name what is not known of the cloud."""

from collections.abc import Sequence

from orrery.gateway.cloud.survey import UnknownPart
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.tables import note


def note_gaps(gaps: Sequence[UnknownPart]) -> None:
    """Print each reason once, with the parts that are not known by it, and what to do."""
    parts: dict[str, list[str]] = {}
    for gap in gaps:
        parts.setdefault(f"{gap.state}. {gap.error}", []).append(gap.part)
    for reason, named in parts.items():
        note(f"Not known ({', '.join(named)}): {reason}")


def end_with(gaps: Sequence[UnknownPart]) -> None:
    """Name what is not known; the command ends with exit code 1 when there is anything."""
    note_gaps(gaps)
    end_broken(when=gaps)

"""The owner hears of a day without a snapshot."""

from datetime import UTC, datetime, timedelta

from orrery.runtime.backups import LATE, backup_finding
from tests.support.tables import each_case

NOW = datetime(2026, 11, 21, 3, 4, 5, tzinfo=UTC)


@each_case(
    ("age", "state"),
    [
        (timedelta(0), "ok"),
        (LATE, "ok"),
        (LATE + timedelta(seconds=1), "broken"),
        (-LATE - timedelta(seconds=1), "broken"),
        (None, "broken"),
    ],
)
def test_a_snapshot_that_is_missing_is_told(age: timedelta | None, state: str) -> None:
    """The newest snapshot is of the last day and a half, or something is broken; buyers do not wait for it."""
    finding = backup_finding(None if age is None else NOW - age, NOW, configured=True)
    assert (finding.state, finding.essential) == (state, False)


def test_without_a_folder_nothing_is_expected() -> None:
    """Who keeps backups in another way is not told of them."""
    assert backup_finding(None, NOW, configured=False).state == "off"

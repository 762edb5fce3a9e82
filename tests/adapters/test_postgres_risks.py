"""Which states of a database are reported, and in which order."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.adapters.postgres.risks import Setup, ahead, risks, summary
from tests.support.tables import each_case

NOW = 1_800_000_000_000_000  # in January 2027
SECOND = 1_000_000
MIB = 1 << 20
SOUND = Setup(
    version=150018,
    user="orrery",
    sees_all=True,
    size=12 * MIB,
    now=NOW,
    flushes=True,
    vacuums=True,
    awaited_standbys=1,
    standbys=1,
    bytes_behind=0,
    seconds_behind=0,
    kept_for_slots=0,
    oldest_transaction=0,
    dead_rows=0,
    live_rows=0,
)


@each_case(
    ("setup", "found"),
    [
        (SOUND, []),
        (replace(SOUND, standbys=2, now=NOW + 2 * SECOND), []),
        (replace(SOUND, awaited_standbys=0, standbys=0), ["waits for no standby"]),
        (replace(SOUND, awaited_standbys=0), ["waits for no standby"]),
        (replace(SOUND, flushes=False), ["does not flush"]),
        (replace(SOUND, bytes_behind=64 * MIB, seconds_behind=10), []),
        (replace(SOUND, bytes_behind=64 * MIB + 1), ["64 MiB or 0 s behind"]),
        (replace(SOUND, seconds_behind=10.6), ["0 MiB or 11 s behind"]),
        (replace(SOUND, kept_for_slots=64 * MIB), []),
        (replace(SOUND, kept_for_slots=64 * MIB + 1), ["keeps 64 MiB of log"]),
        (replace(SOUND, version=140022), ["PostgreSQL 14, which has had no repairs since November 2026"]),
        (replace(SOUND, vacuums=False, dead_rows=10_001), ["does not vacuum by itself"]),
        (replace(SOUND, dead_rows=10_000), []),
        (replace(SOUND, dead_rows=10_001), ["10001 dead rows beside 0 live ones"]),
        (replace(SOUND, dead_rows=20_000, live_rows=20_000), []),
        (replace(SOUND, oldest_transaction=3600), []),
        (replace(SOUND, oldest_transaction=3 * 3600), ["is 3 h old"]),
        (
            replace(SOUND, awaited_standbys=0, standbys=0, flushes=False),
            ["does not flush", "waits for no standby"],
        ),
    ],
)
def test_what_is_reported(setup: Setup, found: list[str]) -> None:
    """Each risk is one, the worst first; a sound setup has none. None shares its name with another."""
    reported = list(risks(setup, NOW))
    assert len(reported) == len(found)
    assert all(part in one.why for part, one in zip(found, reported, strict=True))
    assert len({one.name for one in reported}) == len(reported)


def test_what_is_not_visible_is_said_once() -> None:
    """A plain user hears what shows it; free room is visible to nobody."""
    assert "GRANT" not in summary(SOUND)
    assert summary(replace(SOUND, sees_all=False)).count("`GRANT pg_read_all_stats TO orrery;`") == 1
    assert summary(SOUND).startswith("PostgreSQL 15.18, 12 MiB; no server reports the free room")


@pytest.mark.parametrize("took", [0, 1, 5])
@pytest.mark.parametrize("apart", [0, 3, -3, 3600, -3600])
def test_how_far_the_clock_is_for_certain(took: int, apart: int) -> None:
    """A slow answer leaves open what it took, and shows nothing of a clock that may be right."""
    for waited in range(took + 1):  # before the server looked at its clock
        asked = NOW + apart * SECOND
        found = ahead(NOW + waited * SECOND, asked, asked + took * SECOND) / timedelta(seconds=1)
        assert abs(found) <= abs(apart)
        assert abs(found - apart) <= took
        assert found * apart >= 0
        assert found == 0 or abs(apart) > min(waited, took - waited)

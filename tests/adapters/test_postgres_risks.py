"""Which setups of a database are reported, and in which order."""

from dataclasses import replace

import pytest

from orrery.adapters.postgres.risks import Setup, risks

NOW = 1_800_000_000_000_000
SECOND = 1_000_000
SOUND = Setup(waits_for_standbys=True, standbys=1, flushes=True, now=NOW)


@pytest.mark.parametrize(
    ("setup", "found"),
    [
        (SOUND, []),
        (replace(SOUND, standbys=2, now=NOW + 2 * SECOND), []),
        (replace(SOUND, waits_for_standbys=False, standbys=0), ["waits for no standby"]),
        (replace(SOUND, waits_for_standbys=False), ["waits for no standby"]),
        (replace(SOUND, standbys=0), ["No standby"]),
        (replace(SOUND, flushes=False), ["does not flush"]),
        (replace(SOUND, now=NOW + 2 * SECOND + 1), ["differ by 2 s"]),
        (replace(SOUND, now=NOW - 40 * SECOND), ["differ by 40 s"]),
        (
            replace(SOUND, waits_for_standbys=False, standbys=0, flushes=False, now=0),
            ["does not flush", "waits for no standby", "differ"],
        ),
    ],
)
def test_what_is_reported(setup: Setup, found: list[str]) -> None:
    """Each risk is one, the worst first; a sound setup has none."""
    reported = list(risks(setup, NOW))
    assert len(reported) == len(found)
    assert all(part in one.why for part, one in zip(found, reported, strict=True))

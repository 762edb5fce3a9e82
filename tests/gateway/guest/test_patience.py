"""What `install` proposes for the patience, and the drill, from what was seen."""

from orrery.gateway.guest.files import template
from orrery.gateway.guest.observed import UnitState
from orrery.gateway.guest.options import LONGEST_PATIENCE
from orrery.gateway.guest.patience import ASSUMED, TIMES, proposals, seconds_shown, start_proposal
from tests.support.tables import each_case

NOTIFY = {"ActiveState": "active", "Type": "notify"}
SYSTEMD = UnitState("", {"DefaultTimeoutStartUSec": ("1min 30s",), "DefaultTimeoutStopUSec": ("1min 30s",)})


def proposed(shown: dict[str, str], *answers: float, has_probe: bool = True) -> dict[str, int]:
    usual = {"TimeoutStartUSec": "1min 30s", "TimeoutStopUSec": "1min 30s"}
    state = UnitState("gateway.service", {name: (value,) for name, value in (usual | shown).items()})
    return {one.option: one.seconds for one in proposals(state, SYSTEMD, answers, has_probe=has_probe)}


def times(begin: str, end: str, took: float) -> dict[str, str]:
    return {
        f"{begin}TimestampMonotonic": str(5_000_000),
        f"{end}TimestampMonotonic": str(5_000_000 + round(took * 1e6)),
    }


@each_case(("took", "within"), [(0.2, 90), (30.0, 90), (30.1, 91), (40.0, 120), (200.0, 600), (900.0, 600)])
def test_a_start_may_take_three_times_as_long_as_the_last_one(took: float, within: int) -> None:
    """At least what the scripts take without a measurement: a start after a boot is slower."""
    assert proposed(NOTIFY | times("InactiveExit", "ActiveEnter", took))["start_within"] == within
    measured = start_proposal([0.1, took, 0.1])
    assert (measured.seconds, "600s is the most" in measured.why) == (within, took > 600 / TIMES)


@each_case(
    "shown",
    [
        NOTIFY | {"ActiveState": "activating"},
        NOTIFY | {"ActiveState": "inactive"},
        NOTIFY | {"InactiveExitTimestampMonotonic": "0", "ActiveEnterTimestampMonotonic": "0"},
        NOTIFY | {"InactiveExitTimestampMonotonic": "7", "ActiveEnterTimestampMonotonic": "6"},
        NOTIFY | {"InactiveExitTimestampMonotonic": "", "ActiveEnterTimestampMonotonic": "6"},
        {"ActiveState": "active", "Type": "simple"},
        {"ActiveState": "active", "Type": "exec"},
    ],
)
def test_a_start_that_was_not_seen_is_left_to_the_drill(shown: dict[str, str]) -> None:
    """Also of a service that counts as active before it answers."""
    assert "start_within" not in proposed(times("InactiveExit", "ActiveEnter", 1) | shown)


def test_without_a_probe_an_active_service_has_started() -> None:
    """There is no answer to wait for."""
    shown = {"ActiveState": "active", "Type": "simple"} | times("InactiveExit", "ActiveEnter", 50)
    assert proposed(shown, has_probe=False)["start_within"] == 150


@each_case(("slowest", "within"), [(0.01, 2), (0.66, 2), (0.67, 3), (2.0, 6), (6.6, 20), (8.0, 20), (19.0, 20)])
def test_an_answer_may_take_three_times_as_long_as_the_slowest_of_ten(slowest: float, within: int) -> None:
    """One slow answer counts, however fast the others are; without any there is no proposal."""
    assert proposed({}, *[0.01] * 9, slowest)["answer_within"] == within
    assert "answer_within" not in proposed({})


@each_case(
    ("shown", "within"),
    [
        ({}, 5),
        (times("ActiveExit", "InactiveEnter", 0.1), 5),
        (times("ActiveExit", "InactiveEnter", 4.0), 12),
        (times("ActiveExit", "InactiveEnter", 40.0), 60),
        ({"ActiveExitTimestampMonotonic": "9", "InactiveEnterTimestampMonotonic": "8"}, 5),
        ({"TimeoutStopUSec": "20s"}, 20),
        ({"TimeoutStopUSec": "5min"}, 60),
        ({"TimeoutStopUSec": "infinity"}, 5),
        ({"TimeoutStopUSec": "500ms"}, 5),
    ],
)
def test_a_stop_may_take_what_the_last_one_took_thrice_or_the_unit_says(
    shown: dict[str, str], within: int
) -> None:
    """A time-out that is systemd's own says nothing about the service."""
    assert proposed(shown)["stop_within"] == within


def test_the_unit_s_own_time_out_of_the_start_counts() -> None:
    """Its author has said how long a start may take; without an end, nothing is said."""
    start = NOTIFY | times("InactiveExit", "ActiveEnter", 1)
    assert proposed(start | {"TimeoutStartUSec": "5min"})["start_within"] == 300
    assert proposed(start | {"TimeoutStartUSec": "infinity"})["start_within"] == 90


@each_case(
    ("text", "found"),
    [
        ("1min 30s", 90),
        ("45s", 45),
        ("500ms", 0.5),
        ("1h 2min 3.5s", 3723.5),
        ("2d", 172800),
        ("1w 1us", 604800.000001),
        ("infinity", None),
        ("", None),
        ("1min soon", None),
        ("0", None),
    ],
)
def test_a_time_is_read_as_systemd_shows_it(text: str, found: float | None) -> None:
    """What is no such time is none."""
    assert seconds_shown(text) == found


def test_the_scripts_assume_the_same() -> None:
    """Where nothing is known they and the commands take the same; a recovery with the longest ends in time."""
    said = " ".join(f'"${{{name.upper()}:={seconds}}}"' for name, seconds in ASSUMED.items())
    assert f": {said}" in template("recover.lib")
    start, answer, stop = (LONGEST_PATIENCE[name] for name in ("start_within", "answer_within", "stop_within"))
    assert stop + start == 660
    assert "LONGEST_RECOVERY=660 " in template("recover.sh")
    judgement, hold = 3 * answer, 10 + 3 * answer
    assert judgement + 660 + 2 * answer + hold < 14 * 60
    assert "TimeoutStartSec=14min" in template("recover.service")

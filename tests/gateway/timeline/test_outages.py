"""One outage from several sources: what belongs to it, which layer ended it, and how long each step took."""

import json
from datetime import UTC, datetime, timedelta

from orrery.gateway.cloud.ping_file import FiledSilence, PingFile, Stretch
from orrery.gateway.timeline.cloud_events import job_events, machine_events
from orrery.gateway.timeline.events import Kind, Source, TimelineEvent
from orrery.gateway.timeline.journal import read_journal
from orrery.gateway.timeline.outages import Layer, outages, steps
from orrery.gateway.timeline.picture import lanes, svg
from orrery.gateway.timeline.pings import ping_events
from orrery.ports.cloud import MachineEvent, RunbookJob
from tests.support.tables import each_case

BEGAN = datetime(2026, 11, 23, 3, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def event(seconds: float, source: Source, kind: Kind, text: str = "") -> TimelineEvent:
    return TimelineEvent(at(seconds), source, kind, text)


def layers(*events: TimelineEvent) -> tuple[Layer, ...]:
    (one,) = outages(events)
    return one.layers


CLOUD = [
    MachineEvent(at(0), "Microsoft.ResourceHealth/healthevent/Activated/action", "Active", "Unavailable"),
    MachineEvent(at(138), "Microsoft.Compute/virtualMachines/start/action", "Started"),
    MachineEvent(at(220), "Microsoft.Compute/virtualMachines/start/action", "Succeeded"),
]
JOB = RunbookJob("1", "Completed", at(125), at(132), at(226))


def entry(seconds: float, **fields: str) -> str:
    stamp = str(round(at(seconds).timestamp() * 1_000_000))
    return json.dumps({"__REALTIME_TIMESTAMP": stamp, "_BOOT_ID": "a" if seconds < 200 else "b", **fields})


JOURNAL = [
    entry(-2, UNIT="gateway.service", MESSAGE_ID="9d1aaa27d60140bd96365438aad20286", MESSAGE="Stopped"),
    entry(225, SYSLOG_IDENTIFIER="kernel", MESSAGE="Linux"),
    entry(228, UNIT="gateway.service", MESSAGE_ID="d9b373ed55a64feb8242e02dbe79a49c", MESSAGE="Failed"),
    entry(240, UNIT="gateway.service", MESSAGE_ID="5eb03494b6584870a536b337290809b3", MESSAGE="Scheduled"),
    entry(
        241,
        SYSLOG_IDENTIFIER="gateway-recover",
        MESSAGE="gateway.service is recovered: its credential is readable again.",
    ),
    entry(242, UNIT="gateway.service", MESSAGE_ID="39f53479d3a045ac8e11786248231fbf", MESSAGE="Started"),
    entry(243, UNIT="other.service", MESSAGE_ID="d9b373ed55a64feb8242e02dbe79a49c", MESSAGE="Failed"),
]


def test_sources_are_joined_into_one_outage() -> None:
    """A shutdown, its job, the boot and the guest's recovery are one story, with the layers that ended it."""
    journal = read_journal(JOURNAL, "gateway.service", "gateway-recover")
    (one,) = outages([*machine_events(CLOUD), *job_events([JOB]), *journal.events])
    assert (one.began_at, one.ended_at) == (at(-2), at(242))
    assert one.layers == ("layer 1", "layer 3")
    assert one.id == "20261123T025958Z"
    took = {step.event.text: round(step.took.total_seconds()) for step in steps(one)}
    assert took["The webhook was called."] == 125
    assert took["A start of the machine was asked for."] == 6


@each_case(
    ("events", "expected"),
    [
        ([event(0, "machine", "down"), event(60, "machine", "asked"), event(90, "machine", "up")], ("by hand",)),
        ([event(0, "machine", "down"), event(90, "machine", "up")], ("by itself",)),
        ([event(0, "service", "down"), event(60, "service", "retry"), event(61, "service", "up")], ("layer 2",)),
        (
            [
                event(0, "service", "down"),
                event(1, "guest", "recovering"),
                event(2, "service", "up"),
                event(9, "guest", "recovered"),
            ],
            ("layer 3",),
        ),
        ([event(0, "service", "down"), event(60, "service", "up")], ("by hand",)),
    ],
)
def test_the_layer_that_recovered_it_is_named(events: list[TimelineEvent], expected: tuple[Layer, ...]) -> None:
    """Each of the three layers, and an operator."""
    assert layers(*events) == expected


def test_troubles_far_apart_are_two_outages_and_one_may_last() -> None:
    """One that lasts has no end."""
    found = outages(
        [
            event(0, "machine", "down"),
            event(90, "machine", "up"),
            event(4000, "ping", "down"),
        ]
    )
    assert [one.ended_at for one in found] == [at(90), None]


def test_one_ping_between_two_silences_ends_the_first_and_begins_the_second() -> None:
    """Both fall on its moment: the machine that pinged once and fell silent again is still down."""
    said = Stretch(state="active", probe="200", first_at=at(300), last_at=at(300))
    silences = [FiledSilence(since=at(0), until=at(300)), FiledSilence(since=at(300), until=None)]
    (one,) = outages(ping_events(PingFile([said], silences, [], None, 0)))
    assert (one.began_at, one.ended_at) == (at(0), None)


def test_an_unreadable_line_of_a_journal_is_counted() -> None:
    """One bad line hides none of the others."""
    found = read_journal(
        [*JOURNAL, "{", '"text"', '{"MESSAGE": "no time"}', ""], "gateway.service", "gateway-recover"
    )
    assert found.unreadable == 3
    assert len(found.events) == 6


def test_the_pictures_show_each_lane_that_has_something() -> None:
    """Lanes of blocks, and an SVG that names the layer."""
    (one,) = outages([*machine_events(CLOUD), *job_events([JOB])])
    shown = dict(lanes(one, 40))
    assert set(shown) == {"machine down", "runbook runs"}
    assert all(len(cells) == 40 for cells in shown.values())
    picture = svg(one)
    assert "The runbook runs." in picture
    assert "layer 1" in picture

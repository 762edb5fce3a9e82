"""What a cluster of declines is (spec 1, Limits; decision 18)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from orrery.fraud.clusters import (
    NAMES,
    TRAITS,
    Cluster,
    Decline,
    Trait,
    clusters,
    crowded,
)
from orrery.fraud.records import FoundCluster, LastSearch, without_values
from tests.support.clock import START
from tests.support.tables import each_case

VALUES = st.sampled_from([None, "", "one", "two"])


@st.composite
def streams(draw: st.DrawFn) -> list[Decline]:
    """Return declines some of which are close together, in any order, some reported twice."""
    times = draw(st.lists(st.integers(0, 2000) | st.sampled_from([0, 150, 300, 301, 600, 601]), max_size=25))
    found = [
        Decline(
            f"ch_{number}",
            START + timedelta(seconds=seconds),
            draw(VALUES),
            draw(VALUES),
            draw(VALUES | st.just(" ONE ")),
        )
        for number, seconds in enumerate(times)
    ]
    twice = draw(st.lists(st.sampled_from(found), max_size=5)) if found else []
    return draw(st.permutations([*found, *twice]))


def at(*seconds: float, trait: Trait = "address", value: str | None = "198.51.100.7") -> list[Decline]:
    """Return declines at these seconds, which share a value."""
    return [
        replace(Decline(f"ch_{number:03d}", START + timedelta(seconds=moment)), **{trait: value})
        for number, moment in enumerate(seconds)
    ]


def spans(declines: Sequence[Decline]) -> list[tuple[int, ...]]:
    """Return the seconds of each cluster's declines, the oldest cluster first."""
    return sorted(
        tuple(int((one.at - START).total_seconds()) for one in each.declines) for each in clusters(declines)
    )


@each_case(
    ("seconds", "expected"),
    [
        ((0, 150, 300), [(0, 150, 300)]),
        ((0, 150, 300.5), []),
        ((0, 10), []),
        ((0, 0, 0), [(0, 0, 0)]),
        ((0, 10, 20, 310, 320, 330), [(0, 10, 20, 310, 320, 330)]),
        ((0, 10, 20, 311, 321, 330), [(0, 10, 20), (311, 321, 330)]),
        ((0, 10, 20, 400), [(0, 10, 20)]),
        ((0, 290, 300, 310, 600), [(0, 290, 300, 310, 600)]),
        ((0, 150, 300, 450, 600, 750, 900), [(0, 150, 300, 450, 600, 750, 900)]),
    ],
)
@each_case("trait", TRAITS)
def test_three_within_five_minutes_are_flagged(
    seconds: tuple[float, ...], expected: list[tuple[int, ...]], trait: Trait
) -> None:
    """Three declines within 300 s are a cluster, both ends counted; windows with a decline in common are one."""
    assert spans(at(*seconds, trait=trait)) == expected


@each_case("value", [None, ""])
@each_case("trait", TRAITS)
def test_an_unknown_trait_groups_nothing(trait: Trait, value: str | None) -> None:
    """Declines of which a trait is not known do not share it."""
    assert clusters(at(0, 1, 2, trait=trait, value=value)) == []


def test_each_trait_groups_by_itself() -> None:
    """The same declines may be three clusters: one address, one card, one e-mail address."""
    shared = [replace(one, card="c" * 16, email="a@b.example") for one in at(0, 1, 2)]
    assert sorted(one.trait for one in clusters(shared)) == sorted(NAMES)
    assert len({one.id for one in clusters(shared)}) == 3


def test_email_addresses_are_compared_in_lower_case() -> None:
    """How a buyer writes the address does not matter."""
    first, second, third = at(0, 1, 2)
    mixed = [replace(first, email="A@B.example"), replace(second, email=" a@b.EXAMPLE"), third]
    by_email = [
        one for one in clusters([*mixed, Decline("ch_x", START, email="a@b.example")]) if one.trait == "email"
    ]
    assert [one.value for one in by_email] == ["a@b.example"]


def test_a_letter_that_looks_like_another_groups_nothing() -> None:
    """An address with the Kelvin sign, whose lower case is the ASCII k, is another buyer's."""
    emails = ("kate@b.example", "kate@b.example", "\N{KELVIN SIGN}ate@b.example")
    declines = [replace(one, address=None, email=email) for one, email in zip(at(0, 1, 2), emails, strict=True)]
    assert clusters(declines) == []


def test_the_same_charge_counts_once() -> None:
    """A charge that two pages of a list both hold makes no cluster of two declines."""
    first, second = at(0, 1)
    assert clusters([first, second, first, second]) == []


def by_definition(declines: Sequence[Decline], trait: Trait) -> set[tuple[str, frozenset[str]]]:
    """Return what the words say, the slow way: every window of 300 s that holds three, merged where they meet."""
    unique = {one.charge_id: one for one in declines}.values()
    found: list[tuple[str, set[str]]] = []
    for start in unique:
        value = start.value(trait)
        window = {
            one.charge_id
            for one in unique
            if value and one.value(trait) == value and 0 <= (one.at - start.at).total_seconds() <= 300
        }
        if value and len(window) >= 3:
            found.append((value, window))
    return {(value, frozenset(_grown(window, value, found))) for value, window in found}


def _grown(window: set[str], value: str, windows: list[tuple[str, set[str]]]) -> set[str]:
    grown = set(window)
    while more := [one for other, one in windows if other == value and one & grown and not one <= grown]:
        grown.update(*more)
    return grown


@given(streams(), st.randoms())
def test_clusters_are_what_the_definition_says(declines: list[Decline], random: object) -> None:
    """A cluster is all windows of 300 s with three or more declines that hang together, in any order of theirs."""
    found = clusters(declines)
    shuffled = sorted(declines, key=lambda _: random.random())  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownLambdaType, reportUnknownArgumentType]  a Random
    assert clusters(shuffled) == found
    assert all(one.busiest() >= 3 and one.first <= one.last for one in found)
    for trait in TRAITS:
        told = {(one.value, one.charge_ids) for one in found if one.trait == trait}
        assert told == by_definition(declines, trait)


@given(streams())
def test_crowded_declines_hold_every_cluster(declines: list[Decline]) -> None:
    """Whatever trait turns out to be shared, a cluster has only declines that were crowded before."""
    near = {one.charge_id for one in crowded(declines)}
    assert all(one.charge_ids <= near for one in clusters(declines))


def one(declines: Sequence[Decline]) -> Cluster:
    """Return the only cluster."""
    (found,) = clusters(declines)
    return found


def test_a_cluster_keeps_its_id_while_it_grows() -> None:
    """More declines at its end do not make it another one, and the id tells nothing of the value."""
    assert one(at(0, 10, 20)).id == one(at(0, 10, 20, 300, 450)).id
    assert one(at(0, 10, 20)).id == one(at(0, 10, 20, value="other")).id


def found(cluster: Cluster, known_id: str, newest_charge: str) -> FoundCluster:
    """Return what an earlier search kept of a cluster."""
    return without_values(cluster).change(id=known_id, newest_charge=newest_charge)


def recognised(cluster: Cluster, *before: FoundCluster) -> str:
    """Return the id under which a cluster is known after an earlier search."""
    (named,) = LastSearch(looked_at=START, clusters=before).recognised([cluster])
    return named.id


def test_a_cluster_is_recognised_without_its_beginning() -> None:
    """When its first declines are no longer looked at, its newest one of before still tells which it is."""
    later = one(at(0, 10, 20, 30, 40)[2:])
    known = found(later, "fc-before", "ch_002")
    assert recognised(later, known) == "fc-before"
    assert recognised(later, known.change(trait="card")) == later.id
    assert recognised(later, known.change(newest_charge="ch_001")) == later.id


def test_two_clusters_that_become_one_keep_the_earlier_id() -> None:
    """A decline that comes to light between two clusters joins them under the first one's id."""
    joined = one(at(0, 10, 20, 315, 325, 335, 160))
    first = found(joined, "fc-first", "ch_002")
    second = found(joined, "fc-second", "ch_005").change(first=first.last)
    assert recognised(joined, second, first) == "fc-first"


def test_a_cluster_says_what_was_stopped_and_when_it_was_busiest() -> None:
    """It counts what reached no bank, and the most declines of any five minutes."""
    run = at(0, 100, 200, 250, 500, 510)
    cluster = one([replace(each, stopped=each.charge_id == "ch_001") for each in run])
    assert (cluster.stopped, cluster.busiest()) == (1, 4)


def test_a_cluster_tells_the_other_traits() -> None:
    """Of a trait that is not shared, all known values are told."""
    first, second, third = at(0, 1, 2)
    cluster = one([replace(first, card="b"), replace(second, card="a"), third])
    assert (cluster.values("card"), cluster.values("email")) == (("a", "b"), ())

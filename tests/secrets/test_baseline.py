"""What is made of the secrets that lie there now, beside those that lay there before."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.secrets.baseline import (
    ANNOUNCED_FOR,
    EVERY,
    FORGOTTEN_AFTER,
    Announcement,
    Baseline,
    CheckContext,
    SecretEventKind,
    compare,
)
from orrery.secrets.fingerprints import DIRECTORY, Fingerprints, SecretObservation
from tests.support.clock import START
from tests.support.tables import each_case

NAME = "processor_api_key"
OLD, NEW = "0123456789ab", "ba9876543210"
FILE = SecretObservation("present", OLD, "directory", 0o600)
OTHER = replace(FILE, fingerprint=NEW)
GONE = SecretObservation("missing")
EMPTY = SecretObservation("empty", "", "directory", 0o600)
LOCKED = SecretObservation("unreadable", "", "directory")
LOOK = CheckContext(START, "a:8081", held=OLD)
ROTATION = Announcement(name=NAME, reason="a test", at=START, until=START + ANNOUNCED_FOR)
REMOVAL = ROTATION.model_copy(update={"removal": True})


def learned(seen: SecretObservation = FILE, look: CheckContext = LOOK) -> Baseline:
    """Return what the first look keeps."""
    kept, kind = compare(None, NAME, seen, look)
    assert kept is not None
    assert kind is None
    return kept


def step(
    kept: Baseline, seen: SecretObservation, look: CheckContext = LOOK
) -> tuple[Baseline, SecretEventKind | None]:
    """Return what is kept after one more look, and what is told."""
    after, kind = compare(kept, NAME, seen, look)
    assert after is not None
    return after, kind


@each_case(
    ("before", "now", "told"),
    [
        (FILE, FILE, None),
        (FILE, GONE, "vanished"),
        (FILE, EMPTY, "emptied"),
        (FILE, OTHER, "changed"),
        (FILE, LOCKED, "unreadable"),
        (FILE, SecretObservation("refused", OLD, "directory", 0o600), "refused"),
        (FILE, SecretObservation("unknown"), None),
        (FILE, replace(FILE, place="copy", mode=0o400), "vanished"),
        (FILE, replace(FILE, place="environment", mode=None), None),
        (FILE, replace(FILE, place="credentials", mode=0o400), None),
        (FILE, replace(FILE, mode=0o644), "mode"),
        (FILE, replace(FILE, mode=0o400), None),
        (replace(FILE, mode=0o644), FILE, None),
        (replace(FILE, place="copy"), replace(FILE, place="copy"), None),
        (GONE, GONE, None),
        (GONE, EMPTY, None),
        (GONE, LOCKED, None),
        (GONE, FILE, "appeared"),
        (EMPTY, GONE, None),
        (EMPTY, FILE, "appeared"),
        (LOCKED, FILE, "appeared"),
    ],
)
def test_what_is_told(before: SecretObservation, now: SecretObservation, told: SecretEventKind | None) -> None:
    """Each way in which a secret can differ from before has its name, and the rest is no news."""
    assert step(learned(before), now)[1] == told


@pytest.mark.parametrize("now", [GONE, EMPTY, OTHER, LOCKED])
def test_an_alarm_is_told_once(now: SecretObservation) -> None:
    """What is still not right at the next looks was told already, and what is right is not forgotten over it."""
    kept, told = step(learned(), now)
    assert told is not None
    for minutes in (10, 20, 500):
        kept, again = step(kept, now, replace(LOOK, at=START + timedelta(minutes=minutes)))
        assert again is None
    assert kept.fingerprint == OLD
    assert kept.alarms[0].since == START


@pytest.mark.parametrize("lost", [GONE, EMPTY, OTHER, LOCKED])
def test_it_is_back(lost: SecretObservation) -> None:
    """With its old value again, the alarm is over."""
    alarmed, _ = step(learned(), lost)
    well, told = step(alarmed, FILE)
    assert (told, well.alarms) == (None, ())
    assert step(well, FILE) == (well, None)
    assert step(well, lost)[1] is not None


def test_an_announced_change() -> None:
    """Another value that was announced is the right one from then on, and that is said once."""
    kept, told = step(learned(), OTHER, replace(LOOK, announced=ROTATION))
    assert (told, kept.fingerprint) == ("rotated", NEW)
    assert step(kept, OTHER, replace(LOOK, held=NEW))[1] is None


def test_an_announcement_after_the_alarm() -> None:
    """Anyone who forgot to announce may do so afterwards: the alarm ends."""
    alarmed, _ = step(learned(), OTHER)
    kept, told = step(alarmed, OTHER, replace(LOOK, announced=ROTATION, held=NEW))
    assert (told, kept.fingerprint, kept.alarms) == ("rotated", NEW, ())


@pytest.mark.parametrize(("lost", "told"), [(GONE, "vanished"), (EMPTY, "emptied"), (LOCKED, "unreadable")])
def test_a_rotation_covers_no_loss(lost: SecretObservation, told: SecretEventKind) -> None:
    """A secret that is wiped while its rotation is announced is an alarm all the same."""
    assert step(learned(), lost, replace(LOOK, announced=ROTATION))[1] == told


@pytest.mark.parametrize("lost", [GONE, EMPTY])
def test_an_announced_removal(lost: SecretObservation) -> None:
    """A secret that was to go permanently is no alarm, and none later."""
    kept, told = step(learned(), lost, replace(LOOK, announced=REMOVAL))
    assert (told, kept.fingerprint) == ("removed", None)
    assert step(kept, lost)[1] is None


def test_the_old_value_counts_while_a_rotation_lasts() -> None:
    """A process that still finds the old value after a rotation raises no alarm until the announcement ends."""
    kept, _ = step(learned(), OTHER, replace(LOOK, announced=ROTATION))
    other = replace(LOOK, observer="b:8081")
    assert step(kept, FILE, other)[1] is None
    assert step(kept, FILE, replace(other, at=ROTATION.until))[1] == "changed"


def test_the_process_holds_another_value() -> None:
    """A rotation without a restart is noted, told no second time, and over with the restart."""
    kept, _ = step(learned(), OTHER, replace(LOOK, announced=ROTATION))
    assert [one.trouble for one in kept.alarms] == ["restart"]
    restarted, told = step(kept, OTHER, replace(LOOK, held=NEW))
    assert (restarted.alarms, told) == ((), None)


def test_the_worst_is_shown_first() -> None:
    """Of several alarms, one that says more than "restart" is shown."""
    stale, _ = step(learned(), OTHER, replace(LOOK, announced=ROTATION))
    both, _ = step(stale, GONE, replace(LOOK, observer="b:8081", at=START + EVERY))
    assert [one.trouble for one in both.alarms] == ["restart", "vanished"]
    worst = both.worst()
    assert worst is not None
    assert worst.trouble == "vanished"


def test_two_processes_do_not_call_each_other_off() -> None:
    """A process whose variable was wiped is told of once, however often one that has it looks in between."""
    has, lacks = LOOK, CheckContext(START, "b:8081", held=None)
    kept, told = learned(), list[SecretEventKind | None]()
    for number in range(20):
        at = START + EVERY * number
        kept, from_one = step(kept, FILE, replace(has, at=at))
        kept, from_other = step(kept, GONE, replace(lacks, at=at))
        told += [from_one, from_other]
    assert [one for one in told if one] == ["vanished"]
    kept, back = step(kept, FILE, replace(lacks, held=OLD, at=START + EVERY * 20))
    assert (back, kept.alarms) == (None, ())


def test_two_processes_that_see_the_same_tell_it_once() -> None:
    """A file that both miss is told once, and the alarm is over when both have seen it."""
    one, other = LOOK, replace(LOOK, observer="b:8081")
    kept, first = step(learned(), GONE, one)
    kept, second = step(kept, replace(FILE, place="copy"), other)
    assert (first, second) == ("vanished", None)
    kept, first = step(kept, FILE, one)
    assert kept.alarms
    kept, second = step(kept, FILE, other)
    assert (first, second, kept.alarms) == (None, None, ())


def test_the_alarm_of_a_process_that_is_gone() -> None:
    """An alarm whose process looks no more is over after a while, as far as others can see."""
    kept, _ = step(learned(), GONE, replace(LOOK, observer="gone:1"))
    assert step(kept, FILE, replace(LOOK, at=START + FORGOTTEN_AFTER - EVERY))[0].alarms
    assert not step(kept, FILE, replace(LOOK, at=START + FORGOTTEN_AFTER))[0].alarms


VALUES = [replace(FILE, fingerprint=value) for value in (OLD, NEW, "cccccccccccc")]
WIDER = replace(OTHER, mode=0o644)
DURING = replace(LOOK, announced=ROTATION)
AFTER = replace(LOOK, at=ROTATION.until)


def test_a_rotation_that_is_rolled_back() -> None:
    """The old value, put back while the announcement lasts, is right again when that has ended."""
    kept, told = step(learned(), OTHER, DURING)
    assert told == "rotated"
    kept, told = step(kept, FILE, DURING)
    assert (told, kept.fingerprint) == ("rotated", OLD)
    assert step(kept, FILE, AFTER)[1] is None
    assert step(kept, OTHER, AFTER)[1] == "changed"


@given(st.lists(st.sampled_from([*VALUES, WIDER, GONE, EMPTY])), st.sampled_from(VALUES), st.sampled_from(VALUES))
def test_no_announced_change_ends_in_an_alarm(
    changes: list[SecretObservation], last: SecretObservation, then: SecretObservation
) -> None:
    """Whatever lies there while a change is announced: the last value is right then, and any other is an alarm."""
    kept, told = learned(), set[SecretEventKind | None]()
    for seen in [*changes, last]:
        kept, kind = step(kept, seen, replace(DURING, held=seen.fingerprint or None))
        told.add(kind)
    assert told <= {None, "rotated", "vanished", "emptied"}
    after = replace(AFTER, held=last.fingerprint)
    kept, kind = step(kept, last, after)
    assert (kind, kept.alarms, kept.fingerprint, kept.seen_by) == (None, (), last.fingerprint, {})
    assert step(kept, then, after)[1] == (None if then == last else "changed")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(VALUES))), st.sampled_from(VALUES), st.booleans())
def test_processes_that_end_with_one_value(
    changes: list[tuple[str, SecretObservation]],
    last: SecretObservation,
    first: bool,  # noqa: FBT001  drawn by hypothesis
) -> None:
    """Processes that are restarted one by one, each with its own value, agree at the end: there is no alarm."""
    kept, own = learned(), {"a": FILE, "b": FILE}
    order = "ab" if first else "ba"
    for observer, seen in [*changes, *((each, last) for each in order)]:
        own[observer] = seen
        for each in order:
            kept, told = step(kept, own[each], replace(DURING, observer=each, held=own[each].fingerprint))
            assert told in {None, "rotated"}
    for observer in order:
        kept, told = step(kept, last, replace(AFTER, observer=observer, held=last.fingerprint))
        assert told is None


def test_a_process_that_is_not_restarted_tells_nothing_twice() -> None:
    """Two processes that see two values while a rotation lasts do not call it back and forth."""
    kept, told = learned(), list[SecretEventKind | None]()
    for _ in range(20):
        kept, one = step(kept, OTHER, replace(DURING, held=NEW))
        kept, other = step(kept, FILE, replace(DURING, observer="b:8081"))
        told += [one, other]
    assert [one for one in told if one] == ["rotated"]


TABLE: list[tuple[SecretObservation, SecretObservation, bool, SecretEventKind | None]] = [
    # what was right, what lies there now, whether a change is announced, what the owner is told
    (FILE, FILE, True, None),
    (FILE, OTHER, True, "rotated"),
    (FILE, replace(FILE, mode=0o644), True, "rotated"),
    (FILE, GONE, True, "vanished"),
    (FILE, EMPTY, True, "emptied"),
    (FILE, LOCKED, True, "unreadable"),
    (GONE, FILE, True, "appeared"),
    (FILE, FILE, False, None),
    (FILE, OTHER, False, "changed"),
    (FILE, replace(FILE, mode=0o644), False, "mode"),
    (FILE, GONE, False, "vanished"),
    (FILE, EMPTY, False, "emptied"),
    (FILE, LOCKED, False, "unreadable"),
    (GONE, FILE, False, "appeared"),
]


@each_case("rotated", [False, True])
@each_case(("right", "now", "announced", "told"), TABLE)
def test_the_table_of_changes(
    right: SecretObservation,
    now: SecretObservation,
    told: SecretEventKind | None,
    *,
    announced: bool,
    rotated: bool,
) -> None:
    """Each change is told in its way, the same after an announced rotation has come and ended as before any."""
    kept = learned(right)
    if rotated and right.fingerprint:
        kept, _ = step(kept, replace(right, fingerprint="cccccccccccc"), DURING)
        kept, _ = step(kept, right, DURING)
    later = replace(AFTER, at=ROTATION.until + EVERY)
    renewed = ROTATION.model_copy(update={"until": later.at + ANNOUNCED_FOR})
    assert step(kept, now, replace(later, announced=renewed if announced else None))[1] == told


SEEN = st.sampled_from(
    [FILE, OTHER, GONE, EMPTY, LOCKED, SecretObservation("unknown"), replace(FILE, place="copy")]
)
LOOKS = st.builds(
    CheckContext,
    at=st.just(START),
    observer=st.sampled_from(["a", "b"]),
    announced=st.sampled_from([None, None, ROTATION, REMOVAL]),
    held=st.sampled_from([None, OLD, NEW]),
)


@given(st.lists(st.tuples(SEEN, LOOKS)))
def test_only_the_owner_changes_what_is_right(looks: list[tuple[SecretObservation, CheckContext]]) -> None:
    """Whatever is seen in whatever order: what is right changes by an announcement or out of nothing only."""
    kept = learned()
    for seen, look in looks:
        after, told = step(kept, seen, look)
        if after.fingerprint != kept.fingerprint:
            assert look.announced or kept.fingerprint is None
            assert told in {"rotated", "removed", "appeared"}
        kept = after


@given(st.lists(st.tuples(SEEN, LOOKS)))
def test_looking_twice_tells_once(looks: list[tuple[SecretObservation, CheckContext]]) -> None:
    """The same look once more tells nothing and changes nothing, after whatever was before."""
    kept = learned()
    for seen, look in looks:
        kept, _ = step(kept, seen, look)
        assert step(kept, seen, look) == (kept, None)


@given(st.lists(st.tuples(SEEN, LOOKS)), st.sampled_from([GONE, EMPTY, OTHER]))
def test_no_unannounced_difference_stays_silent(
    looks: list[tuple[SecretObservation, CheckContext]], now: SecretObservation
) -> None:
    """After whatever was before, a difference that nobody announced is told, or was told and still stands."""
    kept = learned()
    for seen, look in looks:
        kept, _ = step(kept, seen, replace(look, announced=None))
    after, told = step(kept, now)
    assert told or any(one.trouble != "restart" for one in after.alarms)


def test_a_fingerprint_is_keyed() -> None:
    """The same value has another fingerprint under another name and under another store's key."""
    one, other = Fingerprints.of_store(b"a key"), Fingerprints.of_store(b"another key")
    shown = {one("a", "x"), one("b", "x"), one("a", "y"), other("a", "x")}
    assert len(shown) == 4
    assert one("a", "x") == one("a", "x")
    assert one.keyed_by != other.keyed_by
    assert "key" not in repr(one)


def test_the_folder_is_no_secret() -> None:
    """The folder is compared like a secret, and a look at it that fails is an alarm."""
    folder = SecretObservation("present", "there", "directory", 0o700)
    kept, _ = compare(None, DIRECTORY, folder, LOOK)
    assert compare(kept, DIRECTORY, SecretObservation("unreadable", place="directory"), LOOK)[1] == "unreadable"
    assert compare(kept, DIRECTORY, replace(folder, mode=0o755), LOOK)[1] == "mode"

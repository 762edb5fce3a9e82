"""What was pushed is not pushed again, unless it had gone; and a push that was refused counts for nothing."""

from orrery.scanner.findings import ScanFinding
from orrery.scanner.pushed import PushedFindings, SearchedDestination
from tests.support.tables import each_case

ONE = ScanFinding("customer", "a.md", 3, "", "0123456789ab")
OTHER = ScanFinding("secret", "b.md", 1, "github-pat")


def after(
    told: PushedFindings,
    *looked: SearchedDestination,
    findings: bool = True,
    troubles: bool = True,
    again: bool = True,
) -> PushedFindings:
    """Return what was told after a round whose pushes were accepted or not, as the next round reads it."""
    found = told.after(looked, "2026-05-04T12:00:00+00:00", findings=findings, troubles=troubles, again=again)
    return PushedFindings.of(found.to_bytes())


def test_a_finding_is_news_once() -> None:
    """Also when its line moved; another place, kind, rule or value is another finding."""
    told = after(PushedFindings.of(None), SearchedDestination("blog", (ONE,)))
    moved = ScanFinding("customer", "a.md", 9, "", "0123456789ab", "c0ffee")
    assert told.news([SearchedDestination("blog", (ONE, moved))]).findings == []
    others = (
        OTHER,
        ScanFinding("customer", "b.md", 3, "", "0123456789ab"),
        ScanFinding("customer", "a.md", 3, "", "ba9876543210"),
    )
    assert told.news([SearchedDestination("blog", (ONE, *others))]).findings == [("blog", one) for one in others]
    assert told.news([SearchedDestination("code", (ONE,))]).findings == [("code", ONE)]


def test_a_finding_that_was_gone_is_news_again() -> None:
    """Its return is as bad as its coming."""
    told = after(after(PushedFindings.of(None), SearchedDestination("blog", (ONE,))), SearchedDestination("blog"))
    assert told.news([SearchedDestination("blog", (ONE,))]).findings == [("blog", ONE)]


def test_what_could_not_be_searched_is_not_gone() -> None:
    """A share that is away for an hour does not make its findings news."""
    told = after(
        after(PushedFindings.of(None), SearchedDestination("blog", (ONE,))),
        SearchedDestination("blog", (), "It is away."),
    )
    assert told.news([SearchedDestination("blog", (ONE, OTHER))]).findings == [("blog", OTHER)]


def test_a_refused_push_is_tried_again() -> None:
    """What was found stays news until it was accepted; what was told before stays told."""
    told = after(PushedFindings.of(None), SearchedDestination("blog", (ONE,)))
    told = after(told, SearchedDestination("blog", (ONE, OTHER)), findings=False)
    assert told.news([SearchedDestination("blog", (ONE, OTHER))]).findings == [("blog", OTHER)]


def test_a_trouble_is_news_when_it_changes_and_when_it_ends() -> None:
    """Once each, as far as the pushes were accepted."""
    away, locked = SearchedDestination("blog", (), "It is away."), SearchedDestination("blog", (), "It is locked.")
    told = PushedFindings.of(None)
    assert told.news([away]).troubles == {"blog": "It is away."}
    assert after(told, away, troubles=False).news([away]).troubles == {"blog": "It is away."}
    told = after(told, away)
    assert (told.news([away]).troubles, told.news([locked]).troubles) == ({}, {"blog": "It is locked."})
    well = SearchedDestination("blog")
    assert told.news([well]).searched_again == ["blog"]
    assert after(told, well, again=False).news([well]).searched_again == ["blog"]
    assert after(told, well).news([well]).searched_again == []


def test_the_file_names_no_place_and_no_trouble() -> None:
    """It has keyed fingerprints; two files of the same have none in common."""
    written = [
        after(PushedFindings.of(None), SearchedDestination("blog", (ONE,), "It is away.")).to_bytes()
        for _ in range(2)
    ]
    assert not [word for word in (b"a.md", b"customer", b"0123456789ab", b"away") if word in written[0]]
    assert PushedFindings.of(written[0]).findings != PushedFindings.of(written[1]).findings


@each_case("content", [b"", b"{", b"[]", b'{"key": 1}', b'{"key": "00", "findings": []}', b"\xff"])
def test_a_damaged_file_says_nothing(content: bytes) -> None:
    """Everything is told once more: a leak twice rather than never."""
    assert PushedFindings.of(content).news([SearchedDestination("blog", (ONE,))]).findings == [("blog", ONE)]

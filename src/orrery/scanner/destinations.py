"""A round of the destinations: each is searched, and what is new goes out as one push."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Literal

from orrery.errors import OrreryError
from orrery.ports.notifier import DeliveryFailed, OutgoingMessage
from orrery.ports.private_file import PrivateFile
from orrery.ports.scanned import Source
from orrery.scanner.deployment import PublicDestination, Push, Sources
from orrery.scanner.findings import ScanFinding
from orrery.scanner.pushed import PushedFindings, SearchedDestination, UnpushedFindings
from orrery.scanner.scanning import Scan
from orrery.syntax.lines import one_line

MOST_LINES, LONGEST_LINE = 12, 160
"""Findings that a push lists, and the characters of each: a phone shows few."""

COMMAND = "orrery tenants scan --destinations"


def look(
    places: Iterable[PublicDestination], compose: Callable[[], Scan], sources: Sources
) -> Iterator[SearchedDestination]:
    """Yield one look at each place; a scan that cannot begin is the trouble of all of them."""
    try:
        scan = compose()
    except OrreryError as error:
        yield from (SearchedDestination(one.name, trouble=str(error)) for one in places)
        return
    for one in places:
        yield _looked(one, scan, sources)


def _sources(place: PublicDestination, sources: Sources) -> Iterator[Source]:
    if place.is_repository:
        yield sources.history(place.folder)
    yield sources.files([place.folder])


def _looked(place: PublicDestination, scan: Scan, sources: Sources) -> SearchedDestination:
    found: dict[ScanFinding, None] = {}
    try:
        if not place.folder.is_dir():
            return SearchedDestination(place.name, trouble="Its folder is missing.")
        for source in _sources(place, sources):
            found |= dict.fromkeys(scan.findings(source))
    except OrreryError as error:
        return SearchedDestination(place.name, tuple(found), str(error))
    except OSError as error:
        return SearchedDestination(place.name, tuple(found), f"Its folder cannot be read: {error.strerror}.")
    return SearchedDestination(place.name, tuple(found))


def notify(looked: Sequence[SearchedDestination], file: PrivateFile, push: Push, now: str) -> list[str]:
    """Push what is new, and remember what was accepted; return why something was not, to be tried again.

    Raises `NotConfigured` when the file of what was pushed cannot be used.
    """
    pushed = PushedFindings.of(file.read())
    news = pushed.news(looked)
    failed: list[str] = []

    def accepted(messages: Iterable[OutgoingMessage]) -> bool:
        try:
            for message in messages:
                push(message)
        except DeliveryFailed as error:
            failed.append(str(error))
            return False
        return True

    after = pushed.after(
        looked,
        now,
        findings=accepted(_of_findings(news)),
        troubles=accepted(_of_troubles(news)),
        again=accepted(_of_return(news)),
    )
    file.change(lambda _: after.to_bytes())
    return failed


def _of_findings(news: UnpushedFindings) -> Iterator[OutgoingMessage]:
    if not news.findings:
        return
    counts = Counter(name for name, _ in news.findings)
    listed = [_line(name, one) for name, one in news.findings[:MOST_LINES]]
    further = len(news.findings) - len(listed)
    more = [f"and {further} more"] if further else []
    body = "\n".join([*listed, *more, f"See all: {COMMAND}"])
    number = len(news.findings)
    title = f"{number} new finding{'s' if number > 1 else ''} in {', '.join(counts)}"
    yield _message("leak", title, body, "urgent")


def _of_troubles(news: UnpushedFindings) -> Iterator[OutgoingMessage]:
    if not news.troubles:
        return
    by_reason: dict[str, list[str]] = {}
    for name, why in news.troubles.items():
        by_reason.setdefault(why, []).append(name)
    lines = [_cut(f"{', '.join(names)}: {why}", 2 * LONGEST_LINE) for why, names in by_reason.items()]
    body = "\n".join([*lines[:MOST_LINES], "Until then leaks pass there unseen."])
    yield _message("no-scan", "The search for leaks has a gap", body, "high")


def _of_return(news: UnpushedFindings) -> Iterator[OutgoingMessage]:
    if news.searched_again:
        body = f"{', '.join(news.searched_again)}: the search for leaks works again."
        yield _message("scan-again", "The search for leaks is whole again", body, "low")


def _message(kind: str, title: str, body: str, priority: Literal["urgent", "high", "low"]) -> OutgoingMessage:
    digest = sha256(f"{title}\n{body}".encode()).hexdigest()[:16]
    return OutgoingMessage(id=f"{kind}-{digest}", title=_cut(title, LONGEST_LINE), body=body, priority=priority)


def _line(name: str, finding: ScanFinding) -> str:
    """Return a finding as a line: its kind, destination and place, and never what was found."""
    where = f"{finding.place}:{finding.line}" if finding.line else finding.place
    return _cut(f"{finding.kind} in {name}: {where}", LONGEST_LINE)


def _cut(text: str, most: int) -> str:
    line = one_line(text.encode(errors="replace").decode())
    return line if len(line) <= most else f"{line[: most - 1]}\N{HORIZONTAL ELLIPSIS}"

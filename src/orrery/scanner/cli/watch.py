"""`orrery tenants watch`: the terms of the watch-list. A term is shown at a terminal, and nowhere else."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from orrery.errors import Invalid, NotFound
from orrery.scanner.cli.arguments import QuietParser, explain, put
from orrery.scanner.cli.given_terms import asked, entries_of, imported
from orrery.scanner.deployment import ScanDeployment
from orrery.scanner.findings import WATCHED, FingerprintKey
from orrery.scanner.watch_list import WatchList, WatchListEntry, fingerprint_of, kind_of
from orrery.scanner.watch_list_file import WatchListFile
from orrery.syntax.lines import visible
from orrery.syntax.track import label

_KINDS = ", ".join(WATCHED)


def add(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """`orrery tenants watch add`."""
    parser = QuietParser(
        "tenants watch add",
        "Add terms of one kind: each is asked for at the terminal, or read from standard input, a line each.",
        "orrery tenants watch add --kind customer",
        "orrery tenants watch add --kind person < names.txt",
    ).with_config()
    _ = parser.add_argument("--kind", required=True, metavar="KIND", help=f"one of {_KINDS}")
    options = parser.parsed(arguments)
    kind, watch_list = kind_of(options.kind), deployment.watching().watch_list(options.config)
    watch_list.require_key()  # a missing key is reported before a term is typed
    given = asked(f"A {kind} to watch for (an empty line ends): ")
    if not given:
        raise Invalid("No term was given; nothing was added.")
    return _added(watch_list, entries_of(kind, given, deployment.watching().today()))


def import_(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """`orrery tenants watch import`."""
    parser = QuietParser(
        "tenants watch import",
        "Add all terms of a file, or none: a kind, a tab and a term a line, or CSV with the head kind,text. "
        "A note may follow as a third field.",
        "orrery tenants watch import customers.tsv",
        "orrery tenants watch import - < customers.csv",
    ).with_config()
    _ = parser.add_argument("file", metavar="FILE", help="the file, or - for standard input")
    options = parser.parsed(arguments)
    file, watch_list = Path(options.file), deployment.watching().watch_list(options.config)
    watch_list.require_key()
    if options.file == "-":
        return _added(watch_list, imported(sys.stdin, deployment.watching().today()))
    deployment.watching().refuse_public(file)
    with _read(file) as source:
        entries = imported(source, deployment.watching().today())
    ended = _added(watch_list, entries)
    explain(f"Delete the file now, whose terms are not encrypted: shred -u {file}")
    return ended


def _read(file: Path) -> TextIO:
    try:
        if not file.is_file():
            raise Invalid("There is no such file of terms.")
        return file.open(encoding="utf-8", newline="")
    except OSError as error:
        raise Invalid(f"The file of terms cannot be read: {error.strerror}.") from None


def _added(watch_list: WatchListFile, entries: Sequence[WatchListEntry]) -> int:
    counts = [0, 0]

    def work(found: WatchList) -> WatchList:
        after = found.with_entries(entries)
        counts[:] = len(found.entries), len(after.entries)
        return after

    watch_list.change(work)
    before, now = counts
    known = len(entries) - (now - before)
    beside = f"; {known} were there already" if known else ""
    explain(f"Added {now - before} of {len(entries)}{beside}. The watch-list has {now} now: {watch_list.path}")
    return 0


def remove(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """`orrery tenants watch remove`."""
    parser = QuietParser(
        "tenants watch remove",
        "Remove terms: each is asked for at the terminal, or read from standard input, one a line.",
        "orrery tenants watch remove",
        "orrery tenants watch remove --fingerprint 0123456789ab",
    ).with_config()
    _ = parser.add_argument("--fingerprint", metavar="F", help="remove the term with this fingerprint instead")
    options = parser.parsed(arguments)
    watch_list = deployment.watching().watch_list(options.config)
    found = _present(watch_list)
    if options.fingerprint:
        gone = found.of_fingerprint(options.fingerprint, watch_list.keys().fingerprints)
    else:
        gone = _named(found, asked("A term to remove (an empty line ends): "))
    if not gone:
        raise NotFound("The watch-list has no such term; nothing was removed.")
    watch_list.change(lambda list_: list_.without(gone))
    explain(f"Removed {len(gone)}. The watch-list has {len(_present(watch_list).entries)} now.")
    return 0


def _named(found: WatchList, texts: Sequence[str]) -> list[WatchListEntry]:
    """Return the entries of all terms; raise `NotFound` when one is not there."""
    named = [found.named(text) for text in texts]
    if missing := [number for number, one in enumerate(named, start=1) if not one]:
        raise NotFound(f"The watch-list does not have term {missing[0]} of those given; nothing was removed.")
    return [entry for one in named for entry in one]


def list_(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """`orrery tenants watch list`."""
    parser = QuietParser(
        "tenants watch list",
        "List the terms by their kinds, fingerprints and days.",
        "orrery tenants watch list",
        "orrery tenants watch list --show",
    ).with_config()
    _ = parser.add_argument("--json", action="store_true", help="print JSON")
    _ = parser.add_argument("--show", action="store_true", help="print the terms, too, at a terminal only")
    options = parser.parsed(arguments)
    watch_list = deployment.watching().watch_list(options.config)
    if options.show:
        _require_terminal()
    found = _present(watch_list)
    _print(found.entries, watch_list.keys().fingerprints, as_json=options.json, shown=options.show)
    if not options.json:
        counts = Counter(one.kind for one in found.entries)
        counted = ", ".join(f"{counts[kind]} {kind}" for kind in WATCHED if counts[kind])
        explain(f"{len(found.entries)} terms{f' ({counted})' if counted else ''} in {watch_list.path}")
    return 0


def show(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """`orrery tenants watch show`."""
    parser = QuietParser(
        "tenants watch show",
        "Show the term of a finding's fingerprint, at a terminal only.",
        "orrery tenants watch show --fingerprint 0123456789ab",
    ).with_config()
    _ = parser.add_argument("--fingerprint", required=True, metavar="F", help="the finding's fingerprint")
    options = parser.parsed(arguments)
    _require_terminal()
    watch_list = deployment.watching().watch_list(options.config)
    found = _present(watch_list).of_fingerprint(options.fingerprint, watch_list.keys().fingerprints)
    if not found:
        raise NotFound("The watch-list has no term with this fingerprint.")
    _print(found, watch_list.keys().fingerprints, as_json=False, shown=True)
    return 0


def new_key(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """`orrery tenants watch new-key`."""
    parser = QuietParser(
        "tenants watch new-key",
        "Make the key of a new watch-list, and write it into its secret file. Nothing is overwritten.",
        "orrery tenants watch new-key",
    ).with_config()
    _ = parser.add_argument("--print", action="store_true", help="print the key instead, for a password store")
    options = parser.parsed(arguments)
    made = deployment.watching().new_key(options.config, options.print)
    if options.print:
        put(made)
        explain("This is the only copy. Hand it to each command as ORRERY_WATCH_LIST_KEY, or as its secret file.")
    else:
        explain(
            f"Wrote the key to {made}. Keep a copy with your passwords: without it, the list cannot be opened."
        )
    return 0


def _present(watch_list: WatchListFile) -> WatchList:
    found = watch_list.read()
    if found is None:
        raise NotFound(f"There is no watch-list at {watch_list.path} yet: orrery tenants watch add")
    return found


def _require_terminal() -> None:
    if not sys.stdout.isatty():
        raise Invalid("Terms are shown at a terminal only: in a file or a log others would read them.")


def _print(entries: Iterable[WatchListEntry], fingerprints: FingerprintKey, *, as_json: bool, shown: bool) -> None:
    rows = [_row(one, fingerprints, shown=shown) for one in entries]
    if as_json:
        put(json.dumps(rows, indent=2))
        return
    for row in rows:
        kind, *others = row.values()
        put("  ".join([f"{kind:<8}", *map(visible, others)]).rstrip())


def _row(entry: WatchListEntry, fingerprints: FingerprintKey, *, shown: bool) -> dict[str, str]:
    row = {"kind": entry.kind, "fingerprint": fingerprint_of(entry, fingerprints), "added": entry.added}
    # A term is a customer's, and so data of the internal track.
    return row | ({"track": label("A"), "text": entry.text, "note": entry.note} if shown else {})

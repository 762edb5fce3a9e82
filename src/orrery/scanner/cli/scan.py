"""`orrery tenants scan`: search files, a commit, a push or a whole history."""

import gc
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

from orrery.errors import Invalid, NotConfigured
from orrery.ports.scanned import Source
from orrery.ports.scanner import NO_NAMES
from orrery.scanner.cli.arguments import put
from orrery.scanner.cli.progress import ScanProgress, shown_progress
from orrery.scanner.deployment import Loaded, ScanDeployment, Sources
from orrery.scanner.detectors.all import detectors
from orrery.scanner.detectors.secrets import SecretDetector
from orrery.scanner.findings import ScanFinding
from orrery.scanner.report import SearchedAmount, json_of, json_summary, line_of, summary
from orrery.scanner.rules import secret_rules
from orrery.scanner.scanning import Scan

_EXAMPLES = """\
examples:
    orrery tenants scan docs blog/post.md     files and folders as they are
    orrery tenants scan --staged              what the next commit would change
    orrery tenants scan --history             all that this repository holds
    pdftotext a.pdf - | orrery tenants scan --stdin

Exit 0: nothing was found. 1: something was, or could not be searched. 2: wrong call or settings.
"""


def command(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """Return the exit code (decision 54)."""
    options = _parser().parse_intermixed_args(arguments)
    if options.destinations:
        return _round(options, deployment)
    if options.check:
        return _check(options, deployment)
    loaded = deployment.load(options.config)
    if loaded.policy.is_blind and not options.without_watch_list and _is_of_a_hook(options):
        raise NotConfigured(NO_NAMES)
    source = _source(options, deployment.sources)
    searched, found = SearchedAmount(), list[ScanFinding]()
    with shown_progress(source.bytes, quiet=options.quiet) as progress:
        scan = _composed(loaded, options, searched, progress)
        for one in chain(loaded.allowances.baseline.refused, scan.findings(source)):
            found.append(one)
            progress.print(json_of(one) if options.json else line_of(one))
    if options.quiet and not found:
        return 0
    unused = loaded.allowances.unused() if options.history else ()
    notes = (*source.notes, *loaded.notes, *unused)
    if options.json:
        put(json_summary(found, searched, notes, knows_names=bool(loaded.policy.terms)))
    else:
        for line in summary(found, searched, notes):
            put(line)
    return int(bool(found))


def _is_of_a_hook(options: Namespace) -> bool:
    """Return whether what is searched is about to be committed or pushed: finding nothing is then a yes."""
    return bool(options.staged or options.message or options.outgoing)


def _check(options: Namespace, deployment: ScanDeployment) -> int:
    from orrery.scanner.cli.check import check  # noqa: PLC0415  a hook needs none of it

    _refuse_paths(options.paths)

    def compose(loaded: Loaded) -> Scan:
        with shown_progress(None) as progress:
            return _composed(loaded, options, SearchedAmount(), progress)

    return check(options.config, deployment, compose, as_json=options.json)


def _round(options: Namespace, deployment: ScanDeployment) -> int:
    from orrery.scanner.cli.destinations import scan_destinations  # noqa: PLC0415  a hook needs none of it

    _refuse_paths(options.paths)

    def compose() -> Scan:
        return _composed(deployment.load(options.config), options, SearchedAmount(), progress)

    with shown_progress(None) as progress:
        return scan_destinations(
            options.config, deployment, compose, notifies=options.notify, as_json=options.json
        )


def _composed(loaded: Loaded, options: Namespace, searched: SearchedAmount, progress: ScanProgress) -> Scan:
    def count(size: int) -> None:
        searched.count(size)
        progress.advance(size)

    rules = secret_rules(*loaded.rules, *options.rules)
    searching = [*detectors(loaded.policy), SecretDetector(rules)]
    gc.freeze()  # the terms stay to the end: looking through them for garbage takes a twentieth of a scan
    return Scan(searching, loaded.fingerprints, loaded.allowances, count)


def _source(options: Namespace, sources: Sources) -> Source:
    paths: list[Path] = options.paths
    if options.stdin or options.message:
        _refuse_paths(paths)
        return sources.text(sys.stdin.buffer.read()) if options.stdin else sources.message(options.message)
    of_repository: dict[str, Callable[[Path], Source]] = {
        "staged": sources.staged,
        "history": sources.history,
        "outgoing": lambda folder: sources.outgoing(folder, _standard_input(), options.remote),
    }
    for name, make in of_repository.items():
        if getattr(options, name):
            if len(paths) > 1:
                raise Invalid(f"--{name} takes one folder, that of a repository.")
            return make(paths[0] if paths else Path())
    return sources.files(paths or [Path()])


def _standard_input() -> str:
    """Return it as text; names of branches may be no UTF-8."""
    return sys.stdin.buffer.read().decode(errors="surrogateescape")


def _refuse_paths(paths: Sequence[Path]) -> None:
    if paths:
        raise Invalid("--stdin, --message, --destinations and --check take no further path.")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="orrery tenants scan",
        description="Search for what must not be public. What is found is never printed, only its kind and place.",
        epilog=_EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    _ = parser.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="a file or a folder; else this folder"
    )
    which = parser.add_mutually_exclusive_group()
    _ = which.add_argument("--staged", action="store_true", help="what the next commit would change")
    _ = which.add_argument(
        "--history", action="store_true", help="all that a repository holds, since its beginning"
    )
    _ = which.add_argument(
        "--outgoing", action="store_true", help="what a push would send, by git's lines on stdin"
    )
    _ = parser.add_argument(
        "--remote", default="", metavar="NAME", help="where --outgoing goes: what is there is left out"
    )
    _ = which.add_argument("--message", type=Path, metavar="FILE", help="the message of a commit")
    _ = which.add_argument("--stdin", action="store_true", help="what comes by standard input")
    _ = which.add_argument(
        "--destinations", action="store_true", help="every place where data of track B may go, by the settings"
    )
    _ = which.add_argument(
        "--check", action="store_true", help="look at the parts of the scanner, and search nothing"
    )
    _ = parser.add_argument(
        "--notify", action="store_true", help="with --destinations: push what was not pushed before"
    )
    _ = parser.add_argument(
        "--rules", type=Path, action="append", default=[], metavar="FILE", help="more rules, in gitleaks' format"
    )
    _ = parser.add_argument(
        "--without-watch-list",
        action="store_true",
        help="with --staged, --message and --outgoing: search where there is a track A and no watch-list, too",
    )
    _ = parser.add_argument("--quiet", action="store_true", help="print nothing when nothing was found")
    _ = parser.add_argument("--json", action="store_true", help="one JSON object a line, the last is the summary")
    _ = parser.add_argument("--config", "-c", type=Path, metavar="FILE", help="the settings file")
    return parser

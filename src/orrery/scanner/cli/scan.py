"""`orrery tenants scan`: search files, a commit or a whole history."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from orrery.ports.scanned import Source
from orrery.scanner.deployment import Loaded, ScanDeployment
from orrery.scanner.detectors.terms import TermDetector
from orrery.scanner.findings import Detector
from orrery.scanner.scanning import Scan


def command(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """Return 0 when nothing was found, and 1 when something was or could not be searched (decision 54)."""
    options = _parser().parse_args(arguments)
    loaded = deployment.load(options.config)
    scan = Scan(_detectors(loaded), loaded.fingerprints, loaded.allowances)
    found = 0
    for one in scan.findings(_source(options, deployment)):
        found += 1
        _ = sys.stdout.write(f"{one.kind} in {one.place}, line {one.line}\n")
    return int(found > 0)


def _detectors(loaded: Loaded) -> list[Detector]:
    return [TermDetector(loaded.policy.terms)]


def _source(options: Namespace, deployment: ScanDeployment) -> Source:
    paths: list[Path] = options.paths
    return deployment.sources.files(paths or [Path()])


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="orrery tenants scan")
    _ = parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    _ = parser.add_argument("--config", type=Path, metavar="FILE")
    return parser

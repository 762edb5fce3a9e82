"""The page of measurements: made of what the last rounds of each measurement found, and never by hand."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from bench.measurement import Figure, Round, named, names
from bench.reading import Row, rows, short
from bench.version import ROOT, commit_of

PAGE = ROOT / "docs/reference/measurements.md"
RESULTS = ROOT / "bench/results"
IMAGES = ROOT / "docs/images"

_HEAD = """\
# Measurements

`./run bench NAME --write` measures a section and writes it here; no line is written by hand. A figure is the
median of its rounds, in brackets the lowest and the highest. Its ratio is that to the figure of the same rounds
that it is measured beside; where there is a ratio, aim and limit are of it. Ratios hold on another machine,
figures do not: this one is virtual, with two cores, and does other work as well.
`./run bench NAME --against COMMIT` measures an older commit beside yours, in turns.
"""
_COLUMNS = ("figure", "median", "beside", "ratio", "aim", "limit", "measured")


def keep(name: str, rounds: Sequence[Round]) -> None:
    """Keep the rounds of today as the last ones of a measurement, and write the page."""
    now = datetime.now(UTC)  # noqa: TID251  a measurement happens now
    made = {"date": f"{now:%Y-%m-%d}", "commit": commit_of("HEAD")[:8], "cores": os.cpu_count()}
    raw = [[asdict(figure) for figure in one] for one in rounds]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({**made, "rounds": raw}, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    if svg := image(name):
        (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


def image(name: str) -> str:
    """Return what is drawn of the last rounds of a measurement, or nothing."""
    draw, file = named(name).drawn, RESULTS / f"{name}.json"
    if draw is None or not file.exists():
        return ""
    return draw({row.figure.name: row.value.median for row in rows(_rounds(file))})


def page() -> str:
    """Return the page, of all results."""
    return "\n".join([_HEAD, *(line for name in names() for line in _section(name))])


def _section(name: str) -> Iterator[str]:
    file = RESULTS / f"{name}.json"
    yield from (f"## `./run bench {name}`", "", (import_module(f"bench.{name}").__doc__ or "").strip(), "")
    if not file.exists():
        yield from ("Not measured yet.", "")
        return
    found, rounds = json.loads(file.read_text(encoding="utf-8")), _rounds(file)
    yield from (f"{len(rounds)} rounds, {found['cores']} cores.", "")
    yield from (_line(_COLUMNS), _line(["---"] * len(_COLUMNS)))
    when = f"{found['date']}, {found['commit']}"
    yield from (_line([*_cells(row), when]) for row in rows(rounds))
    yield ""


def _rounds(file: Path) -> list[Round]:
    found = json.loads(file.read_text(encoding="utf-8"))
    return [[Figure(**figure) for figure in one] for one in found["rounds"]]


def _cells(row: Row) -> list[str]:
    figure, ratio = row.figure, short(row.ratio.median) if row.ratio else ""
    value = f"{short(row.value.median)} {figure.unit} ({row.value})"
    return [figure.name, value, figure.beside, ratio, row.bound(figure.aim), row.bound(figure.limit)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"

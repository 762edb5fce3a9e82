"""What a measurement is: a function for one round, with a short form, and the figures that a round returns."""

import math
import pkgutil
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, cast

import bench

Unit = Literal["a second", "MB/s", "%", "s", "ms", "µs", "MB", "minutes", "KB", "% of a core", "% fewer", "calls"]
_MORE_IS_BETTER: tuple[Unit, ...] = ("a second", "MB/s", "%")


@dataclass(frozen=True, slots=True)
class Figure:
    """One raw figure of a round.

    `beside` names the figure of the same round that it is measured beside: then its ratio to that one counts, and
    `aim` and `limit` are ratios. Without it they are of the unit.
    """

    name: str
    value: float
    unit: Unit
    beside: str = ""
    aim: float | None = None
    limit: float | None = None

    @property
    def more_is_better(self) -> bool:
        """Tell whether a higher figure is the better one."""
        return self.unit in _MORE_IS_BETTER

    @property
    def is_plausible(self) -> bool:
        """Tell whether it is a number that a measurement can have found."""
        return math.isfinite(self.value) and (self.value >= 0 or self.unit.startswith("%"))


Round = Sequence[Figure]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A measurement.

    `measure` makes one round. The defaults of its arguments are the full size, `short` has those of the smallest.
    `rounds` is how many are made unless somebody says so. `programs` must be installed; `refused` says why it
    cannot run here whatever is installed. `drawn` makes an SVG file of the medians.
    """

    measure: Callable[..., Round]
    short: Mapping[str, object]
    rounds: int = 5
    programs: tuple[str, ...] = ()
    refused: Callable[[], str] = str
    drawn: Callable[[Mapping[str, float]], str] | None = None

    def lacks(self) -> str:
        """Say which programs are not here."""
        lacking = [name for name in self.programs if not shutil.which(name, path=_PROGRAMS)]
        return f"{' and '.join(lacking)} not installed" if lacking else ""


_PROGRAMS = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


def names() -> list[str]:
    """Return the names of all measurements: the modules beside this one with a `MEASUREMENT`."""
    files = (Path(bench.__path__[0], f"{each.name}.py") for each in pkgutil.iter_modules(bench.__path__))
    return [file.stem for file in files if "\nMEASUREMENT = " in file.read_text(encoding="utf-8")]


def named(name: str) -> Measurement:
    """Return a measurement. Only its own module is imported: an older commit may not have what others need."""
    return cast("Measurement", import_module(f"bench.{name}").MEASUREMENT)


@contextmanager
def scratch() -> Generator[Path]:
    """Yield a folder on the disk of the current one, which is what a durable write is measured on."""
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        yield Path(directory)

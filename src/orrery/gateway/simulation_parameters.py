"""What a simulation assumes: the specification's figures, and what is assumed beyond them."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from orrery.errors import Invalid

Seconds = Annotated[float, Field(ge=0, le=31_536_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Above0 = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(gt=0)]
_STRICT = ConfigDict(extra="forbid")


def _rising(pair: tuple[float, float]) -> tuple[float, float]:
    if pair[0] > pair[1]:
        raise ValueError("the first of the two is the least")
    return pair


Pair = Annotated[tuple[Seconds, Seconds], AfterValidator(_rising)]
"""Each value between the two is as likely."""


@dataclass(frozen=True, config=_STRICT)
class Budget:
    """How often systemd starts the service within a time, and how long it waits between."""

    starts: Count
    within: Seconds
    every: Above0

    @property
    def is_exhausted_after(self) -> float | None:
        """How long after the first failed start systemd gives up, if it ever does."""
        spent = self.starts * self.every
        return spent if spent < self.within else None


@dataclass(frozen=True, config=_STRICT)
class Parameters:
    """The specification's figures, and assumptions, in seconds: see `simulation_parameters.toml`."""

    runs: Pair
    unavailable_after: Seconds
    unknown_share: Share
    deallocated_after: Seconds
    alert_after: Pair
    job_after: Pair
    starts_within: Pair
    poll_every: Above0
    poll_for: Seconds
    warm_share: Share
    cold_median: Above0
    cold_sigma: Annotated[float, Field(ge=0, le=5)]
    comes_within: Pair
    previous_budget: Budget
    budget: Budget
    timer_after: Seconds
    timer_every: Above0
    flap_fires: Count
    flap_within: Seconds
    watch_notices: Seconds
    grace: Seconds


def default_text() -> str:
    """Return the file with the default parameters."""
    return files("orrery.gateway").joinpath("simulation_parameters.toml").read_text(encoding="utf-8")


def read_parameters(path: Path | None = None) -> Parameters:
    """Return the default parameters, with those changed that a file names; raise `Invalid`."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8")) if path else {}
        defaults = tomllib.loads(default_text())
        if wrong := [name for name in given if name not in defaults or not isinstance(given[name], dict)]:
            raise Invalid(f"The parameter {wrong[0]} is wrong: the tables are {', '.join(defaults)}.")
        found = TypeAdapter(Parameters).validate_python(_flat(defaults) | _flat(given))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"The parameters cannot be read from {path}: {error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        why = first["msg"].removeprefix("Value error, ")
        raise Invalid(f"The parameter {'.'.join(map(str, first['loc']))} is wrong: {why}.") from None
    if found.comes_within[1] >= found.runs[0]:
        raise Invalid("comes_within: an outage must be over before the next one, after runs.")
    return found


def _flat(tables: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Return the parameters of all tables: their names differ."""
    return {name: value for table in tables.values() for name, value in table.items()}
